//! `pilothouse`: the console, with the runtime inside or attached to the one that runs.

use std::process::ExitCode;
use std::time::Duration;

use color_eyre::eyre::Result;
use tokio::time::{Instant, sleep};

use super::Start;
use super::house::House;
use crate::console::{self, Exit, Options};
use crate::link::{Error, Operator};

/// How long a runtime that is starting or ending may keep the console waiting.
const PATIENCE: Duration = Duration::from_secs(8);
/// Pause between two attempts meanwhile.
const RETRY: Duration = Duration::from_millis(20);

/// Opens the console of the workspace.
pub(super) async fn run(start: &Start) -> Result<ExitCode> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(house) = House::open(&start.places, false)? {
            return embed(start, house).await.map(leave);
        }
        // The lock is held: its holder answers, or is on its way in or out.
        match Operator::attach(&start.places.operator_socket(), start.cwd.clone()).await {
            Ok(operator) => return show(operator).await.map(leave),
            Err(error) if Instant::now() >= deadline || !is_passing(&error) => return Err(error.into()),
            Err(_) => sleep(RETRY).await,
        }
    }
}

/// Runs the console on a runtime of this process; its tasks end with it.
pub(super) async fn embed(start: &Start, house: House) -> Result<Exit> {
    let shown = show(Operator::local(house.runtime.clone(), start.cwd.clone())).await;
    house.close().await?;
    shown
}

pub(super) async fn show(operator: Operator) -> Result<Exit> {
    let options = Options::from_environment(|name| std::env::var_os(name));
    Ok(console::run(operator, options).await?)
}

/// Says goodbye on the normal screen.
pub(super) fn leave(exit: Exit) -> ExitCode {
    if !exit.farewell.is_empty() {
        // Nobody reads it when the terminal is gone; the exit code still tells.
        let _ = super::say(&exit.farewell);
    }
    ExitCode::from(exit.code)
}

fn is_passing(error: &Error) -> bool {
    matches!(error, Error::NoRuntime { .. } | Error::Handshake { .. } | Error::Talk(_) | Error::Gone)
}
