//! Questions: decisions that a running program needs from someone, and their outcomes.
//!
//! A question is recorded before anyone sees it, and its answer before the asker gets it. Only the operator can
//! answer a gate; agents may answer other questions where these allow it.

mod machine;
mod permissions;

#[cfg(test)]
mod permission_tests;
#[cfg(test)]
mod tests;

pub(super) use machine::{FactReply, QuestionMachine};
