//! Questions: decisions that a running program needs from someone, and their outcomes.
//!
//! A question is recorded before anyone sees it, and its answer before the asker gets it. Only the operator can
//! answer a gate; agents may answer other questions where these allow it.

mod answer;
mod machine;
mod view;

#[cfg(test)]
mod tests;

pub use answer::{Answer, AnswerValue, Given, Principal, Settled};
pub use machine::Refusal;
pub use view::{
    Asking, BindingView, Comment, Evidence, Expected, Origin, Question, QuestionId, QuestionKind, READING,
};

pub(super) use machine::{Fact, Machine, Told};
