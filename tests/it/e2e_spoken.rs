//! The plain-line console for real: in a terminal, without any terminal, attached, and beside a program.

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Agent, Console, Home, Tag, wait_until};

fn plain(home: &Home, args: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = home.command(args);
    command
        .env("TERM", "xterm-256color")
        .env("LANG", "C.UTF-8")
        .env_remove("LC_ALL")
        .env_remove("ACCESSIBLE");
    command.envs(variables.iter().copied());
    command
}

/// Starts a program with its streams on pipes.
fn piped(mut command: Command) -> (Child, ChildStdin) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let input = child.stdin.take().expect("an input");
    (child, input)
}

/// Asserts that nothing was drawn: not a single escape sequence reached the terminal.
fn drew_nothing(console: &Console) {
    let bytes = console.bytes();
    assert!(!bytes.contains(&0x1b), "{}", String::from_utf8_lossy(&bytes));
}

#[test]
fn a_day_in_plain_lines_with_a_secret_and_f51_a_paste_of_megabytes_that_is_refused_as_one() {
    let home = Home::new();
    let mut console = Console::of(&plain(&home, &[], &[("ACCESSIBLE", "1")]), (100, 60));
    console.shows("because of ACCESSIBLE in the environment");
    console.shows("0 quit: quit the console");
    console.keys(b"start printf 'Name? '; read -r name; echo \"Hello $name\"\n");
    console.shows("operator: started t01: printf");
    console.shows("system: t01 waiting for input (reading the terminal)");
    console.shows("t01: Name?");
    console.keys(b"line t01 Ada\n");
    console.shows("system: t01 ended: exit 0");
    console.keys(b"output t01\n");
    console.shows("t01: Hello Ada");
    console.asks_until(b"receipts\n", "operator TaskInput, success");

    // A secret is not seen, and the terminal shows again what is written.
    console.keys(b"start printf 'Password: '; stty -echo; read -r p; stty echo; echo \"length ${#p}\"\n");
    console.shows("t02 waiting for a password");
    console.keys(b"line t02\n");
    console.shows("It is not shown and not recorded.");
    console.keys(b"hunter2\n");
    console.shows("t02 ended: exit 0");
    console.keys(b"output t02\n");
    console.shows("t02: Password: length 7");
    assert!(!String::from_utf8_lossy(&console.bytes()).contains("hunter2"), "{}", console.text());

    console.keys(b"start sleep 1000\n");
    console.shows("operator: started t03: sleep 1000");
    // Control-D asks like quit while something runs, and so does Control-C.
    console.keys(b"\x04");
    console.shows("1 task is running. 1: stop all");
    console.keys(b"\n");
    console.shows("left as it is");
    console.keys(b"start sleep 1000\n");
    console.shows("operator: started t04: sleep 1000");
    console.keys(b"\x04");
    console.shows("2 tasks are running. 1: stop all");
    console.keys(b"\n");
    console.wait_for("it stays again", |screen| screen.contents().matches("left as it is").count() == 2);
    console.keys(b"stop t03\n");
    console.shows("stop t03?");
    console.keys(b"s\n");
    console.shows("t03 ended");

    console.keys("pasted words, and no command\n".repeat(100_000).as_bytes());
    console.shows("lines at once were not taken");
    // It is a line of its own once all before it has been read.
    console.asks_until(b"name t04 alive\n", "operator: named t04 alive");
    console.keys(b"\x03");
    console.shows("1 task is running. 1: stop all");
    console.keys(b"1\n");
    assert_eq!(console.exit(), 0);
    console.shows("Tasks: 2 completed");
    console.is_as_it_was_in_lines();
    drew_nothing(&console);
}

