//! Whatever goes wrong, and whenever: a call is answered once or cancelled, its slot is given
//! back, and serving ends when it should.
//!
//! The cases are not written out. Each is one choice out of every enum in `case.rs`, which also
//! says what has to come of it; `play.rs` plays it on a paused clock and looks. Threads that block
//! are real, and are waited for in real time.

mod case;
mod play;
mod server;

use self::case::Case;

#[tokio::test(start_paused = true)]
async fn every_fault_at_every_moment_leaves_one_answer_and_no_slot_taken() {
    let mut wrong = Vec::new();
    for case in Case::all() {
        if let Err(why) = play::play(case).await {
            wrong.push(format!("{case:?}: {why}"));
        }
    }
    let of = Case::all().count();
    let shown = wrong[..wrong.len().min(20)].join("\n");
    assert!(wrong.is_empty(), "{} of {of} cases:\n{shown}", wrong.len());
}
