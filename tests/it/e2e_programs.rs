//! Full-screen and line-oriented programs in the Focus screen: started, typed into, resized, exited.

use std::process::{Command, Stdio};

use crate::support::{Console, Home, Tag, skip};

/// A program that a person has opened in the console.
struct Opened<'a> {
    console: Console,
    home: &'a Home,
}

impl<'a> Opened<'a> {
    /// Starts `cmd` with `o` and waits until it shows one of `ready`: the window is resized later, and a program
    /// that has only just asked for its size would miss that. `None` if the program is missing.
    fn start(home: &'a Home, cmd: &str, ready: &[&str]) -> Option<Self> {
        let program = cmd.split_whitespace().next().expect("a program");
        // Not through Pilothouse: that would start a runtime, and the console would show the command.
        let asked =
            Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
        if !asked.is_ok_and(|told| told.success()) {
            skip(&format!("no {program} on this machine"));
            return None;
        }
        let console = Console::open(home, &[], (80, 24));
        console.shows("a command of your own, here");
        console.keys(format!("o{cmd}\r").as_bytes());
        console.shows_one(ready);
        console.shows(" INPUT t01");
        Some(Self { console, home })
    }

    fn types(&self, keys: &str) -> &Self {
        self.console.keys(keys.as_bytes());
        self
    }

    #[track_caller]
    fn shows(&self, text: &str) -> &Self {
        self.console.shows(text);
        self
    }

    /// The window becomes 100 x 30: 26 rows are left for the program, which shows `answer` in them.
    #[track_caller]
    fn grows(&self, answer: &str) -> &Self {
        self.console.resize(100, 30);
        self.shows("100x26").shows(answer)
    }

    /// The program has exited by itself; the console continues, and then leaves no trace on the terminal.
    #[track_caller]
    fn has_ended_well(mut self) {
        self.shows("t01 exited; press any key").types("qqq\x1d").shows(" OBSERVE ").shows("exit 0 · ran");
        self.types("q");
        assert_eq!(self.console.exit(), 0);
        self.console.is_as_it_was();
        assert!(!self.home.places().agent_socket().exists());
    }
}

#[test]
fn vim_is_typed_into_resized_and_left() {
    let home = Home::new();
    let Some(vim) = Opened::start(&home, "vim -u NONE -N harbour.txt", &["\n~\n~"]) else { return };
    vim.shows("\n~\n~\n").types("iline one\rline two\x1b").shows("line two");
    vim.grows(&"\n~".repeat(23)).types(":echo &columns 'by' &lines\r").shows("100 by 26");
    vim.types(":s/two/three/\r").shows("line three").types(":wq\r");
    let path = home.workspace().join("harbour.txt");
    vim.has_ended_well();
    assert_eq!(std::fs::read_to_string(path).expect("written"), "line one\nline three\n");
}

#[test]
fn less_pages_searches_and_leaves() {
    let home = Home::new();
    std::fs::write(
        home.workspace().join("log"),
        (1..=2_000).map(|n| format!("row {n}\n")).collect::<String>(),
    )
    .expect("written");
    let Some(less) = Opened::start(&home, "less log", &["\nrow "]) else { return };
    less.shows("row 1\n").types("G").shows("row 2000").types("g").shows("row 1\n");
    less.grows("\nrow 25\n").types("/row 777\r").shows("row 777").types("q");
    less.has_ended_well();
}

#[test]
fn python_is_typed_into_resized_and_left() {
    let home = Home::new();
    let Some(python) = Opened::start(&home, "python3 -q", &["\n>>>"]) else { return };
    // Text typed before the prompt appears is edited by the terminal, not by the program.
    python.shows(">>>").types("6 * 7\r").shows("\n42\n>>>");
    python.types("print('x' * 5 + '!')\x1b[D\x1b[D\x7f9\r").shows("\nxxxxx9\n>>>");
    python.grows(">>>").types("import os; os.get_terminal_size()\r").shows("columns=100, lines=26");
    python.types("exit()\r");
    python.has_ended_well();
}

#[test]
fn htop_or_top_draws_and_follows_the_window() {
    for (cmd, leave) in [("htop", "q"), ("top -d 1", "q")] {
        let home = Home::new();
        let Some(top) = Opened::start(&home, cmd, &["PID", "F1Help", "0:0"]) else { continue };
        top.shows("PID").grows("PID").types(leave);
        top.has_ended_well();
    }
}

#[test]
fn bash_runs_jobs_and_takes_an_interrupt_in_a_pane() {
    let home = Home::new();
    let Some(bash) = Opened::start(&home, "bash --norc --noprofile -i", &["\nbash-"]) else { return };
    let tag = Tag::new();
    bash.shows("\nbash-").types("echo $((40 + 2))\r").shows("\n42\nbash-");
    bash.types(&format!("sleep {}\r", tag.0));
    tag.asleep();
    bash.types("\x03").shows("^C\nbash-").types("echo interrupted $?\r").shows("interrupted 130\nbash-");
    bash.types("sleep 300 &\r")
        .shows("[1] ")
        .types("jobs\r")
        .shows("Running")
        .types("kill %1; wait; clear\r");
    bash.grows("bash-").types("stty size\r").shows("26 100\nbash-");
    // Pressing the escape chord twice passes it to the program: after the shell's quoted insert it shows as ^].
    bash.types("echo \x16\x1d").shows(" OBSERVE ").types("\x1d").shows(" INPUT t01").shows("echo ^]");
    bash.types("\rexit\r");
    bash.has_ended_well();
}

/// A row of the list that names a command, and who it is by.
fn by_of(screen: &str, cmd: &str) -> Option<String> {
    let row = screen.lines().find(|row| row.contains(cmd) && row.contains(" exit 0 "))?;
    row.split_once(" exit 0 ")?.1.split_whitespace().next().map(str::to_owned)
}

#[test]
fn a_prose_file_started_in_the_console_and_its_commands_belong_to_the_person() {
    let home = Home::new();
    let program = "let said = exec \"echo built\"\nlet done = exec \"echo shipped\"\n";
    std::fs::write(home.workspace().join("ship.prose"), program).expect("written");
    let mut console = Console::open(&home, &[], (120, 40));
    console.shows("a command of your own, here");
    console.keys(b"oship.prose\r");
    console.shows("completed");
    console.keys(b"1");
    for cmd in ["echo built", "echo shipped"] {
        let by = console.shown_until("a row with its origin", |screen| by_of(screen, cmd));
        assert_eq!(by, "you", "{}", console.text());
    }
    console.keys(b"fy");
    console.shows("yours  2 of 2");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
}
