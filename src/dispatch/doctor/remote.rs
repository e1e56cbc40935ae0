//! `doctor --host`: checks what a console and agents need from another machine.

use std::collections::BTreeMap;
use std::time::Duration;

use super::finding::Area::Host as Far;
use super::finding::DoctorFinding;
use crate::link::{Error, HostListing, KEPT_MINUTES, RemoteHost, TransportError, VERSION};

/// How long a login may take; a person may have to answer.
const LOGIN: Duration = Duration::from_secs(120);
/// The script that reports the facts about a machine, one per line.
const SURVEY: &str = "if [ -t 0 ]; then echo input=terminal; else read -r word; echo \"input=$word\"; fi; \
    echo \"system=$(uname -sm)\"; echo \"user=$(id -un)\"; \
    echo \"run=$(command -v systemd-run)\"; echo \"manager=$(systemctl --user is-system-running 2>/dev/null)\"; \
    echo \"linger=$(loginctl show-user \"$(id -un)\" --property=Linger --value 2>/dev/null)\"; \
    echo \"ends=$(loginctl show-session --property=KillUserProcesses --value 2>/dev/null)\"; echo \"end=\"";
/// A word sent to check whether input arrives.
const SENT: &str = "carried";

/// Checks another machine. May prompt on the terminal for a login.
pub(super) async fn look(host: RemoteHost) -> Vec<DoctorFinding> {
    let host = host.asking();
    let facts = match facts(&host).await {
        Ok(facts) => facts,
        Err(error) => return vec![unreachable(&host, &error)],
    };
    let fact = |name: &str| facts.get(name).map_or("", String::as_str);
    let mut all =
        vec![Far.ok("login", format!("{} on {} by {}", fact("user"), fact("system"), host.carrier()))];
    all.push(input(&host.name, fact("input")));
    all.extend(connection(&host).await);
    all.push(program(&host, host.runtimes().await));
    let logouts = Logouts { linger: fact("linger"), end_processes: fact("ends"), are_there: host.is_ssh() };
    all.extend(lifetime(&host.name, fact("run"), fact("manager"), &logouts));
    all
}

async fn facts(host: &RemoteHost) -> Result<BTreeMap<String, String>, Error> {
    let output = host.run_script(SURVEY, &[], format!("{SENT}\n").as_bytes(), LOGIN).await?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pair =
        |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    let facts: BTreeMap<String, String> = text.lines().filter_map(pair).collect();
    // What ends without the last of them is not an answer, whatever its exit code.
    if output.code == Some(0) && facts.contains_key("end") { Ok(facts) } else { Err(output.error(host)) }
}

fn unreachable(host: &RemoteHost, error: &Error) -> DoctorFinding {
    let found = match error {
        Error::Carried {
            why: TransportError::Exited { said, .. } | TransportError::NoProgram { said },
            ..
        } if !said.is_empty() => said.clone(),
        Error::Carried { why, .. } => why.told(&host.name),
        error => error.to_string(),
    };
    let fix = if let Error::Carried { why: TransportError::ChangedKey, .. } = error {
        "compare its new key with what its owner says; only then replace the one on record".to_owned()
    } else if let Error::Carried { why: TransportError::Unanswered { .. }, .. } = error {
        format!("make a command run there, such as `{} {} echo hello`", host.carrier(), host.name)
    } else if host.is_ssh() {
        format!("make `ssh {}` work first: its name, its key, and an entry in known_hosts", host.name)
    } else {
        format!("make `{}` work first (`via` in [hosts.{}])", host.carrier(), host.name)
    };
    Far.problem("login", found, fix)
}

/// Evaluates what arrived of the word that was sent.
fn input(name: &str, came: &str) -> DoctorFinding {
    match came {
        SENT => Far.ok("input", "carried unchanged"),
        "terminal" => Far.problem(
            "input",
            "it goes through a terminal, which alters it",
            format!("remove `-t` from `via` in [hosts.{name}]"),
        ),
        _ => Far.problem(
            "input",
            "what is sent does not arrive",
            format!(
                "make `via` in [hosts.{name}] pass standard input on; docker, podman and kubectl need `-i`"
            ),
        ),
    }
}

/// Checks whether connections are multiplexed over one.
async fn connection(host: &RemoteHost) -> Option<DoctorFinding> {
    if !host.is_ssh() {
        return None;
    }
    let Some(folder) = host.masters() else {
        let found = "each logs in separately: the path of the runtime folder is too long for the socket of \
            a shared one";
        return Some(
            Far.note("one connection", found).fix("set XDG_RUNTIME_DIR to a shorter path of your own"),
        );
    };
    Some(if host.has_master().await {
        let found = format!("shared by all, in {}, kept {KEPT_MINUTES} minutes", folder.display());
        Far.ok("one connection", found)
    } else {
        Far.note("one connection", "not shared: OpenSSH keeps none open, so each logs in separately").fix(
            "see what `ssh -O check` says; the server may allow only one session per connection \
             (MaxSessions)",
        )
    })
}

