//! Copying text to the clipboard: by asking the user's terminal (OSC 52), and with whatever clipboard tools
//! are available.

use std::ffi::OsString;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Terminals drop longer texts altogether.
const MOST_BYTES: usize = 74_994;
/// How long a tool may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// A program and its arguments.
pub(in crate::console) type Tool = &'static [&'static str];

/// Tells whether a text is short enough for the terminal.
pub(in crate::console) fn fits_terminal(text: &str) -> bool {
    text.len() <= MOST_BYTES
}

/// Returns the clipboard tools suitable for this environment, the most direct first.
pub fn tools(variable: impl Fn(&str) -> Option<OsString>) -> Vec<&'static [&'static str]> {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let mut tools: Vec<&'static [&'static str]> = Vec::new();
    if cfg!(target_os = "macos") {
        tools.push(&["pbcopy"]);
    }
    if is_set("WAYLAND_DISPLAY") {
        tools.push(&["wl-copy"]);
    }
    if is_set("DISPLAY") {
        tools.push(&["xclip", "-selection", "clipboard"]);
    }
    if is_set("TMUX") {
        tools.push(&["tmux", "load-buffer", "-"]);
    }
    tools
}

/// Passes a text to each tool; returns the names of those that accepted it.
pub(in crate::console) async fn hand_over(
    text: &str,
    tools: &[&'static [&'static str]],
) -> Vec<&'static str> {
    let mut took = Vec::new();
    for tool in tools {
        if let Some((name, arguments)) = tool.split_first()
            && matches!(tokio::time::timeout(PATIENCE, feed(name, arguments, text)).await, Ok(Ok(true)))
        {
            took.push(*name);
        }
    }
    took
}

async fn feed(name: &str, arguments: &[&str], text: &str) -> std::io::Result<bool> {
    let mut command = Command::new(name);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.kill_on_drop(true).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(text.as_bytes()).await?;
    }
    Ok(child.wait().await?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_calls_for_its_tools() {
        let of = |names: &'static [&'static str]| {
            let set = move |name: &str| names.contains(&name).then(|| OsString::from(":0"));
            tools(set).into_iter().map(|tool| tool[0]).collect::<Vec<_>>()
        };
        assert!(!of(&[]).contains(&"xclip"));
        assert!(of(&["DISPLAY", "TMUX"]).ends_with(&["xclip", "tmux"]));
        assert!(of(&["WAYLAND_DISPLAY"]).ends_with(&["wl-copy"]));
    }

    #[tokio::test]
    async fn a_tool_takes_the_text_or_is_not_named() {
        let tools: [&'static [&'static str]; 3] = [&["cat"], &["false"], &["pilothouse-has-no-such-tool"]];
        assert_eq!(hand_over("text", &tools).await, ["cat"]);
    }
}
