//! Sessions answered by a command, run for real: what the command is given, what its result becomes, and who may end it.

use std::path::Path;
use std::process::{Output, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::prose_cases::run_folder;
use crate::support::{Agent, Desk, Family, Home, Tag, read_it, send, skip, wait_until, write_program};

/// A home with a program, and a scripted agent, which is a shell script.
fn home(program: &str, agent: &str) -> Home {
    let home = Home::new();
    write(&home, "p.prose", program);
    write_program(&home.workspace().join("agent"), &format!("#!/bin/sh\n{agent}\n"));
    home
}

fn write(home: &Home, name: &str, text: &str) {
    std::fs::write(home.workspace().join(name), text).expect("written");
}

fn read(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.workspace().join(name)).unwrap_or_default()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn run(home: &Home, args: &[&str]) -> Output {
    home.call(&[&["run", "p.prose", "--plain", "--session", "./agent"], args].concat())
}

#[track_caller]
fn ends(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}", text(output));
    text(output)
}

#[test]
fn a_command_gets_the_task_and_the_facts_and_its_output_is_the_value() {
    let home = home(
        "agent critic:\n  model: opus\n  prompt: \"You are strict.\"\n  skills: [\"pdf\"]\n  permissions:\n    bash: allow\n\
         let log = exec \"echo broken; exit 3\"\n  on-fail: \"continue\"\nlet why = session: critic\n  prompt: \"Say why\"\n  \
         context: log\noutput o = exec \"printf %s '{why}'\"\n",
        "cat > task; env | grep ^PILOTHOUSE_SESSION | sort > env; cat \"$PILOTHOUSE_SESSION_CONTEXT\" > context\n\
         echo a flaky port",
    );
    let said = ends(&run(&home, &[]), 0);
    assert!(said.contains("agent answered") && said.contains("o:\na flaky port"), "{said}");
    assert!(read(&home, "task").starts_with("You are strict.\n\nSay why\n"), "{}", read(&home, "task"));
    assert!(
        read(&home, "task").contains("## log (exit code 3)\n\nPrinted by: echo broken; exit 3\n\nbroken"),
        "{}",
        read(&home, "task")
    );
    assert_eq!(read(&home, "context"), "broken\n");
    let env = read(&home, "env");
    for line in [
        "_AGENT=critic",
        "_MODEL=opus",
        "_PROMPT=You are strict.",
        "_SKILLS=pdf",
        "_PERMISSIONS=bash: allow",
        "_LINE=9",
    ] {
        assert!(env.contains(&format!("PILOTHOUSE_SESSION{line}\n")), "{line}: {env}");
    }
    // It is a task like any other.
    let listed = home.call(&["audit", "show", "latest", "--kind", "start"]);
    assert!(text(&listed).contains("./agent <"), "{}", text(&listed));
}

#[test]
fn a_session_is_told_that_its_context_was_cut_and_what_printed_it() {
    let home = home(
        "let t = exec \"seq 1 20000\"\nlet s = session \"r\"\n  context: t\n",
        "cat > task; cp -r \"$PILOTHOUSE_SESSION_DIR\" kept; echo read",
    );
    ends(&run(&home, &[]), 0);
    let (task, value) = (read(&home, "task"), read(&home, "kept/context/01-t.md"));
    assert!(
        task.contains("## t (exit code 0, cut after 30000 characters)\n\nPrinted by: seq 1 20000\n"),
        "{task}"
    );
    for text in [&task, &value] {
        let end = &text[text.len() - 200..];
        assert!(end.contains("[the output is cut here, after 30000 characters]"), "{end}");
    }
    let facts: Value = serde_json::from_str(&read(&home, "kept/context.json")).expect("JSON");
    let made = "exit code 0, cut after 30000 characters";
    let expected = json!([{"file": "context/01-t.md", "name": "t", "made": made, "command": "seq 1 20000"}]);
    assert_eq!(facts, expected);
}

