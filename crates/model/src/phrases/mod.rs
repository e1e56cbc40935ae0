//! How a fact about a task is said, in one place for agents, scripts, the record and the console: as a word, which fits a
//! row; as a clause, which follows the task's name; as a sentence, which stands alone. Names of actors are those of the
//! record. Pure.

mod ceilings;
mod ends;
mod needs;
mod ports;
mod readers;
mod routing;
mod standing;
mod states;
mod tool_errors;
mod unread;
mod waits;

pub use ends::{
    deadline_clause, denial_phrase, denial_sentence, exit_clause, exit_word, stop_clause, unended_word,
};
pub use readers::receipt_reader;
pub use routing::{NO_COMMAND, sibling_sentence};
pub use standing::{
    CALL_CANCELLED, ID_IN_FLIGHT, NO_HELD_CALL, NOTHING_WAITS, READ_FIRST, TASK_GOES_ON, no_task,
    operator_words, setting_refusal,
};
pub use tool_errors::{
    not_begun, question_not_found, task_not_found, unusable, unusable_field, withdrawal_error,
};
pub use unread::{OPEN_LINE, past_input_sentence};
pub use waits::{AWAITS_OPERATOR, AWAITS_TURN, GOES_ON, NOT_BEGUN, hold_sentence, hold_word, not_run_clause};
