//! The engine: executes the tree of a program ("walks" it). Its decisions are deterministic: two executions with the
//! same answers and the same command results are the same. All effects go through [`Effects`](effects::Effects).

mod answer_policy;
mod answerer;
mod block;
mod budget;
mod coerce;
mod command_approval;
mod control;
pub mod control_flow;
pub mod effects;
mod exec;
mod expression;
mod file;
mod frame;
mod gate;
mod join;
mod machine;
pub mod module;
mod parallel;
mod pipe;
pub mod progress;
mod query;
mod question;
pub mod scope;
mod session;
mod session_command;
mod statement;
#[cfg(test)]
mod tests;

pub use self::answer_policy::AnswerPolicy;
pub use self::answerer::permissions;
pub use self::budget::{SessionBudget, SessionSpending};
pub use self::frame::VmFrame;
pub use self::machine::Vm;
