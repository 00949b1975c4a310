//! Who is owed an answer on one connection.

use std::collections::HashMap;

use serde_json::Value;

/// What a request is, as long as it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Call,
    /// It ends by being cancelled, or is refused.
    Endless,
    /// An answer may be on its way still, until the ping that follows the cancel is answered.
    Cancelled,
    /// The ping behind the cancel of this request.
    Fence(u64),
}

#[derive(Default)]
pub(super) struct Ledger {
    open: HashMap<u64, Open>,
    last: u64,
    /// Bad lines, each of which is owed an error that has no id.
    bad: u64,
}

impl Ledger {
    /// Opens a request and gives its id.
    pub(super) fn open(&mut self, kind: Open) -> u64 {
        self.last += 1;
        self.open.insert(self.last, kind);
        self.last
    }

    pub(super) fn bad_line(&mut self) {
        self.bad += 1;
    }

    /// Notes the cancel of a request; gives the id of the ping that has to follow.
    pub(super) fn cancel(&mut self, id: u64) -> u64 {
        self.open.insert(id, Open::Cancelled);
        self.open(Open::Fence(id))
    }

    /// The requests of one kind that are open, the oldest first.
    pub(super) fn all(&self, kind: Open) -> Vec<u64> {
        let of_kind = self.open.iter().filter(|(_, open)| **open == kind);
        let mut ids: Vec<_> = of_kind.map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// How many answers have to come by themselves.
    pub(super) fn owed(&self) -> usize {
        let waits = |open: &&Open| matches!(open, Open::Call | Open::Fence(_));
        self.open.values().filter(waits).count() + self.bad as usize
    }

    /// Takes an answer.
    ///
    /// # Errors
    ///
    /// If nobody is owed it.
    pub(super) fn answer(&mut self, message: &Value) -> Result<(), String> {
        if message["id"].is_null() && message["error"].is_object() {
            let left = self.bad.checked_sub(1);
            self.bad = left.ok_or(format!("an error without an id too many: {message}"))?;
            return Ok(());
        }
        let id = message["id"]
            .as_u64()
            .ok_or(format!("no id: {message:.200}"))?;
        match self.open.remove(&id) {
            Some(Open::Call | Open::Cancelled) => Ok(()),
            Some(Open::Endless) if message["error"]["data"]["error"] == "server_busy" => Ok(()),
            Some(Open::Endless) => Err(format!("{id} has no end and ends: {message:.200}")),
            Some(Open::Fence(cancelled)) => {
                self.open.remove(&cancelled);
                Ok(())
            }
            None => Err(format!(
                "{id} is answered a second time, or after its cancel: {message:.200}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(ledger: &mut Ledger, id: u64) -> Result<(), String> {
        ledger.answer(&json!({ "id": id, "result": {} }))
    }

    #[test]
    fn each_request_is_answered_once() {
        let mut ledger = Ledger::default();
        let id = ledger.open(Open::Call);
        assert_eq!(ledger.owed(), 1);
        assert!(answer(&mut ledger, id).is_ok());
        assert!(answer(&mut ledger, id).is_err());
        assert_eq!(ledger.owed(), 0);
    }

    #[test]
    fn nothing_follows_the_ping_behind_a_cancel() {
        let mut ledger = Ledger::default();
        let [early, late] = [(); 2].map(|()| ledger.open(Open::Endless));
        let fences = [early, late].map(|id| ledger.cancel(id));
        assert!(answer(&mut ledger, early).is_ok());
        for fence in fences {
            assert!(answer(&mut ledger, fence).is_ok());
        }
        assert!(answer(&mut ledger, late).is_err());
    }

    #[test]
    fn there_is_one_error_for_each_bad_line() {
        let mut ledger = Ledger::default();
        ledger.bad_line();
        let error = json!({ "id": null, "error": { "code": -32700 } });
        assert!(ledger.answer(&error).is_ok());
        assert!(ledger.answer(&error).is_err());
    }
}
