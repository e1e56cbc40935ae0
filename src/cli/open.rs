//! `pilothouse open`: opens a finished recording read-only in the console.

use std::process::ExitCode;

use color_eyre::eyre::{Result, eyre};

use super::console::{leave, show};
use super::program_start::ProgramStart;
use crate::dispatch::cli_only::OpenInput;
use crate::link::Operator;
use crate::runtime::past::{self, RecordingMatch};

/// Shows a recording until the console is closed.
pub(super) async fn run(start: &ProgramStart, input: &OpenInput) -> Result<ExitCode> {
    let places = &start.places;
    let listed = match past::resolve(&places.recordings(), &places.workspace, &input.recording) {
        RecordingMatch::One(listed) => listed,
        RecordingMatch::None => {
            return Err(eyre!(
                "no recording is called {}; `pilothouse audit list` names them",
                input.recording
            ));
        }
        RecordingMatch::Many(names) => {
            return Err(eyre!("more than one recording begins like that:\n{}", names.join("\n")));
        }
    };
    if listed.live {
        return Err(eyre!("{} is being written; `pilothouse` opens its console", listed.name));
    }
    let recording = tokio::task::spawn_blocking(move || past::read(&listed.folder)).await??;
    show(start, Operator::open_recording(&recording), None).await.map(leave)
}
