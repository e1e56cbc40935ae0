//! The user's notification program for items that wait for them: run alongside the console, with a timeout,
//! ended when the item no longer waits, and with its output ignored.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use crate::console::effect::Notification;
use crate::console::msg::Msg;

/// How long the program may run.
const PATIENCE: Duration = Duration::from_secs(10);

/// Resolves when the item it runs for no longer waits.
pub(super) type Withdrawn = oneshot::Receiver<()>;

/// The items for which it may still be running, each with the means to end it.
#[derive(Debug, Default)]
pub(super) struct Hooks(BTreeMap<String, oneshot::Sender<()>>);

impl Hooks {
    /// Registers an item that it is about to run for.
    pub(super) fn begin(&mut self, news: &Notification) -> Withdrawn {
        self.0.retain(|_, withdraw| !withdraw.is_closed());
        let (withdraw, withdrawn) = oneshot::channel();
        self.0.insert(news.id.clone(), withdraw);
        withdrawn
    }

    /// Ends the program for an item, or keeps it from starting.
    pub(super) fn withdraw(&mut self, id: &str) {
        // Fails if the program has already ended, which does not matter.
        self.0.remove(id).map(|withdraw| withdraw.send(()));
    }
}

/// Runs the program and reports what went wrong, if anything; being withdrawn is not an error.
pub(super) async fn run(
    program: Vec<String>,
    news: Notification,
    workspace: PathBuf,
    withdrawn: Withdrawn,
) -> Option<Msg> {
    run_within(PATIENCE, &program, &news, workspace, withdrawn).await.err().map(|error| {
        let name = program.first().map_or("", String::as_str);
        Msg::Failed(format!("run {name} from console.notify: {error}"))
    })
}

/// Runs the program with the item in its environment and in its last argument, which begins with the item's
/// name and therefore cannot be taken for an option.
async fn run_within(
    limit: Duration,
    program: &[String],
    news: &Notification,
    workspace: PathBuf,
    mut withdrawn: Withdrawn,
) -> io::Result<()> {
    if !matches!(withdrawn.try_recv(), Err(oneshot::error::TryRecvError::Empty)) {
        return Ok(());
    }
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
    tokio::select! {
        ended = child.wait() => ended?.success().then_some(()).ok_or_else(|| io::Error::other("it failed")),
        _ = withdrawn => end(&mut child, group).await,
        () = tokio::time::sleep(limit) => {
            end(&mut child, group).await?;
            Err(io::Error::other(format!("it took longer than {} s and was ended", limit.as_secs())))
        }
    }
}

/// Ends the program together with everything it started. The group leader has not been reaped yet, so the
/// process group id is still valid.
async fn end(child: &mut Child, group: Option<Pid>) -> io::Result<()> {
    if let Some(group) = group {
        kill_process_group(group, Signal::KILL)?;
    }
    child.wait().await.map(drop)
}

fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tokio::io::AsyncReadExt as _;
    use tokio::net::unix::pipe;

    use super::*;

    fn news() -> Notification {
        Notification {
            id: "t07 waits".into(),
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
    async fn the_notification_program_is_told_what_waits() {
        let home = tempfile::tempdir().expect("temp dir");
        let script = "printf '%s|%s|%s|%s|%s' \"$PILOTHOUSE_KIND\" \"$PILOTHOUSE_NAME\" \"$PILOTHOUSE_WHAT\" \
                      \"$PILOTHOUSE_SAID\" \"$1\" > \"$PILOTHOUSE_WORKSPACE/told\"";
        let (_waits, withdrawn) = oneshot::channel();
        let ran = run_within(PATIENCE, &shell(script), &news(), home.path().to_owned(), withdrawn).await;
        ran.expect("runs");
        let told = std::fs::read_to_string(home.path().join("told")).expect("told");
        assert_eq!(told, "input|t07|needs a line|name: $(true)|t07 needs a line: name: $(true)");
    }

    /// Reports that it runs, then starts something that holds the same pipe: the pipe ends when both have
    /// ended.
    const STARTS: &str = "exec 3>\"$PILOTHOUSE_WORKSPACE/pipe\"; printf started >&3; sleep 600 & wait";

    fn pipe(home: &Path) -> pipe::Receiver {
        let path = home.join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).expect("made");
        pipe::OpenOptions::new().open_receiver(path).expect("opens")
    }

    #[tokio::test]
    async fn the_notification_program_and_its_children_end_at_its_time_limit() {
        let home = tempfile::tempdir().expect("temp dir");
        let mut pipe = pipe(home.path());
        let (_waits, withdrawn) = oneshot::channel();
        // Long enough for a shell to start on a busy machine.
        let limit = Duration::from_secs(3);
        let ran = run_within(limit, &shell(STARTS), &news(), home.path().to_owned(), withdrawn).await;
        assert!(ran.expect_err("too long").to_string().contains("took longer"));
        let mut said = String::new();
        pipe.read_to_string(&mut said).await.expect("ends");
        assert_eq!(said, "started");
    }

    #[tokio::test]
    async fn the_notification_program_and_its_children_end_when_the_item_waits_no_longer() {
        let home = tempfile::tempdir().expect("temp dir");
        let mut pipe = pipe(home.path());
        let mut hooks = Hooks::default();
        let withdrawn = hooks.begin(&news());
        let ran = tokio::spawn(run(shell(STARTS), news(), home.path().to_owned(), withdrawn));
        let mut said = [0; 7];
        pipe.read_exact(&mut said).await.expect("started");
        hooks.withdraw("another");
        hooks.withdraw(&news().id);
        assert!(ran.await.expect("ends").is_none(), "nothing went wrong");
        assert_eq!(pipe.read_to_string(&mut String::new()).await.expect("ends"), 0);
    }

    #[tokio::test]
    async fn the_notification_program_does_not_begin_for_an_item_that_waits_no_longer() {
        let home = tempfile::tempdir().expect("temp dir");
        let mut hooks = Hooks::default();
        let withdrawn = hooks.begin(&news());
        hooks.withdraw(&news().id);
        let begins = shell("touch \"$PILOTHOUSE_WORKSPACE/begun\"");
        assert!(run(begins, news(), home.path().to_owned(), withdrawn).await.is_none());
        assert!(!home.path().join("begun").exists());
    }

    #[tokio::test]
    async fn a_failure_of_the_notification_program_is_reported() {
        let mut hooks = Hooks::default();
        let failed = run(shell("exit 3"), news(), "/".into(), hooks.begin(&news())).await;
        assert!(matches!(failed, Some(Msg::Failed(text)) if text == "run sh from console.notify: it failed"));
        let nowhere = run(vec!["/nowhere".into()], news(), "/".into(), hooks.begin(&news())).await;
        assert!(matches!(nowhere, Some(Msg::Failed(_))));
    }
}
