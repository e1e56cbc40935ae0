//! Past recordings: listing them, reading them, and recovering those whose runtime had died.

mod crowds;
mod durations;
mod find;
mod outcome;
mod reader;
mod recover;
mod retention;
mod snapshot;

pub use crowds::{Crowd, crowds};
pub use durations::{Durations, MOST_RUNS, add_run, durations};
pub use find::{LATEST, ListedRecording, RecordingMatch, RecordingState, list, resolve};
pub use reader::{PastCall, PastEvent, Recording, read};
pub use retention::forget_looks;

pub(super) use find::task as find_task;
pub(super) use reader::read_call;
pub(super) use recover::{Recovery, notice, recover};
pub(super) use retention::retain;
