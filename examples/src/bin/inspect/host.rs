//! Who answers the server's questions: the command line, or the user in the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread;

use mcp_client::types::{
    ClientCapabilities, Declared, ElicitAction, ElicitMode, ElicitParams, ElicitResult,
    ElicitationCapability, RequestedSchema,
};
use mcp_client::{ErrorObject, Host, RawJson, async_trait};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, mpsc};

use crate::form::Field;
use crate::terminal::Terminal;

pub(crate) struct User {
    terminal: Arc<Terminal>,
    answers: BTreeMap<String, String>,
    /// The names of those that no question has had a field for.
    unused: std::sync::Mutex<BTreeSet<String>>,
    /// Locked while a question is asked: one is asked after the other.
    keyboard: Mutex<Keyboard>,
}

/// What becomes of a question, or of one of its fields.
type Answer<T> = Result<T, ElicitAction>;

impl User {
    pub(crate) fn new(terminal: Arc<Terminal>, answers: BTreeMap<String, String>) -> Self {
        Self {
            terminal,
            unused: answers.keys().cloned().collect::<BTreeSet<_>>().into(),
            answers,
            keyboard: Mutex::default(),
        }
    }

    /// Complains of answers that were of no use.
    pub(crate) fn end(&self) {
        for name in &*self.unused() {
            let why = format!("inspect: `--answer {name}=…`: no question has such a field");
            self.terminal.say(&why);
        }
    }

    fn unused(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn form(&self, form: &RequestedSchema, keyboard: &mut Keyboard) -> Answer<RawJson> {
        let fields = Field::all(form);
        let is_answered = fields
            .iter()
            .any(|field| self.answers.contains_key(field.name));
        if !is_answered && !self.terminal.can_ask() {
            return Err(self.declined("nobody is there to answer it"));
        }
        self.unused()
            .retain(|name| fields.iter().all(|field| field.name != name));
        let mut content = Map::new();
        for field in fields {
            let value = match self.answers.get(field.name) {
                Some(answer) => field.read(answer).map(Some),
                None if self.terminal.can_ask() => Ok(self.field(&field, keyboard).await?),
                None => field.empty(),
            };
            let value = value.map_err(|why| self.declined(&format!("`{}`: {why}", field.name)))?;
            content.extend(value.map(|value| (field.name.to_owned(), value)));
        }
        Ok(RawJson::encode(&content).expect("values are JSON"))
    }

    async fn field(&self, field: &Field<'_>, keyboard: &mut Keyboard) -> Answer<Option<Value>> {
        self.terminal.say(&field.heading());
        let default = field.default_line().map(|line| format!(" [{line}]"));
        let question = format!("  {}{}: ", field.name, default.unwrap_or_default());
        loop {
            let line = self.line(&question, keyboard).await?;
            let value = match line.is_empty() {
                true => field.empty(),
                false => field.read(&line).map(Some),
            };
            match value {
                Ok(value) => return Ok(value),
                Err(why) => self.terminal.say(&format!("  {why}")),
            }
        }
    }

    /// The page is for the user to open: nothing here looks at it.
    async fn page(&self, url: &str, keyboard: &mut Keyboard) -> Answer<()> {
        self.terminal.say(&format!("  {url}"));
        if !self.terminal.can_ask() {
            return Err(self.declined("nobody is there to open it"));
        }
        let question = "  Open it yourself, then say yes; or no, to decline: ";
        loop {
            match self.line(question, keyboard).await?.trim() {
                "y" | "yes" => return Ok(()),
                "n" | "no" => return Err(ElicitAction::Decline),
                _ => {}
            }
        }
    }

    async fn line(&self, question: &str, keyboard: &mut Keyboard) -> Answer<String> {
        self.terminal.ask(question);
        let line = keyboard.line().await;
        self.terminal.answered();
        match line.as_deref() {
            None | Some("/cancel") => Err(ElicitAction::Cancel),
            Some("/decline") => Err(ElicitAction::Decline),
            Some(line) => Ok(line.to_owned()),
        }
    }

    fn declined(&self, why: &str) -> ElicitAction {
        self.terminal.say(&format!("  declined: {why}"));
        ElicitAction::Decline
    }
}

#[async_trait]
impl Host for User {
    fn capabilities(&self) -> ClientCapabilities {
        let asking = ElicitationCapability::new()
            .form(Declared::new())
            .url(Declared::new());
        ClientCapabilities::new().elicitation(asking)
    }

    async fn elicit(&self, question: ElicitParams) -> Result<ElicitResult, ErrorObject> {
        let mut keyboard = self.keyboard.lock().await;
        keyboard.forget();
        self.terminal
            .say(&format!("The server asks: {}", question.message));
        let answer = match (question.mode, question.url, question.requested_schema) {
            (None | Some(ElicitMode::Form), _, Some(form)) => {
                self.form(&form, &mut keyboard).await.map(Some)
            }
            (Some(ElicitMode::Url), Some(url), _) => {
                self.page(&url, &mut keyboard).await.map(|()| None)
            }
            _ => return Err(ErrorObject::invalid_params("neither a form nor a page")),
        };
        Ok(match answer {
            Ok(content) => {
                let mut result = ElicitResult::new(ElicitAction::Accept);
                result.content = content;
                result
            }
            Err(action) => ElicitResult::new(action),
        })
    }
}

/// Lines of standard input, which a thread reads from the first question on.
#[derive(Default)]
struct Keyboard(Option<mpsc::UnboundedReceiver<String>>);

impl Keyboard {
    /// The next line, without its end; `None` at the end of the input.
    async fn line(&mut self) -> Option<String> {
        let lines = self.0.get_or_insert_with(|| {
            let (to, lines) = mpsc::unbounded_channel();
            // A thread of the runtime's would keep the program from ending.
            thread::spawn(move || {
                let lines = io::stdin().lines().map_while(Result::ok);
                let mut sent = lines.map(|line| to.send(line));
                while let Some(Ok(())) = sent.next() {}
            });
            lines
        });
        lines.recv().await
    }

    /// A line that was typed for a question which the server has withdrawn answers no other.
    fn forget(&mut self) {
        while self
            .0
            .as_mut()
            .is_some_and(|lines| lines.try_recv().is_ok())
        {}
    }
}
