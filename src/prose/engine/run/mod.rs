//! Runs of programs: started or resumed, up to their outcome.

mod answerable;
mod aside;
mod fetch;
pub mod load;
mod outcome;
mod preflight;
pub mod program_file;
mod program_run;
mod questions;
mod refusal;
pub mod registry;
mod request;
mod resumed;
mod runtime_effects;

pub use self::outcome::{RunEnd, RunOutcome};
pub use self::preflight::check_inputs;
pub use self::program_run::ProgramRun;
pub use self::refusal::RunRefusal;
pub use self::request::{RunRequest, parse_inputs};
pub use self::resumed::find;
