//! Questions: decisions that a running program needs from someone, and their outcomes, as plain data.

mod answer;
mod fact;
mod refusal;
mod view;

pub use answer::{Answer, AnswerValue, Given, Principal, Settled};
pub(crate) use fact::QuestionFact;
pub use refusal::Refusal;
pub use view::{
    Asking, BindingView, Comment, Evidence, Expected, Origin, Question, QuestionId, QuestionKind, READING,
};
