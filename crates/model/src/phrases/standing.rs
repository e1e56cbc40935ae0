//! What holds at the moment, where several interfaces say it.

use std::fmt::Display;

/// Says why something is done only with a task that has ended.
pub const TASK_GOES_ON: &str = "the task has not ended";
/// Says that no call waits for the person's approval.
pub const NO_HELD_CALL: &str = "no call needs approval";
/// Says that the person is waited for nowhere.
pub const NOTHING_WAITS: &str = "nothing waits for you";
/// Says that a key does not count before the end of a card was on screen.
pub const READ_FIRST: &str = "read it first, then press again";
/// Says that the caller withdrew a call.
pub const CALL_CANCELLED: &str = "the call was cancelled";
/// Says why a request is refused whose id another one has.
pub const ID_IN_FLIGHT: &str = "a request with this id is in flight";

/// Says that a name or id stands for no task.
pub fn no_task(id: impl Display) -> String {
    format!("there is no task {id}")
}

/// Says what a person wrote to an agent.
pub fn operator_words(text: impl Display) -> String {
    format!("the operator says: {text}")
}

/// Says that a setting forbids to run a command without a runtime, and why it would.
pub fn setting_refusal(why: impl Display) -> String {
    format!("not run: {why} (setting shell.on_failure)")
}
