//! `doctor --host`: what a console and agents need of another machine.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Area::Host as Far;
use super::Finding;
use crate::link::{Carried, Error, Listing, RemoteHost, VERSION};

/// How long a login may take; a person may have to answer.
const LOGIN: Duration = Duration::from_secs(120);
/// Tells what is known of a machine, a line each.
const SURVEY: &str = "echo \"system=$(uname -sm)\"; echo \"user=$(id -un)\"; \
    echo \"run=$(command -v systemd-run)\"; echo \"manager=$(systemctl --user is-system-running 2>/dev/null)\"; \
    echo \"linger=$(loginctl show-user \"$(id -un)\" --property=Linger --value 2>/dev/null)\"; echo \"end=\"";

/// Looks at another machine. May ask at the terminal for what a login needs.
pub(super) async fn look(host: RemoteHost) -> Vec<Finding> {
    let host = host.asking();
    let facts = match facts(&host).await {
        Ok(facts) => facts,
        Err(error) => return vec![unreachable(&host, &error)],
    };
    let fact = |name: &str| facts.get(name).map_or("", String::as_str);
    let mut all =
        vec![Far.ok("login", format!("{} on {} by {}", fact("user"), fact("system"), host.carrier()))];
    all.extend(connection(&host).await);
    all.push(program(&host, host.runtimes().await));
    all.extend(lifetime(&host.name, fact("run"), fact("manager"), fact("linger")));
    all
}

async fn facts(host: &RemoteHost) -> Result<BTreeMap<String, String>, Error> {
    let output = host.run_script(SURVEY, &[], &[], LOGIN).await?;
    if output.code != Some(0) {
        return Err(output.error(host));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pair =
        |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    Ok(text.lines().filter_map(pair).collect())
}

fn unreachable(host: &RemoteHost, error: &Error) -> Finding {
    let found = match error {
        Error::Carried { why: Carried::Exited { said, .. } | Carried::NoProgram { said }, .. }
            if !said.is_empty() =>
        {
            said.clone()
        }
        Error::Carried { why, .. } => why.told(&host.name),
        error => error.to_string(),
    };
    let fix = if host.is_ssh() {
        format!("make `ssh {}` work first: its name, its key, and an entry in known_hosts", host.name)
    } else {
        format!("make `{}` of `via` in [hosts.{}] work first", host.carrier(), host.name)
    };
    Far.problem("login", found, fix)
}

/// Looks whether connections share one.
async fn connection(host: &RemoteHost) -> Option<Finding> {
    if !host.is_ssh() {
        return None;
    }
    let Some(folder) = host.masters() else {
        let found =
            "each has its own login: the path of the runtime folder is too long for a shared one's socket";
        return Some(Far.note("one connection", found).fix("set XDG_RUNTIME_DIR to a short path of yours"));
    };
    Some(if host.has_master().await {
        Far.ok("one connection", format!("shared by all, in {}, kept 10 minutes", folder.display()))
    } else {
        Far.note("one connection", "not shared: OpenSSH keeps none open, so each has its own login").fix(
            "look at what `ssh -O check` says; the server may allow one session a connection (MaxSessions)",
        )
    })
}

fn program(host: &RemoteHost, listed: Result<Listing, Error>) -> Finding {
    let install = format!("pilothouse host install {}", host.name);
    match listed {
        Ok(Listing { version, link, runtimes, .. }) if link == VERSION => {
            Far.ok("pilothouse", format!("{version} (link {link}), runtimes: {}", runtimes.len()))
        }
        Ok(Listing { version, link, .. }) => {
            let found = format!("{version} speaks version {link} of the link, this one version {VERSION}");
            let fix = if link < VERSION { install } else { "install the newer pilothouse here".to_owned() };
            Far.problem("pilothouse", found, fix)
        }
        Err(Error::Carried { why: Carried::NoProgram { .. }, .. }) => {
            Far.problem("pilothouse", "not there, or not in PATH", install)
        }
        Err(error) => Far.problem("pilothouse", error.to_string(), install),
    }
}

/// Judges how long a runtime there lives.
fn lifetime(name: &str, run: &str, manager: &str, linger: &str) -> Vec<Finding> {
    let has_manager = !run.is_empty() && ["running", "degraded", "starting"].contains(&manager);
    if !has_manager {
        let found = "none for this user: a runtime there is a process of its own, and ends where logouts end processes";
        return vec![
            Far.note("systemd --user", found)
                .fix("keep a session open there, or log in by way of pam_systemd"),
        ];
    }
    let units = Far.ok("systemd --user", "a runtime that is started there becomes a unit: pilothouse-ID");
    let lingers = match linger {
        "yes" => Far.ok("linger", "on: runtimes go on after the last logout"),
        _ => Far.problem(
            "linger",
            "off: runtimes end with your last logout there",
            format!("ssh {name} loginctl enable-linger"),
        ),
    };
    vec![units, lingers]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::doctor::State;

    #[test]
    fn a_runtime_that_would_end_with_the_last_logout_is_a_problem_with_its_cure() {
        let states = |run, manager, linger| {
            let found = lifetime("box", run, manager, linger);
            found.iter().map(|finding| (finding.check.to_string(), finding.state)).collect::<Vec<_>>()
        };
        let unit = ("systemd --user".to_owned(), State::Ok);
        assert_eq!(
            states("/usr/bin/systemd-run", "running", "yes"),
            [unit.clone(), ("linger".into(), State::Ok)]
        );
        assert_eq!(
            states("/usr/bin/systemd-run", "degraded", "no"),
            [unit, ("linger".into(), State::Problem)]
        );
        for (run, manager) in [("", ""), ("/usr/bin/systemd-run", "offline"), ("/usr/bin/systemd-run", "")] {
            assert_eq!(states(run, manager, ""), [("systemd --user".to_owned(), State::Note)]);
        }
    }
}
