//! A program in a terminal of a real runtime: started, typed into, inspected, ended.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pilothouse::config::{EnvSettings, Limits};
use pilothouse::envelope::{Actor, TaskId};
use pilothouse::model::{ExecOutcome, ExecRequest, TaskStatus, TypedInput, Until};
use pilothouse::runtime::{Handle, Leftovers, Options, TaskScreen, log_path};
use pilothouse::terminal::{ByteOrigin, Color, KeyPress, Size, Terminal};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::differences::{self, Places};
use super::picture::{Found, Picture};
use super::tmux::Tmux;
use crate::support::{skip, spawner, wait_until, wait_until_or};

/// Columns and rows of every terminal in the corpus.
const SIZE: (u16, u16) = (80, 24);
const LONG: Duration = crate::support::PATIENCE;

/// The folders of one program, before it starts.
pub(super) struct Stage {
    name: &'static str,
    dir: TempDir,
}

/// A running program.
pub(super) struct Session {
    stage: Stage,
    tokio: Runtime,
    runtime: Handle,
    task: TaskId,
    screen: Arc<TaskScreen>,
    log: PathBuf,
    checkpoints: Vec<Checkpoint>,
}

/// A screen and the bytes that drew it.
struct Checkpoint {
    name: &'static str,
    bytes: Vec<u8>,
    picture: Picture,
}

impl Stage {
    /// Creates the folders; `None`, with a skip notice, if one of the programs or tmux is missing.
    pub(super) fn with(name: &'static str, programs: &[&str]) -> Option<Self> {
        for wanted in programs.iter().chain(&["tmux"]) {
            if !has(wanted) {
                skip(&format!("no {wanted} on this machine, so {name} is not compared"));
                return None;
            }
        }
        let dir = tempfile::tempdir().expect("temp dir");
        std::fs::create_dir(dir.path().join("work")).expect("workspace");
        Some(Self { name, dir })
    }

    /// Where the program starts.
    pub(super) fn workspace(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Writes a file there.
    pub(super) fn file(self, name: &str, text: &str) -> Self {
        let path = self.workspace().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        std::fs::write(path, text).expect("written");
        self
    }

    /// Starts the program.
    pub(super) fn run(self, cmd: &str) -> Session {
        let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let tokio = tokio.expect("tokio");
        let runtime = {
            let _inside = tokio.enter();
            Handle::start(Options {
                workspace: self.workspace(),
                recordings: self.dir.path().join("recordings"),
                lanes: self.dir.path().join("lanes"),
                socket: self.dir.path().join("agent.sock"),
                headless: true,
                environment: environment(self.dir.path()),
                env: EnvSettings::default(),
                spawner: spawner(&Limits::default()),
                limits: Limits::default(),
            })
        };
        let runtime = runtime.expect("runtime");
        let started = tokio.block_on(runtime.exec(request(cmd, &self.workspace()))).expect("exec");
        let ExecOutcome::Promoted(view) = started else { panic!("{started:?}") };
        let task = view.id.clone();
        let screen = runtime.screen(&task).expect("a screen");
        Session {
            log: log_path(&view.folder),
            stage: self,
            tokio,
            runtime,
            task,
            screen,
            checkpoints: Vec::new(),
        }
    }
}

impl Session {
    /// Waits until the screen shows `text`.
    #[track_caller]
    pub(super) fn shows(&mut self, text: &str) -> &mut Self {
        wait_until_or(
            || format!("{text:?}; the screen shows:\n{}\n", self.text()),
            || self.text().contains(text),
        );
        self
    }

    /// Waits until the program shows its prompt with nothing behind it. What is typed between a command's output and
    /// the next prompt is echoed by the kernel and then again by the line editor.
    #[track_caller]
    pub(super) fn prompts(&mut self, prompt: &str) -> &mut Self {
        let is_last = |text: &str| text.trim_end().lines().next_back() == Some(prompt);
        wait_until_or(
            || format!("the prompt {prompt:?}; the screen shows:\n{}\n", self.text()),
            || is_last(&self.text()),
        );
        self
    }

    /// Waits until the screen no longer shows `text`. A screen that cannot be read at the moment tells nothing.
    #[track_caller]
    pub(super) fn hides(&mut self, text: &str) -> &mut Self {
        let is_hidden = |terminal: &Terminal| !terminal.screen_text().contains(text);
        wait_until_or(
            || format!("no {text:?}; the screen shows:\n{}\n", self.text()),
            || self.screen.try_read(is_hidden) == Some(true),
        );
        self
    }

    /// Waits until the screen shows anything in colour.
    #[track_caller]
    pub(super) fn is_coloured(&mut self) -> &mut Self {
        let is_coloured = |terminal: &Terminal| {
            Picture::of(terminal).rows.iter().flatten().any(|seen| seen.style.fg != Color::Default)
        };
        wait_until_or(
            || format!("something in colour; the screen shows:\n{}\n", self.text()),
            || self.screen.try_read(is_coloured) == Some(true),
        );
        self
    }

    /// Waits until the program has set a title: by then everything before it has been processed.
    #[track_caller]
    pub(super) fn is_titled(&mut self, title: &str) -> &mut Self {
        let is_titled = |terminal: &Terminal| terminal.title() == Some(title);
        wait_until(&format!("the title {title:?}"), || self.screen.try_read(is_titled) == Some(true));
        self
    }