#[test]
fn f52_control_s_holds_up_the_printing_and_nothing_else() {
    let home = Home::new();
    let tag = Tag::new();
    let console = || {
        let console = Console::of(&plain(&home, &["--accessible"], &[]), (100, 60));
        console.shows("0 quit: quit the console");
        console
    };
    let mut first = console();
    let started = |file: &str| wait_until("the command has run", || home.workspace().join(file).exists());
    first.keys(format!("start sleep {}\n", tag.0).as_bytes());
    first.shows("operator: started t01");
    first.keys(b"start while :; do seq 1000; done\n");
    first.shows("operator: started t02");
    first.keys(b"follow t02\n");
    first.shows("t02: 1000");
    first.keys(b"\x13");
    first.keys(b"start touch one\n");
    started("one");
    first.keys(b"start touch two\n");
    started("two");
    first.keys(b"\x11");
    let printed = || String::from_utf8_lossy(&first.bytes()).contains("operator: started t04: touch two");
    wait_until("the printing goes on", printed);
    first.keys(b"\x13");
    first.kill(Signal::TERM);
    assert_eq!(first.exit(), 143);
    assert_eq!(tag.holders(), Vec::<u32>::new());

    let mut second = console();
    second.keys(b"\x13");
    let stopped = home.run(&["serve", "--stop", "--output", "plain"]);
    assert_eq!(String::from_utf8_lossy(&stopped.stdout), "stopped\n");
    assert_eq!(second.exit(), 0);

    let mut third = console();
    let mut stop = home.command(&["serve", "--stop"]).stdout(Stdio::null()).spawn().expect("starts");
    third.shows("the runtime ends within 5 s; /keep");
    third.keys(b"keep\n");
    third.shows("the runtime stays");
    assert!(!stop.wait().expect("ends").success());
    third.keys(b"0\n");
    assert_eq!(third.exit(), 0);
}

#[test]
fn an_attached_plain_console_tells_what_an_agent_does_and_answers_its_held_call() {
    let home = Home::new();
    let agent = Agent::connect(&home, &["--label", "claude"]);
    agent.call("TaskList", &json!({}));
    let mut console = Console::of(&plain(&home, &[], &[("TERM", "dumb")]), (100, 60));
    console.shows("because of TERM=dumb");
    console.shows("system: attached: the runtime goes on without this console");
    console.keys(b"pause\n");
    console.shows("operator: paused agents");
    let asked = agent.ask("ExecCommand", &json!({"cmd": "printf ran >ran", "yield_time_ms": 30000}));
    console.shows("agent claude: wants to run: printf ran >ran");
    console.keys(b"5\n");
    console.shows("write a number to answer");
    console.keys(b"1\n");
    console.shows("answer run (once) or deny");
    console.asks_until(b"run\n", "system: t01 ended: exit 0");
    assert!(home.workspace().join("ran").exists());
    assert_eq!(agent.answer(asked).result("/exit_status"), 0);
    console.shows("system: t01 ended: exit 0");
    agent.leave();
    console.shows("agent claude: has gone");
    // Nothing runs: Control-D leaves.
    console.keys(b"\x04");
    assert_eq!(console.exit(), 0);
    drew_nothing(&console);
}

#[test]
fn lines_before_a_quit_are_carried_out_embedded_and_attached() {
    for attached in [false, true] {
        let home = Home::new();
        let served = attached.then(|| home.serve());
        let (child, mut input) = piped(plain(&home, &["--accessible"], &[]));
        input.write_all(b"start touch f\nquit\n").expect("written");
        drop(input);
        let output = child.wait_with_output().expect("ends");
        let said = String::from_utf8(output.stdout).expect("text");
        assert_eq!(output.status.code(), Some(0), "{attached}: {said}");
        assert!(said.contains("operator: started t01: touch f"), "{attached}: {said}");
        wait_until("it ran", || home.workspace().join("f").exists());

        let (child, mut input) = piped(plain(&home, &["--accessible"], &[]));
        input
            .write_all(b"start printf x >>g\nrename t01 one\nstop t09\nstart touch h\nquit\n")
            .expect("written");
        drop(input);
        let said = String::from_utf8(child.wait_with_output().expect("ends").stdout).expect("text");
        assert!(said.contains("there is no task \"t09\""), "{attached}: {said}");
        wait_until("both ran", || ["g", "h"].iter().all(|file| home.workspace().join(file).exists()));
        let place = |text: &str| said.find(text).unwrap_or_else(|| panic!("{attached}: {text}: {said}"));
        assert!(place("printf x >>g") < place("there is no task"), "{attached}: {said}");
        assert!(place("there is no task") < place("touch h"), "{attached}: {said}");
        if let Some(mut served) = served {
            home.stop(&mut served);
        }
    }
}

