//! `pilothouse open`: opens a finished recording read-only in the console.

use std::process::ExitCode;

use color_eyre::eyre::{Result, eyre};

use super::console::{leave, show};
use super::print;
use super::program_start::ProgramStart;
use crate::dispatch;
use crate::dispatch::cli_only::OpenInput;
use crate::link::Operator;
use crate::runtime::past;

/// Shows a recording until the console is closed.
pub(super) async fn run(start: &ProgramStart, input: &OpenInput) -> Result<ExitCode> {
    let places = &start.places;
    let listed = match dispatch::find_recording(places, &input.recording) {
        Ok(listed) => listed,
        Err(failure) => {
            print::say(failure.text())?;
            return Ok(ExitCode::from(failure.exit_code()));
        }
    };
    if listed.live {
        return Err(eyre!("{} is being written; `pilothouse` opens its console", listed.name));
    }
    let recording = tokio::task::spawn_blocking(move || past::read(&listed.folder)).await??;
    show(start, Operator::open_recording(&recording), None).await.map(leave)
}
