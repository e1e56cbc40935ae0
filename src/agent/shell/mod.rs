//! An agent's own shell: which of its calls come here, what the model wrote in them, and the commands themselves.

mod plainly;
mod route;
mod serve;
mod session;
mod unwrap;

pub use plainly::runs_plainly;
pub use route::{AgentMarks, Facts, Marks, Route, decide, script};
pub use serve::serve;
pub use session::Sessions;
pub use unwrap::{Kind, unwrap};
