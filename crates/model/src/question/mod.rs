//! Questions: decisions that a running program needs from someone, and their outcomes, as plain data.

mod answer;
mod fact;
mod permission;
mod refusal;
mod view;

pub use answer::{AnswerInput, AnswerValue, Principal, QuestionOutcome, RecordedAnswer};
pub use fact::QuestionFact;
pub use permission::{
    ALIKE_FOR, AlikeAnswers, CallLikeness, PermissionEnd, PermittedPrompts, PromptPermission, alike_in_words,
};
pub use refusal::AnswerRefusal;
pub use view::{
    AgentPrompt, AnswerKind, AnsweredPrompts, AnsweredWhich, BindingView, Comment, Evidence,
    ExpectedAnswerer, NewQuestion, Question, QuestionId, QuestionKind, QuestionOrigin, READING,
};
