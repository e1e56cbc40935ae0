//! Checks of where sockets and recordings are, and whether a runtime answers.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::finding::Area::Folders;
use super::finding::{DoctorFinding, FindingState};
use crate::config::{LoadedSettings, STARTER_COMMAND};
use crate::dispatch::host::Host;
use crate::dispatch::settings::settings_fix;
use crate::envelope::units::size;
use crate::link::{ClientRole, Error, Hello, Holder, Scripts, dial};
use crate::paths::Places;

/// The names of checks.
const RUNTIME_FOLDER: &str = "runtime folder";
const LOCKS: &str = "folder of locks";
/// The minimum free disk space for starting tasks, in bytes.
const FREE_BYTES: u64 = 256 << 20;

/// Checks the folders and tries to connect to the runtime.
pub(super) async fn look(host: &dyn Host) -> Vec<DoctorFinding> {
    let places = match host.places() {
        Ok(places) => places,
        Err(failure) => {
            let fix = "set HOME, and start it in a directory that exists";
            return vec![Folders.problem("workspace", failure.text(), fix)];
        }
    };
    let mut all = vec![Folders.ok("workspace", displayed_path(&places.workspace))];
    all.push(folder(RUNTIME_FOLDER, &places.runtime_dir));
    all.push(folder("state folder", &places.state_dir));
    // It is the same for all callers, whatever their variables say.
    let locks = places.locks().folder;
    all.extend(
        Some(folder(LOCKS, &locks))
            .filter(|found| !locks.starts_with(&places.state_dir) || found.state == FindingState::Problem),
    );
    all.extend(room(&places));
    all.extend(rules(&places));
    all.push(runtime(host, &places).await);
    all.extend(check_runtimes(host).await);
    all
}

/// Says what is asked about before it runs. That nothing is, is a choice.
fn rules(places: &Places) -> Option<DoctorFinding> {
    let rules = match LoadedSettings::read(&places.config_dir, &places.workspace) {
        Ok(loaded) => loaded.settings.approvals,
        Err(faults) => {
            let found: Vec<String> = faults.0.iter().map(ToString::to_string).collect();
            return Some(Folders.problem("settings", found.join("; "), settings_fix(&faults.0)));
        }
    };
    if rules.is_empty() {
        let found = "there are none: agents' commands run without a question";
        return Some(Folders.note("approval rules", found).fix(STARTER_COMMAND));
    }
    let by_cost = rules.iter().filter(|rule| rule.consequence.is_some()).count();
    Some(
        Folders
            .ok("approval rules", format!("{}, of them {by_cost} by what a command would cost", rules.len())),
    )
}

/// Checks whether more than one runtime answers for this workspace: agents and console would not meet.
async fn check_runtimes(host: &dyn Host) -> Option<DoctorFinding> {
    let cwd = host.cwd().ok()?;
    let mut found = BTreeMap::new();
    for folder in host.runtime_dirs() {
        let socket = folder.join("agent.sock");
        if let Ok(open) = dial(&socket, &Hello::new(ClientRole::Cli, cwd.clone())).await {
            found.entry(open.ack.runtime_pid).or_insert(socket);
        }
    }
    if found.len() < 2 {
        return None;
    }
    let told: Vec<String> =
        found.iter().map(|(pid, socket)| format!("pid {pid} at {}", displayed_path(socket))).collect();
    let pids: Vec<String> = found.keys().map(ToString::to_string).collect();
    let found = format!("{} runtimes serve this workspace: {}", pids.len(), told.join(", "));
    let fix = format!("end all but one: kill {}", pids.join(" or "));
    Some(Folders.problem("runtimes", found, fix))
}

