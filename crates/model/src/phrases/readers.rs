//! Who was given a receipt, as far as that is known.

use crate::NativeCall;
use crate::calls::SHELL_CALL;

/// Says who was given the receipt of a call of this tool. What an agent's program hands on of an answer to its tools is not
/// known, and of a command of its own shell only its hook says what its model read.
#[must_use]
pub fn receipt_reader(tool: &str, native: Option<&NativeCall>) -> &'static str {
    match native {
        Some(call) if call.is_of_script() => "given to the model's script",
        Some(_) => "what the model read",
        None if tool == SHELL_CALL => "how it ended; what the model read is not reported",
        None => "what the agent was given",
    }
}
