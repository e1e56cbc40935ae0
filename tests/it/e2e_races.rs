//! Things that happen at the same moment, or at the wrong moment.

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Agent, Console, HOLDERS, Home, Tag, wait_until};

const SIZE: (u16, u16) = (80, 24);

#[test]
fn consoles_and_agents_that_start_at_once_meet_in_one_runtime() {
    for _ in 0..5 {
        let home = Home::new();
        std::thread::scope(|scope| {
            let consoles = [(); 3].map(|()| scope.spawn(|| Console::open(&home, &[], SIZE)));
            let agents = ["one", "two", "three"].map(|label| {
                let home = &home;
                scope.spawn(move || Agent::connect(home, &["--label", label]))
            });
            let agents = agents.map(|agent| agent.join().expect("connects"));
            let consoles = consoles.map(|console| console.join().expect("opens"));
            agents[0].task("echo we-all-see-it; exec sleep 60");
            for console in &consoles {
                console.shows("we-all-see-it");
                console.shows("3 of 3 agents");
                for row in ["   one ", "   two ", "   three "] {
                    console.shows(row);
                }
            }
        });
    }
}

#[test]
fn a_second_console_attaches_and_hears_when_the_first_one_takes_the_runtime_along() {
    let home = Home::new();
    let mut first = Console::open(&home, &[], SIZE);
    first.shows("no agent yet");
    let mut second = Console::open(&home, &[], SIZE);
    second.shows("no agent yet");
    second.keys(b"oecho from the second; exec sleep 60\r");
    first.shows("from the second");
    first.stop_all_and_quit();
    second.shows("RUNTIME GONE");
    second.keys(b"\x1d");
    second.shows("OBSERVE");
    // The last state it received: the end itself may no longer have got through.
    second.shows_one(&["interrupted", "cancelling"]);
    second.keys(b"q");
    assert_eq!(second.exit(), 0);
    second.is_as_it_was();
}

#[test]
fn nothing_survives_a_headless_runtime_that_is_killed_and_its_console_says_so() {
    let home = Home::new();
    let tag = Tag::new();
    let agent = Agent::connect_first(&home, &[]);
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("rmcp");
    agent.task(&tag.hostile_tree());
    wait_until("the tree is there", || tag.holders().len() >= HOLDERS);
    let runtime = rustix::process::Pid::from_raw(home.runtime_pid()).expect("a pid");
    rustix::process::kill_process(runtime, Signal::KILL).expect("killed");
    wait_until("nothing survives", || tag.holders().is_empty());
    console.shows("RUNTIME GONE");
    console.keys(b"q");
    assert_eq!(console.exit(), 0);
    console.is_as_it_was();
    // The next runtime starts afresh, whoever asks for it.
    let answer = agent.call("ExecCommand", &json!({"cmd": "echo anew"}));
    assert_eq!(answer.result("/stdout_preview"), "anew\n");
    let next = Console::open(&home, &[], SIZE);
    next.shows("echo anew");
}

#[test]
fn an_attached_console_whose_window_is_closed_leaves_the_tasks_running() {
    let home = Home::new();
    let tag = Tag::new();
    let agent = Agent::connect_first(&home, &[]);
    let mut console = Console::open(&home, &[], SIZE);
    let task = agent.task(&format!("echo it-runs; exec sleep {}", tag.0));
    console.shows("it-runs");
    tag.asleep();
    console.hang_up();
    assert_eq!(console.exit(), 129);
    let status = agent.call("TaskStatus", &json!({"task_id": task}));
    assert_eq!(status.result("/task/status"), "running");
    assert_eq!(tag.holders().len(), 1);
}

#[test]
fn f29_a_storm_of_window_sizes_ends_at_the_last_one() {
    let home = Home::new();
    let mut console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    console.keys(b"owhile :; do stty size; sleep 0.02; done\r");
    console.shows(" INPUT t01");
    for step in 0..300_u16 {
        let (columns, rows) = [(1, 1), (2, 2), (1000, 1000), (40, 8), (59, 14), (80 + step, 24), (200, 60)]
            [usize::from(step) % 7];
        console.resize(columns, rows);
        console.keys(b"x");
    }
    console.resize(100, 30);
    console.shows("26 100");
    console.keys(b"\x1d");
    console.shows(" OBSERVE ");
    console.stop_all_and_quit();
    console.is_as_it_was();
}

#[test]
fn f28_signals_in_any_order_end_the_console_once_and_restore_the_terminal() {
    let signals = [Signal::TERM, Signal::WINCH, Signal::CONT, Signal::INT, Signal::HUP, Signal::QUIT];
    for turn in 0..signals.len() {
        let home = Home::new();
        home.configure("config.toml", "[console]\non_hangup = \"end\"\n");
        let tag = Tag::new();
        let mut console = Console::open(&home, &[], SIZE);
        if turn % 2 == 0 {
            console.shows("no agent yet");
            console.keys(format!("osleep {}\r", tag.0).as_bytes());
            tag.asleep();
        } else {
            // The earliest moment at which the terminal is known to be taken over.
            console.wait_for("its screen", vt100::Screen::alternate_screen);
        }
        for at in 0..signals.len() {
            console.kill(signals[(turn + at) % signals.len()]);
        }
        let code = console.exit();
        assert!([129, 130, 131, 143].contains(&code), "turn {turn}: {code}");
        console.is_as_it_was();
        assert_eq!(tag.holders(), Vec::<u32>::new(), "turn {turn}");
    }
}

#[test]
fn f39_an_agent_and_a_person_that_type_at_once_do_not_mix() {
    let home = Home::new();
    let console = Console::open(&home, &[], SIZE);
    console.shows("no agent yet");
    let agent = Agent::connect(&home, &[]);
    let task = agent.task("while read -r line; do echo \"got $line.\" >> got; done");
    console.shows("waiting for input");
    console.keys(b"i");
    console.shows(" LINE t01");
    let (mut asked, mut refused) = (0, 0);
    // The console may need a while for the first of the person's lines, from which on the agent has to wait.
    wait_until("both have typed, and the person was not disturbed", || {
        let input = json!({"task_id": task, "input": format!("agent-agent-agent {asked}\n")});
        let answer = agent.ask("TaskInput", &input);
        // `Alt-Enter` sends the line and stays in the prompt for the next one.
        console.keys(format!("person-person-person {asked}\x1b\r").as_bytes());
        let answer = agent.answer(answer);
        asked += 1;
        refused += usize::from(answer.result("/accepted_input") == false);
        asked >= 20 && refused > 0
    });
    // Not on the terminal, where the echo of one line and the answer to another may mix.
    let got = || std::fs::read_to_string(home.workspace().join("got")).unwrap_or_default();
    wait_until("a line of the person's was read", || got().contains("person"));
    agent.call("TaskStop", &json!({"task_id": task}));
    agent.call("TaskOutput", &json!({"task_id": task}));
    let text = got();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let pure = matches!(words[..], ["got", "agent-agent-agent" | "person-person-person", _]);
        assert!(pure, "{line} in\n{text}");
    }
}
