//! Running a program in the runtime that the console shows, as `pilothouse run` does from a shell.

use std::path::PathBuf;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::driver::Driver;
use crate::config::{Faults, LoadedSettings, ProgramSettings};
use crate::console::msg::Msg;
use crate::link::Scripts;
use crate::model::PlaceId;
use crate::prose::engine::run::RunRequest;

/// Capacity of the event channel; the events are discarded, because the screen shows the program.
const EVENTS: usize = 16;

impl Driver {
    /// Runs the program in a file, in the given place if there are several; reports a refusal.
    pub(in crate::console) fn run_program(&mut self, file: &str, place: Option<&PlaceId>) {
        let snapshot = self.app.state.published_by(place);
        let (socket, workspace) = (snapshot.socket.clone(), snapshot.workspace.clone());
        let config = self.source.options.config.clone();
        let program = workspace.join(file);
        self.effects.spawn(async move {
            let settings = match config.map(|config| LoadedSettings::read(&config, &workspace)).transpose() {
                Ok(loaded) => loaded.map(|loaded| loaded.settings.programs).unwrap_or_default(),
                Err(Faults(faults)) => {
                    let first = faults.first().map(ToString::to_string).unwrap_or_default();
                    return Some(Msg::Failed(first));
                }
            };
            run(socket, request(program, workspace, settings)).await.err().map(Msg::Failed)
        });
    }
}

/// Returns a run request for a user who is watching the program.
fn request(program: PathBuf, cwd: PathBuf, settings: ProgramSettings) -> RunRequest {
    RunRequest {
        program: Some(program),
        cwd,
        has_operator: true,
        exec: settings.exec,
        sessions: settings.sessions,
        path: settings.path.iter().map(PathBuf::from).collect(),
        ..RunRequest::default()
    }
}

/// Waits until the program has ended; the outcome is visible on screen.
async fn run(socket: PathBuf, request: RunRequest) -> Result<(), String> {
    let mut scripts = Scripts::dial(&socket, request.cwd.clone()).await.map_err(|error| error.to_string())?;
    let (events, mut received) = mpsc::channel(EVENTS);
    let drain = async { while received.recv().await.is_some() {} };
    let going = scripts.run_program(request, events, CancellationToken::new());
    let (done, ()) = tokio::join!(going, drain);
    match done {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(refusal)) => Err(refusal.message),
        Err(error) => Err(error.to_string()),
    }
}
