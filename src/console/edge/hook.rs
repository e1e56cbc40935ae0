//! The person's program for what waits for them: run beside the console, bounded in time, and not heard.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use super::super::msg::{Msg, News};

/// So long it may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs it and says what went wrong, if anything did.
pub(super) async fn run(program: Vec<String>, news: News, workspace: PathBuf) -> Option<Msg> {
    run_within(PATIENCE, &program, &news, workspace).await.err().map(|error| {
        let name = program.first().map_or("", String::as_str);
        Msg::Failed(format!("run {name} from console.notify: {error}"))
    })
}

/// It is told in its environment and by its last argument, which begins with the thing's name and so is
/// never taken for an option.
async fn run_within(limit: Duration, program: &[String], news: &News, workspace: PathBuf) -> io::Result<()> {
    let Some((name, args)) = program.split_first() else { return Ok(()) };
    let text = news.text();
    let mut command = Command::new(name);
    command.args(args).arg(without_nul(&text)).process_group(0).kill_on_drop(true);
    for (variable, value) in [
        ("PILOTHOUSE_KIND", news.kind),
        ("PILOTHOUSE_NAME", &news.name),
        ("PILOTHOUSE_WHAT", &news.what),
        ("PILOTHOUSE_SAID", &news.said),
        ("PILOTHOUSE_TEXT", &text),
    ] {
        command.env(variable, without_nul(value));
    }
    command.env("PILOTHOUSE_WORKSPACE", workspace);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    match tokio::time::timeout(limit, child.wait()).await {
        Ok(ended) => ended?.success().then_some(()).ok_or_else(|| io::Error::other("it failed")),
        Err(_) => {
            // Its leader is not reaped yet, so the number is still that of this group.
            if let Some(group) = group {
                kill_process_group(group, Signal::KILL)?;
            }
            child.wait().await?;
            Err(io::Error::other(format!("it took longer than {} s and was ended", limit.as_secs())))
        }
    }
}

fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news() -> News {
        News {
            kind: "input",
            name: "t07".into(),
            what: "needs a line".into(),
            said: "name:\0 $(true)".into(),
        }
    }

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script, "hook"].map(str::to_owned).to_vec()
    }

    #[tokio::test]
    async fn it_is_told_what_waits() {
        let home = tempfile::tempdir().expect("temp dir");
        let script = "printf '%s|%s|%s|%s|%s' \"$PILOTHOUSE_KIND\" \"$PILOTHOUSE_NAME\" \"$PILOTHOUSE_WHAT\" \
                      \"$PILOTHOUSE_SAID\" \"$1\" > \"$PILOTHOUSE_WORKSPACE/told\"";
        let ran = run_within(PATIENCE, &shell(script), &news(), home.path().to_owned()).await;
        ran.expect("runs");
        let told = std::fs::read_to_string(home.path().join("told")).expect("told");
        assert_eq!(told, "input|t07|needs a line|name: $(true)|t07 needs a line: name: $(true)");
    }

    #[tokio::test]
    async fn it_and_what_it_started_end_with_its_time() {
        let home = tempfile::tempdir().expect("temp dir");
        let script = "sleep 600 & echo $! > \"$PILOTHOUSE_WORKSPACE/child\"; wait";
        // Long enough for a shell to begin on a busy machine.
        let limit = Duration::from_secs(3);
        let ran = run_within(limit, &shell(script), &news(), home.path().to_owned()).await;
        assert!(ran.expect_err("too long").to_string().contains("took longer"));
        let child = std::fs::read_to_string(home.path().join("child")).expect("started");
        let state = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        // What is killed may not be reaped yet.
        assert!(state.is_err() || state.is_ok_and(|state| state.contains(") Z ")), "{child}");
    }

    #[tokio::test]
    async fn what_fails_is_said() {
        let failed = run(shell("exit 3"), news(), "/".into()).await;
        assert!(matches!(failed, Some(Msg::Failed(text)) if text == "run sh from console.notify: it failed"));
        assert!(matches!(run(vec!["/nowhere".into()], news(), "/".into()).await, Some(Msg::Failed(_))));
    }
}
