//! Finding a runtime: the one that runs, else a headless one started for the agent.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{sleep, timeout};

use super::{Error, Joined, Shim, Target};
use crate::envelope::SafeText;
use crate::link::{self, dial};
use crate::paths::Places;
use crate::process::keep_descriptors;

/// How long a started runtime may take until it answers.
const STARTED_WITHIN: Duration = Duration::from_secs(10);
/// Pause between two attempts meanwhile.
const RETRY: Duration = Duration::from_millis(20);

impl Shim {
    /// Joins the runtime, starting one when the workspace has none.
    pub(super) async fn join(&self) -> Result<Joined, Error> {
        let (places, program) = match &self.target {
            Target::Socket(socket) => return Ok(self.dial(socket).await?),
            Target::Workspace { places, program } => (places, program),
        };
        let socket = places.agent_socket();
        match self.dial(&socket).await {
            Err(error) if is_absence(&error) => {}
            joined => return Ok(joined?),
        }
        let log = start(places, program)?;
        let answering = async {
            loop {
                match self.dial(&socket).await {
                    Err(error) if is_absence(&error) => sleep(RETRY).await,
                    joined => return joined,
                }
            }
        };
        match timeout(STARTED_WITHIN, answering).await {
            Ok(joined) => Ok(joined?),
            Err(_) => Err(Error::Silent { log }),
        }
    }

    async fn dial(&self, socket: &Path) -> Result<Joined, link::Error> {
        let (_, lines, writer) = dial(socket, &self.hello).await?;
        Ok(Joined { lines: lines.with_cap(super::MAX_LINE), writer })
    }
}

/// Tells whether an error means that no runtime is there, or one that is just leaving.
fn is_absence(error: &link::Error) -> bool {
    use link::Error::{Gone, Handshake, NoRuntime, Talk};
    matches!(error, NoRuntime { .. } | Handshake { .. } | Talk(_) | Gone)
}

/// Starts a headless runtime and says so. Returns its log.
fn start(places: &Places, program: &Path) -> Result<PathBuf, Error> {
    let (pid, log) = start_headless(places, program)?;
    let said = format!(
        "pilothouse: no runtime in {}; started a headless one (pid {pid}, log {}). Run `pilothouse` there to watch.",
        places.workspace.display(),
        log.display(),
    );
    eprintln!("{}", SafeText::lines(&said));
    Ok(log)
}

/// Starts a headless runtime that outlives this process. Returns its process and its log. Should
/// another one be quicker, the one started here ends by itself.
///
/// # Errors
/// When the program cannot be started or has nowhere to write.
pub fn start_headless(places: &Places, program: &Path) -> Result<(u32, PathBuf), Error> {
    let failed = |source| Error::Start { program: program.to_owned(), source };
    let logs = places.state_dir.join("logs");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&logs).map_err(failed)?;
    let log = logs.join(format!("serve-{}.log", places.id));
    let output =
        File::options().create(true).write(true).truncate(true).mode(0o600).open(&log).map_err(failed)?;
    let error_output = output.try_clone().map_err(failed)?;
    // A pipe the agent left open to us would never end as long as the runtime held it, too.
    keep_descriptors().map_err(failed)?;
    let child = Command::new(program)
        .args(["serve", "--detached"])
        .current_dir(&places.workspace)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(error_output)
        .spawn()
        .map_err(failed)?;
    Ok((child.id().unwrap_or_default(), log))
}
