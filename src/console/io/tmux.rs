//! Showing a pane of tmux, found by its terminal. Nothing of what another process says becomes a part of a command but the
//! path of a socket of this user's.

use std::ffi::OsStr;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use crate::envelope::one_line;
use crate::process::own_console_process;

/// How long tmux may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most bytes that are read of its answer.
const MOST_BYTES: u64 = 256 << 10;
/// The most characters that are shown of a session's name.
const NAME_CHARS: usize = 40;

/// What tmux tells of each pane. The name comes last because it may have spaces.
const FORMAT: &str = "#{pane_tty} #{pane_id} #{window_index} #{session_attached} #{session_name}";

/// A pane, as a session shows it.
#[derive(Debug, PartialEq, Eq)]
struct TmuxPane<'a> {
    terminal: &'a str,
    number: u32,
    window: u32,
    /// How many terminals show its session.
    attached: u32,
    session: &'a str,
}

/// Returns the socket in a value of the variable TMUX, e.g. `/tmp/tmux-1000/default,4242,0`, if it is one of this user's.
pub(super) fn socket(variable: &OsStr) -> Option<PathBuf> {
    let (rest, _session) = variable.to_str()?.rsplit_once(',')?;
    let (path, _server) = rest.rsplit_once(',')?;
    let file = std::fs::metadata(path).ok()?;
    let is_own = file.file_type().is_socket() && file.uid() == rustix::process::geteuid().as_raw();
    (is_own && path.starts_with('/')).then(|| path.into())
}

/// Shows the pane with this terminal where its session is shown, and in the terminal of this console if that is in the same
/// tmux. Says where it is; `None` if tmux does not know it.
pub(super) async fn show(socket: &Path, terminal: &str) -> Option<String> {
    let listed = run(socket, &["list-panes", "-a", "-F", FORMAT], true).await?;
    let panes: Vec<TmuxPane<'_>> = listed.lines().filter_map(pane).collect();
    let own = own_console_process().terminal;
    let is_here = panes.iter().any(|pane| own.as_deref() == Some(pane.terminal));
    let pane = panes.iter().filter(|pane| pane.terminal == terminal).max_by_key(|pane| pane.attached)?;
    let target = format!("%{}", pane.number);
    let mut commands = vec!["select-window", "-t", &target, ";", "select-pane", "-t", &target];
    if is_here {
        commands.extend([";", "switch-client", "-t", &target]);
    }
    let is_shown = run(socket, &commands, is_here).await.is_some();
    let TmuxPane { window, session, attached, .. } = pane;
    let session = one_line(session, NAME_CHARS);
    let hint = match (is_shown, attached) {
        (false, _) => "; tmux did not go there",
        (true, 0) if !is_here => "; no terminal shows it: tmux attach",
        (true, _) => "",
    };
    Some(format!("tmux: session {session}, window {window}{hint}"))
}

/// Reads a row of the list.
fn pane(row: &str) -> Option<TmuxPane<'_>> {
    let mut fields = row.splitn(5, ' ');
    Some(TmuxPane {
        terminal: fields.next()?,
        number: fields.next()?.strip_prefix('%')?.parse().ok()?,
        window: fields.next()?.parse().ok()?,
        attached: fields.next()?.parse().ok()?,
        session: fields.next()?,
    })
}

/// Runs tmux and returns what it printed; `None` if it failed. With `is_here`, it acts for the terminal of this console.
async fn run(socket: &Path, commands: &[&str], is_here: bool) -> Option<String> {
    let mut command = Command::new("tmux");
    command.arg("-S").arg(socket).args(commands).stdin(Stdio::null()).stdout(Stdio::piped());
    if !is_here {
        command.env_remove("TMUX").env_remove("TMUX_PANE");
    }
    let mut child = command.stderr(Stdio::null()).kill_on_drop(true).spawn().ok()?;
    let output = child.stdout.take()?;
    let read = async {
        let mut text = Vec::new();
        output.take(MOST_BYTES).read_to_end(&mut text).await.ok()?;
        let is_done = child.wait().await.is_ok_and(|status| status.success());
        is_done.then(|| String::from_utf8_lossy(&text).into_owned())
    };
    tokio::time::timeout(PATIENCE, read).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_a_socket_of_this_user_is_taken() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a, b");
        let _listener = UnixListener::bind(&path).expect("bound");
        let of = |text: String| socket(OsStr::new(&text));
        let path = path.display().to_string();
        assert_eq!(of(format!("{path},42,0")), Some(path.clone().into()));
        for wrong in [path.clone(), format!("{path},42"), format!("{},1,0", dir.path().display())] {
            assert_eq!(of(wrong.clone()), None, "{wrong}");
        }
        for wrong in ["", ",,", "-x,1,0", "/dev/null,1,0", "/nowhere,1,0"] {
            assert_eq!(of(wrong.into()), None, "{wrong}");
        }
    }

    #[test]
    fn a_row_is_read_only_if_its_numbers_are_numbers() {
        let expected =
            TmuxPane { terminal: "/dev/pts/3", number: 7, window: 2, attached: 1, session: "my work" };
        assert_eq!(pane("/dev/pts/3 %7 2 1 my work"), Some(expected));
        for wrong in ["", "/dev/pts/3 7 2 1 x", "/dev/pts/3 %7;kill-server 2 1 x", "/dev/pts/3 %-7 2 1 x"] {
            assert_eq!(pane(wrong), None, "{wrong}");
        }
    }
}