    #[track_caller]
    pub(super) fn types(&mut self, text: &str) -> &mut Self {
        self.input(TypedInput::Raw(text.as_bytes().to_vec()))
    }

    /// Presses keys by name.
    #[track_caller]
    pub(super) fn presses(&mut self, names: &[&str]) -> &mut Self {
        let keys = names.iter().map(|name| KeyPress::parse(name).expect("a key")).collect();
        self.input(TypedInput::Keys(keys))
    }

    fn input(&mut self, input: TypedInput) -> &mut Self {
        let sent =
            self.tokio.block_on(self.runtime.input(&Actor::Operator, &self.task, input)).expect("input");
        assert!(sent.accepted, "{sent:?}");
        self
    }

    /// Keeps the current screen and the bytes that drew it: the contents of the log, once the screen has processed
    /// all of them. Redrawn from the log, it must look the same.
    #[track_caller]
    pub(super) fn checkpoint(&mut self, name: &'static str) -> &mut Self {
        let mut taken = None;
        wait_until(&format!("the screen at {name:?} shows what the log holds"), || {
            let bytes = std::fs::read(&self.log).expect("the log");
            let Some(picture) = self.screen.try_read(Picture::of) else { return false };
            let is_all = self.log_bytes() == bytes.len() as u64;
            if !is_all || picture != replayed(&bytes) {
                return false;
            }
            taken = Some(Checkpoint { name, bytes, picture });
            true
        });
        self.checkpoints.extend(taken);
        self
    }

    /// Waits for the program to exit by itself.
    #[track_caller]
    pub(super) fn ends(&mut self) -> &mut Self {
        let ended =
            self.tokio.block_on(self.runtime.wait(&self.task, Until::Terminal, LONG)).expect("a task");
        assert!(ended, "the program ends; the screen shows:\n{}\n", self.text());
        let task = self.runtime.task(&self.task).expect("the task");
        assert_eq!(task.status, TaskStatus::Completed, "{task:?}");
        self
    }

    /// Compares every checkpoint with tmux.
    #[track_caller]
    pub(super) fn is_compared(&mut self) {
        self.compared(|checkpoint, _| checkpoint.name.to_owned());
    }

    /// The same for screens with one sample per row, which begins with its name.
    #[track_caller]
    pub(super) fn is_compared_by_samples(&mut self) {
        let (found, listed) = (Tmux::version().unwrap_or_default(), differences::listed_version());
        if found != listed {
            return skip(&format!("the samples are held against tmux {listed}, and this is {found}"));
        }
        self.compared(|checkpoint, row| {
            let text = row.map(|row| checkpoint.picture.text(row));
            let name = text.and_then(|text| text.split_once(':').map(|(name, _)| name.to_owned()));
            name.unwrap_or_else(|| checkpoint.name.to_owned())
        });
    }

    #[track_caller]
    fn compared(&mut self, place: impl Fn(&Checkpoint, Option<usize>) -> String) {
        assert!(!self.checkpoints.is_empty(), "nothing to compare");
        let tmux = Tmux::start(self.stage.dir.path(), size());
        let mut places = Places::new();
        for checkpoint in &self.checkpoints {
            let theirs = tmux.shows(&checkpoint.bytes);
            let mut note =
                |row, found: Found| places.entry(place(checkpoint, row)).or_default().extend(found);
            note(None, checkpoint.picture.differing_state(&theirs));
            for (row, found) in checkpoint.picture.differing_rows(&theirs) {
                note(Some(row), found);
            }
        }
        differences::must_be_as_listed(self.stage.name, &places);
    }

    fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).expect("the log").len()
    }

    fn text(&self) -> String {
        self.screen.try_read(Terminal::screen_text).unwrap_or_default()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.tokio.block_on(self.runtime.shutdown());
    }
}

/// Tells whether a program is installed.
pub(super) fn has(wanted: &str) -> bool {
    let path = std::env::var_os("PATH").expect("a path");
    std::env::split_paths(&path).any(|folder| folder.join(wanted).is_file())
}

fn size() -> Size {
    Size::nearest(SIZE.0, SIZE.1)
}

fn replayed(bytes: &[u8]) -> Picture {
    let mut terminal = Terminal::new(size(), ByteOrigin::Tty);
    terminal.feed(bytes);
    Picture::of(&terminal)
}

/// Nothing from the user's environment except where programs are found.
fn environment(home: &Path) -> Vec<(OsString, OsString)> {
    let kept = ["PATH", "RUSTUP_TOOLCHAIN"];
    let kept = kept.iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let rustup = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    let rustup = rustup.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".rustup")));
    let own = [
        ("HOME", home.to_path_buf()),
        ("RUSTUP_HOME", rustup.unwrap_or_default()),
        ("LANG", "C.UTF-8".into()),
        ("SHELL", "/bin/sh".into()),
        ("TZ", "UTC".into()),
    ];
    kept.chain(own.map(|(name, value)| (name.into(), value.into_os_string()))).collect()
}

fn request(cmd: &str, base: &Path) -> ExecRequest {
    ExecRequest {
        actor: Actor::Operator,
        call: 1,
        cmd: cmd.into(),
        shell: Some("/bin/sh".into()),
        login: false,
        workdir: None,
        base: base.to_path_buf(),
        tty: true,
        size: Some(size()),
        accepts_input: true,
        yield_after: Some(Duration::ZERO),
        timeout: None,
        leftovers: Leftovers::End,
        description: None,
        item: None,
        step: None,
        native: None,
    }
}