#[test]
fn without_a_terminal_lines_come_from_a_pipe_to_a_runtime_and_to_its_recording() {
    let home = Home::new();
    let (child, mut input) = piped(plain(&home, &["--accessible"], &[("TERM", "")]));
    input
        .write_all(b"start printf 'one\\ntwo\\033[1;1HONE\\033[2;1H'; exit 3\nfollow t01\n")
        .expect("written");
    drop(input);
    // The end comes by itself.
    let output = child.wait_with_output().expect("ends");
    let said = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(0), "{said}");
    for line in [
        "system: accessible console, because of --accessible",
        "operator: started t01:",
        "system: t01 ended: exit 3",
        "system: nothing runs any more",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(!said.contains('\x1b'));

    // A recording tells output and last screen, though quit follows at once.
    let (child, mut input) = piped(plain(&home, &["open", "--accessible", "latest"], &[]));
    input.write_all(b"output t01\nscreen t01\nreceipts 1\nreceipts 99\nquit\n").expect("written");
    let output = child.wait_with_output().expect("ends");
    drop(input);
    let said = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(0), "{said}");
    for line in ["t01: two", "t01: ONE", "call 1, ExecCommand", "there is no call 99"] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(!said.contains("read-only"), "{said}");
}

#[test]
fn a_program_is_told_and_its_gate_is_not_opened_from_a_pipe() {
    let home = Home::new();
    let program = "let seen = exec \"echo built\"\ngate ship:\n  prompt: \"Ship it?\"\n  allow: [\"user\"]\nexec \"echo shipped\"\n";
    std::fs::write(home.workspace().join("ship.prose"), program).expect("written");
    let mut console = Console::of(&plain(&home, &["run", "--accessible", "ship.prose"], &[]), (100, 60));
    console.shows("runs the program ship.prose");
    console.shows("gate ship: Ship it?");
    console.keys(b"attention q01\n");
    console.shows("answer approve or reject");
    console.asks_until(b"approve\n", "ship.prose completed");
    console.keys(b"0\n");
    assert_eq!(console.exit(), 0);

    // A fresh runtime: the old one may not have noticed yet that the person has left.
    assert!(home.run(&["serve", "--stop"]).status.success());
    let unattended = plain(&home, &["run", "--accessible", "ship.prose"], &[]).output().expect("runs");
    assert_eq!(unattended.status.code(), Some(3), "nobody is there who may open the gate");
    // It waits with its gate until the console has connected: before, nobody is there.
    let program = program.replace("echo built", "until [ -e connected ]; do sleep 0.02; done");
    std::fs::write(home.workspace().join("wait.prose"), program).expect("written");
    let lazily = ["run", "--accessible", "--lazy-judgement", "wait.prose"];
    let (mut child, mut input) = piped(plain(&home, &lazily, &[]));
    let mut said = std::io::BufReader::new(child.stdout.take().expect("an output"));
    reads_to(&mut said, "runs the program wait.prose");
    std::fs::write(home.workspace().join("connected"), "").expect("written");
    let asked = reads_to(&mut said, "gate ship: Ship it?");
    let number = asked.split_whitespace().find(|word| word.starts_with('q')).expect("a number");
    input.write_all(format!("attention {number}\n").as_bytes()).expect("written");
    reads_to(&mut said, "only a person at a terminal can answer that");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("sent");
    assert_ne!(child.wait().expect("ends").code(), Some(0));
    home.run(&["serve", "--stop"]);
}

/// Reads lines until one contains `text`; returns that line.
fn reads_to(lines: &mut impl std::io::BufRead, text: &str) -> String {
    let mut all = String::new();
    loop {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).expect("reads") > 0, "{text}\n{all}");
        if line.contains(text) {
            return line;
        }
        all += &line;
    }
}
