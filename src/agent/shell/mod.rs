//! The agent's own shell: routing its calls, recovering what the model wrote, and running the commands.

mod command_text;
mod ending;
mod refusal;
mod route;
mod serve;
mod unrecorded;

pub use route::{AgentMarks, MarkedAgent, Route, RouteFacts, STARTED_AGENT, TerminalStreams, decide, script};
pub use serve::serve;
pub use unrecorded::{forget_unrouted, runs_plainly, runs_unrouted};
