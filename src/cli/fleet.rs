//! `pilothouse fleet`: one console for all of this user's runtimes, on this machine and on others.

use std::process::ExitCode;
use std::time::Duration;

use color_eyre::eyre::Result;

use super::console::{leave, locks, readable_settings, show};
use super::program_start::ProgramStart;
use super::remote::{self, Destination};
use crate::dispatch::cli_only::FleetInput;
use crate::link::{Fleet, Operator, remove_left_copies};
use crate::model::PlaceLink;

/// How long the first frame waits for the runtimes to respond; one that has not responded by then is shown as such.
const FIRST: Duration = Duration::from_secs(1);

/// Shows every runtime of this user until the console is closed; no runtime ends with it.
pub(super) async fn run(start: &ProgramStart, input: &FleetInput) -> Result<ExitCode> {
    let mut hosts = Vec::new();
    for named in &input.hosts {
        let to = Destination::parse(named);
        let host = remote::host(start, to.as_ref().map_or(named, |to| &to.host))?;
        // Any login prompts appear here, before the console takes over the screen; errors are shown on that screen.
        let listed = host.clone().asking().runtimes().await;
        hosts.push((host, to, listed));
    }
    let locks = locks(start, input.here || readable_settings(start).fleet.here);
    let fleet = Fleet::of_this_machine(&locks, Some(start.places.config_dir.clone()));
    let copies = start.places.state_dir.join("far");
    remove_left_copies(&copies);
    fleet.copy_logs_to(copies.join(std::process::id().to_string()));
    for (host, to, listed) in hosts {
        match to {
            Some(to) => fleet.open_elsewhere(&host, &to.place),
            None => fleet.open_host(host, listed),
        }
    }
    let operator = Operator::Fleet(fleet);
    let mut snapshots = operator.snapshot();
    let is_settled = |places: &[std::sync::Arc<crate::model::PlaceState>]| {
        !places.is_empty() && places.iter().all(|place| place.link != PlaceLink::Connecting)
    };
    let settled = snapshots.wait_for(|snapshot| is_settled(&snapshot.places));
    // With no runtimes there is nothing to wait for: the console says so, and shows the first one to appear.
    let has_any = !input.hosts.is_empty() || !crate::link::RunningRuntime::list(&locks).is_empty();
    if has_any {
        let _ = tokio::time::timeout(FIRST, settled).await;
    }
    let layout = start.places.state_dir.join("layouts").join("fleet.json");
    show(start, operator, Some(layout)).await.map(leave)
}
