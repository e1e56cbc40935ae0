//! Going to where an agent runs: to its task, or to its pane of tmux. Of another terminal, it is said which that is.

use std::ffi::OsString;

use super::effects::Effects;
use super::tmux;
use crate::console::msg::{AgentPlace, Msg};
use crate::envelope::{TaskId, one_line};
use crate::process::{console_process, environment::Environment};
use crate::process::{parent, program_name};

/// The most processes above an agent that are looked at.
const MOST_ABOVE: usize = 32;
/// The most characters that are shown of a text which another process chose.
const MOST_CHARS: usize = 60;

/// Variables by which a terminal program tells its children where they are, and how that is said.
const TERMINALS: [(&str, &str); 6] = [
    ("TMUX_PANE", "tmux, pane"),
    ("ZELLIJ_PANE_ID", "zellij, pane"),
    ("STY", "screen, session"),
    ("KITTY_WINDOW_ID", "kitty, window"),
    ("WEZTERM_PANE", "wezterm, pane"),
    ("TERM_PROGRAM", "in"),
];

impl Effects {
    /// Goes to where an agent runs, by one of its processes: to one of these tasks, each with the process of its shell, or
    /// to its pane.
    pub(super) fn go_to_agent(&mut self, label: String, pid: u32, tasks: Vec<(u32, TaskId)>) {
        self.spawn(async move { Some(Msg::AgentFound(go(&label, pid, &tasks).await)) });
    }
}

async fn go(label: &str, pid: u32, tasks: &[(u32, TaskId)]) -> AgentPlace {
    // The agent, and what is above it; a shim of ours is not the agent.
    let all = std::iter::successors(Some(pid), |pid| parent(*pid)).take(MOST_ABOVE);
    let is_shim = |pid: &u32| program_name(*pid).as_deref() == Some(env!("CARGO_PKG_NAME"));
    let above: Vec<u32> = all.skip_while(is_shim).collect();
    let task = above.iter().find_map(|pid| tasks.iter().find(|(shell, _)| shell == pid));
    if let Some((_, task)) = task {
        return AgentPlace::Task(task.clone());
    }
    let agent = above.first().copied().unwrap_or(pid);
    let folder = std::fs::read_link(format!("/proc/{agent}/cwd")).map(|folder| folder.display().to_string());
    let of_process = match folder {
        Ok(folder) => format!("pid {agent}, in {}", one_line(&folder, MOST_CHARS)),
        Err(_) => format!("pid {agent}"),
    };
    // What an agent starts may have left its terminal.
    let terminals: Vec<(u32, String)> =
        above.iter().filter_map(|pid| Some((*pid, console_process(*pid).terminal?))).collect();
    let Some((_, terminal)) = terminals.first() else {
        return AgentPlace::Elsewhere(format!("{label} runs without a terminal: {of_process}"));
    };
    let variable = |name: &str| -> Option<OsString> {
        let on_it = terminals.iter().filter(|(_, other)| other == terminal);
        let mut values =
            on_it.filter_map(|(pid, _)| Environment::of_process(*pid)?.get(name).map(Into::into));
        values.next().filter(|value: &OsString| !value.is_empty())
    };
    let shown = match variable("TMUX").as_deref().and_then(tmux::socket) {
        Some(socket) => tmux::show(&socket, terminal).await,
        None => None,
    };
    if let Some(shown) = shown {
        return AgentPlace::Elsewhere(format!("{label} is in {shown}"));
    }
    let named = TERMINALS.iter().find_map(|(name, said)| {
        let value = variable(name)?;
        Some(format!(" ({said} {})", one_line(&value.to_string_lossy(), MOST_CHARS)))
    });
    let named = named.unwrap_or_default();
    AgentPlace::Elsewhere(format!("{label} runs on {terminal}{named}: {of_process}"))
}
