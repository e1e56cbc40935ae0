//! Other terminal multiplexers, if installed: the same command in one of their panes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portable_pty::CommandBuilder;

use super::house::PANE;
use super::tty::Tty;

/// A multiplexer to compare with.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Peer {
    Tmux,
    Zellij,
    Mprocs,
}

impl Peer {
    /// Returns those that answer when asked for their version.
    pub(crate) fn installed() -> Vec<Self> {
        let all = [Self::Tmux, Self::Zellij, Self::Mprocs];
        all.into_iter().filter(|peer| peer.is_installed()).collect()
    }

    /// Returns the name of its program.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Tmux => "tmux",
            Self::Zellij => "zellij",
            Self::Mprocs => "mprocs",
        }
    }

    fn is_installed(self) -> bool {
        let flag = if self == Self::Tmux { "-V" } else { "--version" };
        let status = Command::new(self.name()).arg(flag).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// Opens it in a terminal with a shell command in a pane of about [`PANE`]. It ends when the terminal is dropped.
    pub(crate) fn open(self, folder: &Path, cmd: &str) -> Tty {
        let (cols, rows) = PANE;
        let mut command = CommandBuilder::new(self.name());
        // One row more for a status line; mprocs has a list of processes beside the pane.
        let size = match self {
            Self::Tmux => {
                command.args(["-S", &socket(folder), "-f", "/dev/null", "new-session", "/bin/sh", "-c", cmd]);
                (cols, rows + 1)
            }
            Self::Zellij => {
                // Its own home: it would ask about its settings over the pane otherwise.
                command.env("HOME", zellij_home(folder));
                command.args(["--layout", &layout(folder, cmd)]);
                (cols, rows)
            }
            Self::Mprocs => {
                let script = script(folder, cmd);
                command.args(["--names", "bench", &format!("/bin/sh {script}")]);
                (cols + 30, rows + 5)
            }
        };
        Tty::start(surroundings(command, folder), size)
    }

    /// Ends what stays after its terminal is gone: tmux's server.
    pub(crate) fn close(self, folder: &Path) {
        if self == Self::Tmux {
            let mut command = Command::new("tmux");
            command.args(["-S", &socket(folder), "kill-server"]).stderr(Stdio::null());
            // The server has already exited if its last window has closed.
            let _ = command.status();
        }
    }
}

/// Starts tmux without a terminal: one session that holds a window for each command, the last one in front.
pub(crate) fn tmux_windows(folder: &Path, commands: &[String]) -> Tty {
    let (cols, rows) = PANE;
    let (cols, rows) = (cols.to_string(), rows.to_string());
    let server = socket(folder);
    for (at, cmd) in commands.iter().enumerate() {
        let mut command = Command::new("tmux");
        command.args(["-S", &server, "-f", "/dev/null"]);
        match at {
            0 => command.args(["new-session", "-d", "-x", &cols, "-y", &rows, cmd]),
            _ => command.args(["new-window", cmd]),
        };
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env_remove("TMUX");
        assert!(command.status().expect("start tmux").success());
    }
    let mut command = CommandBuilder::new("tmux");
    command.args(["-S", &server, "attach"]);
    Tty::start(surroundings(command, folder), (PANE.0, PANE.1 + 1))
}

fn socket(folder: &Path) -> String {
    folder.join("tmux").display().to_string()
}

fn surroundings(mut command: CommandBuilder, folder: &Path) -> CommandBuilder {
    command.cwd(folder);
    command.env("TERM", "xterm-256color");
    command.env("LANG", "C.UTF-8");
    command.env_remove("TMUX");
    command.env_remove("ZELLIJ");
    command
}

/// Writes a command to a file and returns its path: neither Zellij nor mprocs accepts it as it is.
fn script(folder: &Path, cmd: &str) -> String {
    let path = folder.join("script");
    std::fs::write(&path, cmd).expect("write the script");
    path.display().to_string()
}

/// Writes a layout of one pane, which ends with its command, as the session does with its last pane.
fn layout(folder: &Path, cmd: &str) -> String {
    let path = folder.join("layout.kdl");
    let script = script(folder, cmd);
    let pane = format!("pane command=\"/bin/sh\" close_on_exit=true {{\n args {script:?}\n}}");
    std::fs::write(&path, format!("layout {{\n{pane}\n}}\n")).expect("write the layout");
    path.display().to_string()
}

/// Makes a home with settings for Zellij: nothing in front of the pane, and nothing kept of it.
fn zellij_home(folder: &Path) -> PathBuf {
    let home = folder.join("zellij");
    let settings = home.join(".config/zellij");
    std::fs::create_dir_all(&settings).expect("make a folder");
    let off = "show_startup_tips false\nshow_release_notes false\nsession_serialization false\n";
    std::fs::write(settings.join("config.kdl"), off).expect("write the settings");
    home
}
