//! Detecting what a program waits for at its terminal: real programs, judged by what the kernel shows of them.

use serde_json::Value;

use crate::support::{Home, skip, wait_until, wait_until_or};

/// Starts a command on a terminal; returns the task's id.
fn start(home: &Home, cmd: &str) -> String {
    let started = home.call(&["command", "run", cmd, "--tty", "--yield-time-ms", "0", "--output", "json"]);
    let started: Value = serde_json::from_slice(&started.stdout).expect("JSON");
    started["data"]["task_handle"]["task_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
}

/// What a task is waiting for: kind and evidence; `None` if it is not waiting.
fn waits(home: &Home, task: &str) -> Option<(String, String)> {
    let status = home.call(&["task", "status", task, "--output", "json"]);
    let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
    let waiting = &status["data"]["task"]["waiting"];
    let word = |key: &str| waiting[key].as_str().map(str::to_owned);
    Some((word("kind")?, word("evidence")?))
}

#[track_caller]
pub(crate) fn comes_to_wait(home: &Home, task: &str, kind: &str, evidence: &str) {
    let expected = Some((kind.to_owned(), evidence.to_owned()));
    wait_until_or(
        || format!("{task} waits for {kind} by {evidence}, not {:?}", waits(home, task)),
        || waits(home, task) == expected,
    );
}

fn has(program: &str) -> bool {
    std::process::Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

const QUESTION: &str = "node -e 'const r = require(\"readline\").createInterface({input: process.stdin, output: process.stdout}); \
    r.question(\"package name: \", name => { console.log(\"hello \" + name); r.close(); })'";

#[test]
fn a_question_of_nodes_readline_is_seen_and_answered_and_servers_with_keys_ask_none() {
    if !has("node") {
        return skip("node is not installed");
    }
    let home = Home::new();
    home.serve_here();
    // As vite does: it reads keys all the time, and its last line is complete.
    let server = start(
        &home,
        "node -e 'process.stdin.setRawMode(true); process.stdin.on(\"data\", () => {}); console.log(\"press h to show help\")'",
    );
    let clock = start(
        &home,
        "node -e 'process.stdin.setRawMode(true); process.stdin.on(\"data\", () => {}); setInterval(() => {}, 100000); process.stdout.write(\"working \")'",
    );
    let output = |task: &str| {
        String::from_utf8_lossy(&home.call(&["task", "output", task, "--block=false"]).stdout).into_owned()
    };
    wait_until("both are up", || output(&server).contains("press h") && output(&clock).contains("working"));
    // The others have been checked just as often by the time this later one is found waiting.
    let question = start(&home, QUESTION);
    comes_to_wait(&home, &question, "line", "tty_poll");
    assert_eq!((waits(&home, &server), waits(&home, &clock)), (None, None));
    let told = home.call(&["task", "status", &question, "--output", "plain"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("at a prompt, perhaps waiting for input"), "{told}");
    home.call(&["task", "input", &question, "demo\r"]);
    wait_until("it is answered", || output(&question).contains("hello demo"));
}

#[test]
fn a_wait_in_poll_or_select_a_key_and_a_password_are_told_apart() {
    if !has("python3") {
        return skip("python3 is not installed");
    }
    let home = Home::new();
    home.serve_here();
    let python = |body: &str| {
        let lines = format!("import os, select, sys, termios, tty\nos.write(1, b\"go on? \")\n{body}");
        start(&home, &format!("python3 -c '{lines}'"))
    };
    let poll = python("p = select.poll(); p.register(0, select.POLLIN); p.poll()");
    let select = python("tty.setraw(0); select.select([0], [], [])");
    let key = python("tty.setraw(0); os.read(0, 1)");
    let secret = python(
        "m = termios.tcgetattr(0); m[3] &= ~termios.ECHO; termios.tcsetattr(0, termios.TCSANOW, m)\nselect.select([0], [], [])",
    );
    let line = python("os.read(0, 1)");
    comes_to_wait(&home, &poll, "line", "tty_poll");
    comes_to_wait(&home, &select, "line", "tty_poll");
    comes_to_wait(&home, &key, "key", "tty_read");
    comes_to_wait(&home, &secret, "secret", "echo_off");
    comes_to_wait(&home, &line, "line", "tty_read");
    // Weak evidence does not alert the operator.
    let short = String::from_utf8_lossy(&home.call(&["status", "--short"]).stdout).into_owned();
    assert_eq!(short, "●3 ◐2\n");
}

#[test]
fn a_reader_counts_wherever_it_is_on_the_terminal_and_nowhere_else() {
    if !has("python3") {
        return skip("python3 is not installed");
    }
    let home = Home::new();
    home.serve_here();
    // It asks nothing: the reader of the next one has another terminal under the same name.
    let working = start(&home, "stty -echo; printf 'working '; sleep 100");
    let own = start(&home, "printf 'name: '; read x < /dev/tty");
    let python = |body: &str| start(&home, &format!("python3 -c '{body}'"));
    let thread = python(
        "import threading\nt = threading.Thread(target=input, args=(\"name? \",))\nt.start(); t.join()",
    );
    // As an ordinary user, this process is closed to us, like one with another user's rights; as root it is not.
    let closed = python(
        "import ctypes, getpass\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\ngetpass.getpass(\"password: \")",
    );
    let session =
        start(&home, "t=$(tty); stty -echo; printf 'PIN: '; setsid -w sh -c 'read x <\"$0\"' \"$t\"");
    comes_to_wait(&home, &own, "line", "tty_read");
    comes_to_wait(&home, &thread, "line", "tty_read");
    comes_to_wait(&home, &closed, "secret", "echo_off");
    comes_to_wait(&home, &session, "secret", "echo_off");
    assert_eq!(waits(&home, &working), None);
}

/// Stand-ins for what real programs do at their terminal while they ask: what they run, and what is seen of it.
const ASKERS: [(&str, &str, &str); 12] = [
    // bash's `read -t`, lftp, certbot
    ("os.write(1, b'name: '); select.select([0], [], [], 60)", "line", "tty_poll"),
    // prompt_toolkit
    ("tty.setraw(0); os.write(1, b'name: ')\nwhile not poll(0.5): pass", "line", "tty_poll"),
    // node's readline, beside other files
    (
        "tty.setraw(0); os.write(1, b'name: '); e.register(0, 1); e.register(os.pipe()[0], 1); e.poll(60)",
        "line",
        "tty_poll",
    ),
    ("os.write(1, b'name: '); os.readv(0, [bytearray(9)])", "line", "tty_read"),
    ("os.write(1, b'name: '); os.splice(0, os.pipe()[1], 9)", "line", "tty_read"),
    (
        "os.write(1, b'name: '); threading.Thread(target=os.read, args=(0, 9)).start(); threading.Event().wait()",
        "line",
        "tty_read",
    ),
    // rpassword, and a password field of clack
    ("tty.setraw(0); os.write(1, b'Password: '); os.read(0, 1)", "secret", "tty_read"),
    (
        "tty.setraw(0); os.write(1, b'Kennwort\\r\\n|  _\\r\\n\\x1b[?25l'); select.select([0], [], [])",
        "secret",
        "tty_poll",
    ),
    // dialoguer, inquirer.py
    (
        "tty.setraw(0); os.write(1, b'Pick\\r\\n> a\\r\\n  b\\r\\n\\x1b[?25l'); select.select([0], [], [])",
        "key",
        "tty_poll",
    ),
    ("tty.setraw(0); os.write(1, b'Pick:\\r\\n> a\\r\\n  b\\r\\n'); os.read(0, 1)", "key", "tty_read"),
    // whiptail
    (
        "tty.setraw(0); os.write(1, b'\\x1b[?1049h\\x1b[HPick\\r\\n'); e.register(0, 1); e.poll(60)",
        "key",
        "tty_poll",
    ),
    // pinentry below an agent in another session, which is not below the task's shell
    (
        "import subprocess; tty.setraw(0); t = os.ttyname(0); subprocess.run(['setsid', '-f', sys.executable, '-c', 'import os, select; \
      t = os.open(\"' + t + '\", os.O_RDWR | os.O_NOCTTY); os.write(t, b\"PIN: \")\\nwhile not select.select([t], [], [], .07)[0]: pass'], \
      stdin=-3, stdout=-3); os.read(os.pipe()[0], 1)",
        "secret",
        "tty_poll",
    ),
];

/// Stand-ins for programs at work, which ask nothing.
const WORKERS: [&str; 6] = [
    // a reader that feeds a job
    "cat | sleep 100",
    "script -qc 'printf \"working: \"; sleep 100' /dev/null",
    // a working command in another host's terminal, and a server with keys of its own
    "python3 -c 'import select, tty, os; tty.setraw(0); os.write(1, b\"working \"); select.select([0, os.pipe()[0]], [], [])'",
    "python3 -c 'import select, tty, os; tty.setraw(0); os.write(1, b\"press h\\r\\n\"); select.select([0], [], [])'",
    // `watch`: children of it end
    "python3 -c 'import select, tty, os; tty.setraw(0); os.write(1, b\"every 2 s: \")\nwhile not select.select([0], [], [], .5)[0]: os.system(\"true\")'",
    // it uses the processor
    "python3 -c 'import select, tty, os; tty.setraw(0); os.write(1, b\"building: \")\nwhile not select.select([0], [], [], .05)[0]: sum(range(10**6))'",
];

#[test]
fn whatever_a_program_does_while_it_asks_it_is_seen_asking_and_one_at_work_is_not() {
    if !has("python3") {
        return skip("python3 is not installed");
    }
    let home = Home::new();
    home.serve_here();
    let workers = WORKERS.map(|cmd| start(&home, cmd));
    let asker = |(number, (body, _, _)): (usize, &(&str, &str, &str))| {
        let head = "import os, select, sys, threading, tty\ne = select.epoll()\n\
                    poll = lambda s: select.select([0], [], [], s)[0]\n";
        let file = format!("asks{number}.py");
        std::fs::write(home.workspace().join(&file), format!("{head}{body}\n")).expect("written");
        start(&home, &format!("python3 {file}"))
    };
    let askers: Vec<String> = ASKERS.iter().enumerate().map(asker).collect();
    // It has been silent for long before it asks, and prints nothing then.
    let late = start(&home, "printf 'name: '; sleep 12; read x");
    for (task, (_, kind, evidence)) in askers.iter().zip(ASKERS) {
        comes_to_wait(&home, task, kind, evidence);
    }
    comes_to_wait(&home, &late, "line", "tty_read");
    assert_eq!(workers.map(|task| waits(&home, &task)), [const { None }; WORKERS.len()]);
}