fn program(host: &RemoteHost, listed: Result<HostListing, Error>) -> DoctorFinding {
    let install = format!("pilothouse host install {}", host.name);
    match listed {
        Ok(HostListing { version, link, runtimes, .. }) if link == VERSION => {
            Far.ok("pilothouse", format!("{version} (link {link}), runtimes: {}", runtimes.len()))
        }
        Ok(HostListing { version, link, .. }) => {
            let found = format!("{version} speaks link version {link}, this one version {VERSION}");
            let fix = if link < VERSION { install } else { "install the newer pilothouse here".to_owned() };
            Far.problem("pilothouse", found, fix)
        }
        Err(Error::Carried { why: TransportError::NoProgram { .. }, .. }) => {
            Far.problem("pilothouse", "not installed, or not in PATH", install)
        }
        Err(Error::Carried { why: TransportError::NotRun { said }, .. }) => {
            let found = format!("{said} cannot be executed there (noexec?)");
            let fix = format!("put one where it can be, and name it: `program` in [hosts.{}]", host.name);
            Far.problem("pilothouse", found.trim_start().to_owned(), fix)
        }
        Err(error) => Far.problem("pilothouse", error.to_string(), install),
    }
}

/// What a logout does on that machine, in logind's terms.
#[derive(Debug, Clone, Copy)]
struct Logouts<'a> {
    /// `yes` if this user's units keep running after the last logout.
    linger: &'a str,
    /// `no` if a logout ends no processes.
    end_processes: &'a str,
    /// Whether connecting to it creates a login session.
    are_there: bool,
}

/// Evaluates how long a runtime on that machine lives.
fn lifetime(name: &str, run: &str, manager: &str, logouts: &Logouts<'_>) -> Vec<DoctorFinding> {
    let has_manager = !run.is_empty() && ["running", "degraded", "starting"].contains(&manager);
    if !has_manager {
        let check = "systemd --user";
        return vec![match logouts {
            Logouts { are_there: false, .. } => Far.ok(
                check,
                "none, and none needed: a runtime there is a process of its own, and nobody logs out",
            ),
            Logouts { end_processes: "no", .. } => Far.ok(
                check,
                "none for this user: a runtime there is a process of its own, and logging out does not end \
                 it",
            ),
            _ => {
                let found = "none for this user: a runtime there is a process of its own, and ends if \
                    logging out ends processes";
                Far.note(check, found).fix("keep a session open there, or log in through pam_systemd")
            }
        }];
    }
    if logouts.linger != "yes" && logouts.end_processes == "no" {
        let found = "off, but logging out ends no processes: a runtime there outlives your last logout";
        return vec![Far.ok("linger", found)];
    }
    let units = Far.ok("systemd --user", "a runtime started there becomes a unit: pilothouse-ID");
    let lingers = match logouts.linger {
        "yes" => Far.ok("linger", "on: runtimes outlive your last logout"),
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
    use crate::dispatch::doctor::finding::FindingState;

    #[test]
    fn a_runtime_that_would_end_with_the_last_logout_is_a_problem_with_its_cure() {
        let states = |run, manager, linger| {
            let logouts = Logouts { linger, end_processes: "yes", are_there: true };
            let found = lifetime("box", run, manager, &logouts);
            found.iter().map(|finding| (finding.check.to_string(), finding.state)).collect::<Vec<_>>()
        };
        let unit = ("systemd --user".to_owned(), FindingState::Ok);
        assert_eq!(
            states("/usr/bin/systemd-run", "running", "yes"),
            [unit.clone(), ("linger".into(), FindingState::Ok)]
        );
        assert_eq!(
            states("/usr/bin/systemd-run", "degraded", "no"),
            [unit, ("linger".into(), FindingState::Problem)]
        );
        for (run, manager) in [("", ""), ("/usr/bin/systemd-run", "offline"), ("/usr/bin/systemd-run", "")] {
            assert_eq!(states(run, manager, ""), [("systemd --user".to_owned(), FindingState::Note)]);
        }
    }

    #[test]
    fn a_runtime_that_no_logout_ends_is_no_problem() {
        let all_are_well = |run, manager, logouts| {
            lifetime("box", run, manager, &logouts).iter().all(|finding| finding.state == FindingState::Ok)
        };
        let stays = Logouts { linger: "no", end_processes: "no", are_there: true };
        assert!(all_are_well("/usr/bin/systemd-run", "running", stays));
        assert!(all_are_well("", "", stays));
        let in_a_container = Logouts { linger: "", end_processes: "", are_there: false };
        assert!(all_are_well("", "", in_a_container));
    }

    #[test]
    fn a_terminal_or_nothing_in_the_place_of_what_was_sent_is_a_problem_with_its_cure() {
        assert_eq!(input("web", SENT).state, FindingState::Ok);
        for (came, cure) in [("terminal", "remove `-t`"), ("", "`-i`")] {
            let found = input("web", came);
            assert_eq!(found.state, FindingState::Problem);
            assert!(found.fix.as_deref().is_some_and(|fix| fix.contains(cure)), "{found:?}");
        }
    }
}
