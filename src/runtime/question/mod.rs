//! Pending questions: what a running program needs somebody to decide, and what came of it.
//!
//! A question is on record before anybody sees it, and its answer before whoever asked gets it. A gate
//! is answered by the operator alone; anything else by an agent too where the question allows it.

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
