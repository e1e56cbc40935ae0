//! `task export`: one task in every format, while it runs and afterwards; and nothing that its terminal did not echo.

use serde_json::{Value, json};

use crate::support::{Agent, Home, wait_until};

fn exported(home: &Home, id: &str, form: &str) -> String {
    let output = home.call(&["task", "export", id, "--as", form, "--output", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let content = answer["data"]["content"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    // On a pipe the output is the file's content, and nothing else.
    let piped = home.call(&["task", "export", id, "--as", form]).stdout;
    assert_eq!(String::from_utf8_lossy(&piped).trim_end(), content.trim_end());
    content
}

/// The events of one kind in a recording: time and data.
fn events(cast: &str, kind: &str) -> Vec<(f64, String)> {
    let lines = cast.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let of_kind = lines.filter(|event| event[1] == kind);
    of_kind
        .map(|event| (event[0].as_f64().expect("a time"), event[2].as_str().expect("text").to_owned()))
        .collect()
}

#[test]
fn a_task_is_exported_in_every_form_and_what_its_terminal_hid_stays_hidden() {
    let home = Home::new();
    let agent = Agent::here(&home, None);
    let cmd = "printf '\\033[31mred <b>\\033[0m name? '; read name; stty -echo; printf 'secret? '; read secret; \
               stty echo; printf '\\nbye %s\\n' \"$name\"; exit 3";
    let started = agent.call(
        "ExecCommand",
        &json!({"cmd": cmd, "shell": "/bin/sh", "login": false, "tty": true, "cols": 40, "rows": 8, "yield_time_ms": 0}),
    );
    let id = started.task();
    let shows = |wanted: &str| {
        wait_until(wanted, || {
            let read = agent.call("TaskOutput", &json!({"task_id": id, "block": false}));
            read.receipt.contains(wanted)
        });
    };
    let says = |text: &str, wanted: &str| {
        agent.call("TaskInput", &json!({"task_id": id, "input": text}));
        shows(wanted);
    };
    // What is typed before the question is echoed before it.
    shows("name?");
    says("ada\n", "secret?");
    assert!(exported(&home, &id, "text").contains("red <b> name? ada"), "it runs still");
    says("hunter2\n", "bye ada");
    agent.call("TaskOutput", &json!({"task_id": id}));

    assert_eq!(exported(&home, &id, "text"), "red <b> name? ada\nsecret?\nbye ada\n");
    assert!(exported(&home, &id, "ansi").starts_with("\u{1b}[0;31mred <b>\u{1b}[0m name? ada\n"));
    for form in ["html", "svg"] {
        let made = exported(&home, &id, form);
        assert!(made.contains("red &lt;b&gt;") && made.contains("bye ada"), "{made}");
    }
    let cast = exported(&home, &id, "cast");
    let header: Value = serde_json::from_str(cast.lines().next().expect("a header")).expect("JSON");
    assert_eq!(
        (&header["version"], &header["term"]["cols"], &header["term"]["rows"]),
        (&json!(3), &json!(40), &json!(8))
    );
    let shown: String = events(&cast, "o").into_iter().map(|(_, text)| text).collect();
    assert!(shown.starts_with("\u{1b}[31mred") && shown.contains("bye ada"), "{shown:?}");
    let typed: Vec<String> = events(&cast, "i").into_iter().map(|(_, text)| text).collect();
    assert_eq!(typed, ["ada\n"]);
    assert!(!cast.contains("hunter2") && cast.contains("agent:rmcp typed 8 bytes"), "{cast}");
    assert_eq!(events(&cast, "x").len(), 1);
    let times: Vec<f64> =
        events(&exported(&home, &id, "cast-v2"), "o").into_iter().map(|(at, _)| at).collect();
    assert!(times.is_sorted() && !times.is_empty(), "{times:?}");

    let unknown = home.call(&["task", "export", "task_00000000"]);
    assert_eq!(unknown.status.code(), Some(5), "{unknown:?}");
    agent.leave();
    home.end_here();

    // What is not on record of an ended task, a hole of 8 GiB here, is no output of it.
    let recordings = std::fs::read_dir(home.places().recordings()).expect("recordings").flatten();
    let logs = recordings.map(|folder| folder.path().join("tasks").join(&id).join("output.log"));
    let log = logs.into_iter().find(|log| log.exists()).expect("its log");
    std::fs::File::options().write(true).open(log).expect("opened").set_len(8 << 30).expect("made longer");
    assert_eq!(exported(&home, &id, "text"), "red <b> name? ada\nsecret?\nbye ada\n");
    assert_eq!(exported(&home, &id, "cast"), cast);
}