#[test]
fn a_session_without_an_answer_is_a_failure_that_is_caught_or_ends_the_run() {
    let program = "let x = session \"do\"\n";
    for (agent, within, said) in [
        ("exit 7", 60, "./agent ended with exit code 7"),
        ("echo oops >&2; exit 7", 60, "agent ended with exit code 7: oops"),
        ("true", 60, "agent: it answered nothing"),
        ("head -c 1100000 /dev/zero | tr '\\0' x", 60, "agent: its answer has 1100000 bytes"),
        ("sleep 60", 1, "agent took longer than allowed"),
    ] {
        let home = home(program, agent);
        home.configure("config.toml", &format!("[programs.sessions]\ntimeout = \"{within} s\"\n"));
        let output = run(&home, &[]);
        let said = said.trim_start_matches("./");
        assert!(ends(&output, 1).contains(said), "{agent}: {}", text(&output));
    }
    let caught = home("try:\n  let x = session \"do\"\ncatch as e:\n  exec \"echo caught\"\n", "exit 7");
    assert!(ends(&run(&caught, &[]), 0).contains("echo caught"));
    let own = home("let x = session \"do\"\n  timeout: \"1s\"\n", "sleep 60");
    assert!(ends(&run(&own, &[]), 1).contains("agent took longer than allowed"));
}

#[test]
fn an_answerer_must_exist_and_enforce_the_permissions_of_its_agent() {
    let home = home(
        "agent a:\n  permissions:\n    bash: deny\nexec \"touch begun\"\nlet x = session: a\n  prompt: \"p\"\n",
        "echo x",
    );
    let refused = home.call(&["run", "p.prose", "--plain", "--session", "no-such-agent"]);
    assert!(ends(&refused, 2).contains("no-such-agent, which answers sessions, is not found"));
    assert!(ends(&run(&home, &[]), 2).contains("p.prose: agent a: bash: deny (agent)"));
    assert!(!home.workspace().join("begun").exists());
    ends(&run(&home, &["--allow-unenforced"]), 0);
    let refused = home.call(&["run", "p.prose", "--plain", "--session", "thing:x=ask"]);
    assert!(ends(&refused, 2).contains("thing:x"), "{}", text(&refused));
}

#[test]
fn the_settings_say_who_answers_and_in_which_member() {
    let home = home(
        "agent a:\n  persist: true\nlet x = session: a\n  prompt: \"one\"\nlet y = resume: a\n  prompt: \"two\"\n\
         if **so**:\n  exec \"echo so\"\noutput o = exec \"echo {x} {y}\"\n",
        "case \"$(cat)\" in *'yes or no'*) echo '{\"said\":\"yes\"}';; *) echo \"{\\\"said\\\":\\\"[$PILOTHOUSE_SESSION_RESUME]\\\",\
         \\\"session_id\\\":\\\"s-1\\\",\\\"total_cost_usd\\\":0.02}\";; esac",
    );
    home.configure("config.toml", "[programs.sessions]\nby = [\"./agent\"]\nvalue = \"said\"\n");
    let output = home.call(&["run", "p.prose", "--plain"]);
    let said = ends(&output, 0);
    assert!(said.contains("o:\n[] [s-1]") && said.contains("$0.0200"), "{said}");
}

#[test]
fn retries_parallel_blocks_and_fail_fast_hold_for_sessions() {
    let (tag, program) = (
        Tag::new(),
        "try:\n  parallel:\n    a = session \"fails\"\n    b = session \"hangs\"\ncatch:\n  exec \"touch caught\"\n\
         let c = session \"third\"\n  retry: 2\noutput o = exec \"echo {c}\"\n",
    );
    let agent = format!(
        "case \"$(cat)\" in fails*) while ! test -e hangs; do sleep 0.05; done; exit 1;; hangs*) touch hangs; exec sleep {};;\n\
         third*) echo x >> tries; test $(wc -l < tries) = 3 && echo at last;; esac",
        tag.0
    );
    let home = home(program, &agent);
    let said = ends(&run(&home, &[]), 0);
    assert!(said.contains("o:\nat last") && home.workspace().join("caught").exists(), "{said}");
    wait_until("nothing runs on", || tag.holders().is_empty());
}

