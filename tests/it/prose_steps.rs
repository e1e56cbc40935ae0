//! The commands of a program as the runtime runs them: sourced, in any directory, ended early (the case numbers are
//! those of `docs/prose.md`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pilothouse::config::Limits;
use pilothouse::envelope::{Actor, TaskId};
use pilothouse::model::{ExecOutcome, ExecRequest, Exit, ProgramStep, Stop, TaskStatus, TaskView, Until};
use pilothouse::process::script;
use pilothouse::runtime::{Handle, Leftovers, OutputStream};

use crate::support::{Tag, start_limited, wait_until};

const LONG: Duration = crate::support::PATIENCE;

struct Bench {
    runtime: Handle,
    dir: tempfile::TempDir,
}

impl Bench {
    fn start() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        // A program's command has a grace period of its own: none of these tests would end with this one.
        let limits = Limits { stop_grace: Duration::from_secs(600), ..Limits::default() };
        let (runtime, _) = start_limited(dir.path(), limits);
        Self { runtime, dir }
    }

    fn work(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("canonical").join("work")
    }

    fn request(&self, cmd: &str) -> ExecRequest {
        ExecRequest {
            actor: Actor::Cli,
            call: 1,
            cmd: cmd.into(),
            shell: Some(self.runtime.step_shell()),
            login: false,
            workdir: None,
            base: self.work(),
            tty: false,
            size: None,
            accepts_input: false,
            yield_after: None,
            timeout: None,
            leftovers: Leftovers::Keep,
            description: None,
            item: None,
            step: Some(ProgramStep { id: TaskId::random(), variables: Vec::new() }),
            native: None,
        }
    }

    async fn run(&self, cmd: &str) -> Arc<TaskView> {
        self.completed(self.request(cmd)).await
    }

    async fn completed(&self, request: ExecRequest) -> Arc<TaskView> {
        match self.runtime.exec(request).await.expect("exec") {
            ExecOutcome::Completed(task) => task,
            outcome => panic!("{outcome:?}"),
        }
    }

    async fn stdout(&self, task: &TaskView) -> String {
        let output = self.runtime.output_of(task).expect("output");
        let (bytes, _) = output.beginning(OutputStream::Stdout, 1 << 20).await.expect("readable");
        String::from_utf8(bytes).expect("UTF-8")
    }
}

fn status(task: &TaskView) -> Option<i32> {
    task.ended.as_ref().and_then(|ended| ended.exit_status)
}

#[tokio::test]
async fn every_way_to_end_a_command_tells_where_it_ended_and_keeps_its_status() {
    let bench = Bench::start();
    let d = bench.work().join("d");
    std::fs::create_dir(&d).expect("folder");
    // Command, status, and whether it reports the directory it ended in.
    let shapes = [
        ("cd d", 0, true),
        ("cd d; false", 1, true),
        ("cd d; exit 7", 7, true),
        ("cd d; exit", 0, true),
        ("set -e; cd d; false; echo no", 1, true),
        ("set -u; cd d; : $nothing_here_is_set", 127, true),
        ("f() { cd d; exit 3; }; f", 3, true),
        ("set -C; cd d", 0, true),
        ("pwd() { echo /nowhere; }; cd d", 0, true),
        // As bash says of a text that is no file and no function.
        ("cd d; return 5", 2, true),
        ("trap 'true' EXIT; cd d", 0, true),
        ("cd d; cat <<E\nx\nE", 0, true),
        ("cd d; exec >/dev/null; echo x", 0, true),
        ("cd d & wait", 0, true),
        ("(cd d)", 0, true),
        ("trap 'true' EXIT; cd d; exit 4", 4, false),
        ("cd d; exec true", 0, false),
        ("cd d; kill -KILL $$", -1, false),
        ("mkdir -p gone; cd gone; rmdir ../gone", 0, false),
    ];
    for (cmd, code, tells) in shapes {
        let task = bench.run(cmd).await;
        if code >= 0 {
            assert_eq!(status(&task), Some(code), "{cmd}");
        }
        let stays = cmd == "cd d & wait" || cmd == "(cd d)";
        let expected = tells.then(|| if stays { bench.work() } else { d.clone() });
        assert_eq!(script::final_directory(&task.folder), expected, "{cmd}");
    }
}

