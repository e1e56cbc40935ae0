//! The agent's own shell: routing its calls, recovering what the model wrote, and running the commands.

mod ending;
mod plainly;
mod refused;
mod route;
mod serve;
mod session;
mod shown;

pub use plainly::runs_plainly;
pub use route::{AgentMarks, MarkedAgent, Route, RouteFacts, decide, script};
pub use serve::serve;
pub use session::ShellSessions;
