//! Approvals that no person gave: scripts of the same user that speak the console protocol.

use pilothouse::clock::Clock;
use pilothouse::link::Operator;
use pilothouse::model::READING;
use serde_json::json;

use crate::support::{Home, Script, read_it, wait_until};

/// Has a call held that creates a file.
#[track_caller]
fn hold(home: &Home) {
    let ran = home.call(&["command", "run", "--yield-time-ms", "250", "touch forged"]);
    assert!(String::from_utf8_lossy(&ran.stdout).contains("awaiting_operator"), "{ran:?}");
}

#[test]
fn none_of_200_forged_approvals_counts() {
    let home = Home::new();
    home.configure("config.toml", "[[approvals]]\nprefix = \"touch\"\nactor = \"cli\"\n");
    home.serve_here();
    hold(&home);
    let forged = home.workspace().join("forged");

    let (mut refused, mut late) = (0, 0);
    for _ in 0..50 {
        let began = Clock::start();
        let mut hasty = Script::connect(&home);
        let nonce = hasty.nonce.clone();
        if let Some(why) = hasty.approve(Some(&nonce)) {
            assert!(why.contains("too soon for the question to have been read"), "{why}");
            refused += 1;
            continue;
        }
        // On a slow machine a person could have read it by then, so it counts; the next attempt needs another call.
        assert!(began.now().mono >= READING, "approved after {:?}", began.now().mono);
        wait_until("it runs", || forged.exists());
        std::fs::remove_file(&forged).expect("removed");
        hold(&home);
        late += 1;
    }
    let (mut one, other) = (Script::connect(&home), Script::connect(&home));
    assert_ne!(one.nonce, other.nonce);
    read_it();
    for attempt in 0..75_u32 {
        let wrong = match attempt % 5 {
            0 => None,
            1 => Some(String::new()),
            2 => Some(format!("{attempt:032x}")),
            3 => Some(one.nonce[..31].to_owned()),
            _ => Some(one.nonce.to_uppercase() + "0"),
        };
        let why = one.approve(wrong.as_deref()).expect("a wrong nonce");
        assert!(why.contains("nothing was decided"), "{why}");
        refused += 1;
    }
    for _ in 0..75 {
        let why = one.approve(Some(&other.nonce)).expect("the nonce of another connection");
        assert!(why.contains("nothing was decided"), "{why}");
        refused += 1;
    }
    assert_eq!(refused + late, 200);
    // The card of one thing answers nothing else, and an approval is one of the call that its request is about.
    let nonce = one.nonce.clone();
    let other = [json!("runtime"), json!("home"), json!("gate"), json!({"call": 1}), json!({"agent": "x"})];
    for subject in other.iter().chain([&json!({"task": "task_00000000"}), &json!({"held": 9})]) {
        assert!(one.approve_as(subject, Some(&nonce)).is_some(), "{subject}");
    }
    let tool =
        json!({"call": {"tool": "QuestionAnswer", "input": {"question_id": "q", "answer": "approve"}}});
    let (ticket, _) = one.held.clone().expect("a held call");
    for act in [tool, json!({"pause": false}), json!({"let_agents": true}), json!("end_permissions")] {
        assert!(one.ask(&json!({ "held": ticket }), &act, Some(&nonce))["Err"].is_string(), "{act}");
    }
    assert!(one.ask(&json!("gate"), &json!({"pause": true}), None)["Err"].is_null(), "a pause needs no card");
    assert!(!forged.exists(), "nothing ran");

    // The card's nonce, after enough time to read it, counts as an answer; it is recorded, and who gave it is reported.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let socket = home.places().operator_socket();
    let witness = runtime.block_on(Operator::attach(&socket, home.workspace())).expect("attaches");
    let nonce = one.nonce.clone();
    assert_eq!(one.approve(Some(&nonce)), None);
    wait_until("it runs", || forged.exists());
    let told = runtime.block_on(async {
        let mut snapshot = witness.snapshot();
        let has = |text: &str| text.contains("was approved in another console: pid ");
        let told = snapshot
            .wait_for(|snapshot| snapshot.notices.iter().any(|notice| has(&notice.text)))
            .await
            .expect("told");
        told.notices.iter().map(|notice| (notice.text.clone(), notice.from)).collect::<Vec<_>>()
    });
    let own = Some(std::process::id());
    assert!(told.iter().any(|(text, from)| text.contains("another console has connected") && *from == own));
    let files = std::fs::read_dir(home.places().recordings()).expect("recordings").flatten();
    let files = files.flat_map(|folder| std::fs::read_dir(folder.path()).expect("a recording").flatten());
    let rows: String = files
        .filter(|file| file.file_name().to_string_lossy().starts_with("journal-"))
        .map(|file| std::fs::read_to_string(file.path()).expect("rows"))
        .collect();
    let approved: Vec<&str> = rows
        .lines()
        .filter(|row| row.contains("\"kind\":\"gate\"") && row.contains("\"approved\""))
        .collect();
    assert_eq!(approved.len(), late + 1, "one approval: {approved:?}\n{rows}");
    let row = approved[late];
    let console = &serde_json::from_str::<serde_json::Value>(row).expect("a row")["data"]["console"];
    assert_eq!(console["pid"], json!(std::process::id()), "{row}");
    assert!(console["started"].is_string() && console.get("terminal").is_some(), "{row}");
    drop((one, other, witness));
}