#[tokio::test]
async fn the_task_shows_the_programs_command_and_its_text_may_be_long() {
    let bench = Bench::start();
    let long = format!("printf '%s' {} | wc -c", "x".repeat(300_000));
    let task = bench.run(&long).await;
    assert_eq!(task.cmd, long);
    assert_eq!(bench.stdout(&task).await.trim(), "300000");
}

#[tokio::test]
async fn a_programs_command_may_start_outside_the_workspace() {
    let bench = Bench::start();
    let outside = bench.dir.path().canonicalize().expect("canonical");
    let task = bench.completed(ExecRequest { base: outside.clone(), ..bench.request("pwd") }).await;
    assert_eq!(Path::new(bench.stdout(&task).await.trim()), outside);
    let gone = ExecRequest { base: outside.join("gone"), ..bench.request("true") };
    let refused = bench.runtime.exec(gone).await.expect_err("there is no such directory");
    assert!(refused.to_string().contains("gone"), "{refused}");
}

#[tokio::test]
async fn output_is_taken_as_it_was_written_without_aliases_functions_or_profiles() {
    // docs/prose-rules.md#rule-33, #rule-42.
    let bench = Bench::start();
    let task = bench.run(r"printf 'a\033[1mb\r\n\n'; shopt -q login_shell && echo login; alias").await;
    assert_eq!(bench.stdout(&task).await, "a\u{1b}[1mb\r\n\n");
    let task =
        bench.run("printf '%s' \"$(printenv TERM)\"; printf '%s' \"${GIT_TERMINAL_PROMPT-unset}\"").await;
    let own = std::env::var("TERM").unwrap_or_default();
    assert_eq!(bench.stdout(&task).await, format!("{own}unset"));
}

#[tokio::test]
async fn a_timeout_ends_the_whole_tree_after_a_short_grace() {
    let (bench, tag) = (Bench::start(), Tag::new());
    let cmd = format!("trap '' TERM; sleep {} | cat", tag.0);
    let request = ExecRequest { timeout: Some(Duration::from_millis(300)), ..bench.request(&cmd) };
    let task = tokio::time::timeout(LONG, bench.completed(request)).await.expect("a short grace");
    assert_eq!(status(&task), Some(124));
    assert!(task.ended.as_ref().is_some_and(|ended| ended.timed_out));
    assert_eq!(tag.holders(), Vec::<u32>::new());
}

#[tokio::test]
async fn a_leftover_process_of_a_program_command_lives_on_until_it_is_stopped() {
    let (bench, tag) = (Bench::start(), Tag::new());
    let request = bench.request(&format!("sleep {} & cd ..; echo up; exit 3", tag.0));
    let ran = tokio::time::timeout(LONG, bench.runtime.exec(request)).await.expect("it is not waited for");
    let ExecOutcome::Promoted(task) = ran.expect("exec") else {
        panic!("nothing was left behind");
    };
    assert_eq!(task.shell_end(), Some(&Exit::Code(3)));
    assert_eq!(bench.stdout(&task).await, "up\n");
    assert_eq!(script::final_directory(&task.folder), bench.work().parent().map(Path::to_owned));
    bench.runtime.stop(&Actor::Cli, &task.id, Stop::default()).await.expect("stops");
    assert!(bench.runtime.wait(&task.id, Until::Terminal, LONG).await.expect("known"), "it ends");
    assert_eq!(tag.holders(), Vec::<u32>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_whose_caller_goes_away_is_ended() {
    let (bench, tag) = (Bench::start(), Tag::new());
    let request = bench.request(&format!("sleep {}", tag.0));
    let id = request.step.as_ref().expect("a step").id.clone();
    let runtime = bench.runtime.clone();
    let waiting = tokio::spawn(async move { runtime.exec(request).await });
    let seen = || bench.runtime.task(&id).is_some_and(|task| task.status == TaskStatus::Running);
    wait_until("the command runs", seen);
    waiting.abort();
    bench.runtime.abandon(&id, &Actor::System);
    assert!(bench.runtime.wait(&id, Until::Terminal, LONG).await.expect("known"), "it ends");
    assert_eq!(tag.holders(), Vec::<u32>::new());
}