#[test]
fn a_run_killed_during_a_session_repeats_that_session_only_on_an_answer() {
    let tag = Tag::new();
    let agent = format!("echo x >> begun; test -e second || exec sleep {}\necho done", tag.0);
    let home = home(
        "let a = exec \"echo one | tee -a log\"\nlet x = session \"do\"\nexec \"echo {x} >> log\"\n",
        &agent,
    );
    let mut child = home
        .command(&["run", "p.prose", "--plain", "--private", "--session", "./agent"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    wait_until("the session in flight", || !read(&home, "begun").is_empty());
    tag.asleep();
    send(Family::of(child.id()).program, Signal::KILL);
    child.wait().expect("gone");
    wait_until("its command has gone with it", || tag.holders().is_empty());
    write(&home, "second", "");
    let id = run_folder(&home).file_name().expect("a name").to_string_lossy().into_owned();
    // Nobody is there to decide, so nothing is done.
    let again = ["run", "p.prose", "--plain", "--resume", &id];
    ends(&home.run(&again), 3);
    assert_eq!(read(&home, "begun"), "x\n");
    write(&home, "a.toml", "[[answer]]\nkind = \"in_flight\"\nanswer = \"rerun\"\n");
    // The command that answers its sessions was set when the run began.
    ends(&home.run(&[&again[..], &["--answers", "a.toml"]].concat()), 0);
    assert_eq!((read(&home, "begun"), read(&home, "log")), ("x\nx\n".into(), "one\ndone\n".into()));
}

#[test]
fn a_connected_agent_is_expected_where_the_settings_say_so() {
    let home = home(
        "agent critic:\n  model: opus\n  skills: [\"pdf\"]\nlet x = session: critic\n  prompt: \"Say why\"\nexec \"echo {x} > said\"\n",
        "",
    );
    let args = ["run", "p.prose", "--plain", "--session", "mcp"];
    let alone = home.call(&args);
    assert!(ends(&alone, 3).contains("session critic"), "{}", text(&alone));
    let agent = Agent::here(&home, Some("helper"));
    // The shim answers its client before reaching the runtime; only an answered call shows that the runtime knows it.
    agent.call("TaskList", &json!({}));
    std::thread::scope(|scope| {
        let run = scope.spawn(|| home.call(&args));
        let found = agent.call("Question", &json!({"block": true, "timeout_ms": 45_000}));
        let question: Value = found.result("/questions/0").clone();
        assert_eq!(question["answerable"], true, "{question}");
        assert_eq!(
            (&question["expected"], &question["agent"]),
            (&json!("an agent"), &json!("critic")),
            "{question}"
        );
        assert_eq!(
            (&question["model"], &question["skills"]),
            (&json!("opus"), &json!(["pdf"])),
            "{question}"
        );
        let said =
            agent.call("Question", &json!({"question_id": question["question_id"], "answer": "a port"}));
        assert_eq!(said.result("/settled/effect"), "answered");
        ends(&run.join().expect("joins"), 0);
    });
    assert_eq!(read(&home, "said"), "a port\n");
    agent.leave();
}

#[test]
fn a_person_who_answers_ends_the_command_and_is_told_who_is_at_work() {
    let tag = Tag::new();
    let home = home(
        "let x = session \"Say why\"\nexec \"echo {x} > said\"\n",
        &format!("touch begun; exec sleep {}", tag.0),
    );
    let mut desk = Desk::open(&home, (120, 40));
    std::thread::scope(|scope| {
        let ran = scope.spawn(|| run(&home, &[]));
        // On the screen of the run.
        desk.asks_until(b"5", "agent is at work");
        tag.asleep();
        assert!(!desk.text().contains("FOR YOU"), "{}", desk.text());
        desk.keys(b"\r");
        desk.shows("your answer ends that");
        desk.keys(b"a flaky port");
        desk.shows("a flaky port");
        read_it();
        desk.keys(b"\r");
        desk.shows("completed");
        wait_until("it was ended", || tag.holders().is_empty());
        ends(&ran.join().expect("joins"), 0);
    });
    assert_eq!(read(&home, "said"), "a flaky port\n");
}

#[test]
fn a_budget_stops_before_the_next_session() {
    let home = home(
        "let a = session \"one\"\nlet b = session \"two\"\noutput o = exec \"echo {a} {b}\"\n",
        "echo x >> log; echo x",
    );
    let stopped = run(&home, &["--budget", "1"]);
    let said = ends(&stopped, 3);
    assert!(said.contains("the budget of 1 session is used up before this session"), "{said}");
    assert!(said.contains("continue with --resume"), "{said}");
    let id = run_folder(&home).file_name().expect("a name").to_string_lossy().into_owned();
    ends(&run(&home, &["--budget", "1", "--resume", &id]), 0);
    assert_eq!(read(&home, "log"), "x\nx\n");
    ends(&run(&home, &["--budget", "soon"]), 2);
}

/// Kills a run up to twice, resumes it until it ends, and checks that nothing was lost or repeated unasked.
fn killed_and_gone_on_with(round: u32) -> Result<(), String> {
    let tag = Tag::new();
    // Each session logs when it begins and when it is done, and takes a while in between.
    let agent = format!(
        "task=$(head -1); echo \"begun $task\" >> log; sleep 0.0{}; : {}; echo \"done $task\" >> log; echo \"[$task]\"",
        round % 7 + 1,
        tag.0
    );
    let program = "let a = session \"one\"\nparallel:\n  b = session \"two\"\n  c = session \"three\"\nif **so**:\n  exec \"echo never\"\n\
                   let d = session \"four {b}\"\n  retry: 1\noutput o = exec \"echo {a} {b} {c} {d}\"\n";
    let home = home(program, &agent);
    write(
        &home,
        "a.toml",
        "[[answer]]\nkind = \"in_flight\"\nanswer = \"rerun\"\n[[answer]]\nkind = \"yes_no\"\nanswer = \"no\"\n",
    );
    let begin = ["run", "p.prose", "--plain", "--private", "--answers", "a.toml", "--session", "./agent"];
    let mut resume = None::<String>;
    let mut doubts = 0;
    for cut in 0.. {
        let mut args: Vec<&str> = begin.to_vec();
        if let Some(id) = &resume {
            args.extend(["--resume", id]);
        }
        let mut child = home
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let journal = || {
            std::fs::read_dir(home.workspace().join(".prose/runs"))
                .into_iter()
                .flatten()
                .flatten()
                .filter_map(|run| std::fs::read(run.path().join("journal.jsonl")).ok())
                .map(|it| it.len())
                .sum::<usize>()
        };
        if cut < 2 {
            let from = journal();
            // Kill it some way into what is left, measured by the journal and not by a clock.
            let way = 80 + (round as usize * 37 + cut as usize * 211) % 1_700;
            while journal() < from + way && child.try_wait().is_ok_and(|ended| ended.is_none()) {
                std::thread::yield_now();
            }
            if let Some(family) = Family::find(child.id()) {
                send(family.program, Signal::KILL);
            }
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        doubts += text(&output).matches("rerun (file)").count();
        wait_until("nothing runs on", || tag.holders().is_empty());
        resume = std::fs::read_dir(home.workspace().join(".prose/runs"))
            .into_iter()
            .flatten()
            .flatten()
            .find(|run| run.path().is_dir())
            .map(|run| run.file_name().to_string_lossy().into_owned());
        let said = text(&output);
        let is_over = said.contains("is over");
        if output.status.code() == Some(0) || is_over {
            break;
        }
        if cut >= 2 {
            return Err(format!("round {round}: {said}"));
        }
    }
    let log = read(&home, "log");
    let count = |line: &str| log.lines().filter(|known| *known == line).count();
    let begun = log.lines().filter(|line| line.starts_with("begun")).count();
    for task in ["one", "two", "three", "four [two]"] {
        if count(&format!("done {task}")) < 1 {
            return Err(format!("round {round}: {task} was lost:\n{log}"));
        }
    }
    // Whatever was started again had been asked about first.
    let doubted = 4 + doubts;
    if begun > doubted {
        Err(format!("round {round}: {begun} begun, {doubts} asked about:\n{log}"))
    } else {
        Ok(())
    }
}

#[test]
fn no_session_of_a_run_killed_anywhere_is_lost_or_repeated_unasked() {
    (0..3).for_each(|round| killed_and_gone_on_with(round * 5).expect("as if it had not been killed"));
}

#[test]
#[ignore = "minutes; .ci/long runs it"]
fn long_no_session_of_a_run_killed_anywhere_is_lost_or_repeated_unasked() {
    let rounds =
        std::env::var("PILOTHOUSE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(200);
    let failed: Vec<String> = (0..rounds).filter_map(|round| killed_and_gone_on_with(round).err()).collect();
    assert!(failed.is_empty(), "{} of {rounds}:\n{}", failed.len(), failed.join("\n"));
    eprintln!("{rounds} runs, killed up to twice each: none lost a session or did one again unasked");
}

/// Programs by other people, if a folder of them is next to the project: each that names no path or service of its
/// author's machine runs to its end unattended.
#[test]
fn programs_of_others_run_to_their_end_with_a_scripted_agent() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference/openprose/programs");
    let Ok(files) = std::fs::read_dir(&folder) else {
        return skip(&format!("{} is not there", folder.display()));
    };
    let mut files: Vec<_> = files
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|it| it == "prose"))
        .collect();
    files.sort();
    let mut failed = Vec::new();
    for file in &files {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let program = std::fs::read_to_string(file).expect("a program");
        let home = home(
            "",
            "task=\"$(cat)\"; case \"$task\" in *'yes or no?'*) echo yes;;\n\
             *'Choose one of these'*) printf '%s\\n' \"$task\" | sed -n 's/^- //p' | head -1;; *) echo done;; esac",
        );
        // The only folder of an author's machine that a program names.
        let repository = home.workspace().join("repository");
        let make = "git init -q repository && cd repository && echo x > README.md && git add . && \
                    git -c user.name=a -c user.email=a@b commit -qm one";
        home.call(&["command", "run", make]);
        let program = program.replace("/home/raw/Documents/GitHub/prose", &repository.display().to_string());
        write(&home, "p.prose", &program);
        write(&home, "a.toml", "[[answer]]\nkind = \"gate\"\nanswer = \"approve\"\n");
        let inputs = program.lines().filter_map(|line| line.strip_prefix("input ")?.split_once(':'));
        let inputs: Vec<String> = inputs.map(|(name, _)| format!("{}=given", name.trim())).collect();
        let mut args = vec!["--answers", "a.toml", "--gates-from-answers", "--allow-unenforced"];
        inputs.iter().for_each(|input| args.extend(["--set", input]));
        let output = run(&home, &args);
        let said = text(&output);
        // One of them ends with an error that it throws itself and nothing in it catches.
        let is_its_end = said.contains("Validation failed: missing required fields");
        if output.status.code() != Some(0) && !is_its_end {
            let end: Vec<&str> = said.lines().rev().take(4).collect();
            failed.push(format!("{name}: {:?}: {}", output.status.code(), end.join(" / ")));
        }
    }
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), files.len(), failed.join("\n"));
}