fn folder(check: &'static str, path: &Path) -> DoctorFinding {
    match std::fs::symlink_metadata(path) {
        Ok(facts) => {
            let me = rustix::process::geteuid().as_raw();
            judge(check, path, facts.is_dir(), facts.uid() == me, facts.mode() & 0o777)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => missing(check, path),
        Err(error) => {
            let above = path.parent().unwrap_or(path);
            let fix = format!("make {} a folder that this user can enter", displayed_path(above));
            Folders.problem(check, format!("{}: {error}", displayed_path(path)), fix)
        }
    }
}

fn judge(check: &'static str, path: &Path, is_dir: bool, is_mine: bool, mode: u32) -> DoctorFinding {
    let path = displayed_path(path);
    let (found, fix) = match (is_dir, is_mine) {
        (false, _) => (format!("{path} is not a folder"), format!("mv {path} {path}.old")),
        (_, false) => (
            format!("{path} belongs to another user"),
            format!("have root run: chown -R {} {path}", rustix::process::geteuid().as_raw()),
        ),
        _ if mode & 0o077 != 0 => {
            (format!("{path} is open to others ({mode:o})"), format!("chmod 700 {path}"))
        }
        _ if mode & 0o700 != 0o700 => {
            (format!("{path} cannot be written ({mode:o})"), format!("chmod 700 {path}"))
        }
        _ => return Folders.ok(check, path),
    };
    Folders.problem(check, found, fix)
}

fn missing(check: &'static str, path: &Path) -> DoctorFinding {
    let standing = path.ancestors().skip(1).find(|parent| parent.exists()).unwrap_or(Path::new("/"));
    let found = format!("{}: does not exist yet, created when needed", displayed_path(path));
    let Err(refused) = rustix::fs::access(standing, rustix::fs::Access::WRITE_OK) else {
        return Folders.ok(check, found);
    };
    let found =
        format!("{}: cannot be created, {} is not writable", displayed_path(path), displayed_path(standing));
    let is_mine =
        std::fs::metadata(standing).is_ok_and(|facts| facts.uid() == rustix::process::geteuid().as_raw());
    let fix = match refused {
        rustix::io::Errno::ROFS => {
            format!("its file system is read-only: mount it writable, or set {}", variable(check))
        }
        _ if is_mine => {
            return Folders.problem(check, found, format!("chmod u+w {}", displayed_path(standing)));
        }
        _ => format!("have its owner let you write there, or set {}", variable(check)),
    };
    Folders.problem(check, found, fix)
}

/// Returns the variable that names another folder.
fn variable(check: &str) -> &'static str {
    match check {
        RUNTIME_FOLDER => "XDG_RUNTIME_DIR",
        LOCKS => "HOME",
        _ => "XDG_STATE_HOME",
    }
}

fn room(places: &Places) -> Option<DoctorFinding> {
    let standing = places.state_dir.ancestors().find(|path| path.exists())?;
    let disk = rustix::fs::statvfs(standing).ok()?;
    let (free, all) = (disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize);
    let found = format!("{} free", size(free));
    Some(if free < FREE_BYTES.max(all / 100) {
        let found = format!("{found}: too little to start tasks");
        Folders.problem("disk", found, format!("free up space on the disk of {}", displayed_path(standing)))
    } else {
        Folders.ok("disk", found)
    })
}

async fn runtime(host: &dyn Host, places: &Places) -> DoctorFinding {
    let check = "runtime";
    let Ok(cwd) = host.cwd() else {
        return Folders.problem(check, "the working directory is gone", "cd to another directory");
    };
    match Scripts::dial(&places.agent_socket(), cwd).await {
        Ok(_) => Folders.ok(check, format!("serves at {}", displayed_path(&places.agent_socket()))),
        Err(error) => {
            let error = Holder::of(places).explain(error);
            let fix = match &error {
                Error::NoRuntime { .. } => {
                    return Folders.ok(check, "none running; the console or an agent starts one");
                }
                // Its own words say how.
                Error::OtherVersion { .. } | Error::Unreachable { .. } => "do that, then start it again",
                Error::TooManyConnections { .. } => "end some of them, or raise `limits.connections`",
                _ => "see `logs/pilothouse.log` in the state folder for the cause",
            };
            Folders.problem(check, error.to_string(), fix)
        }
    }
}

fn displayed_path(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::doctor::finding::FindingState;

    #[test]
    fn a_folder_that_others_may_enter_is_a_problem_with_a_fix() {
        let judged = |is_dir, is_mine, mode| judge("state folder", Path::new("/s"), is_dir, is_mine, mode);
        assert_eq!(judged(true, true, 0o700).state, FindingState::Ok);
        assert_eq!(judged(true, true, 0o755).fix.as_deref(), Some("chmod 700 /s"));
        assert_eq!(judged(true, false, 0o700).state, FindingState::Problem);
        assert_eq!(judged(false, true, 0o700).state, FindingState::Problem);
        assert_eq!(judged(true, true, 0o500).state, FindingState::Problem);
    }
}
