//! Reading what an answer left out: by lines and by pattern, of commands that completed within their call and of tasks.

use std::path::PathBuf;

use pilothouse::config::Limits;
use pilothouse::envelope::Actor;
use pilothouse::runtime::Handle;
use pilothouse::tools::{CallAnswer, Caller, RECEIPT_CHARS, call};
use serde_json::{Value, json};

use crate::support::start_limited;

/// A runtime in a throw-away workspace.
struct Bench {
    runtime: Handle,
    workspace: PathBuf,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn start() -> Self {
        let dir = tempfile::tempdir().expect("temp dir");
        let (runtime, workspace) = start_limited(dir.path(), Limits::default());
        Self { runtime, workspace, _dir: dir }
    }

    async fn call(&self, tool: &str, input: Value) -> CallAnswer {
        let caller = Caller::new(Actor::Agent("claude".into()), self.workspace.clone());
        let answer = call(&self.runtime, &caller, tool, input).await;
        assert!(answer.receipt.chars().count() <= RECEIPT_CHARS);
        answer
    }

    async fn run(&self, cmd: &str) -> CallAnswer {
        self.call("ExecCommand", json!({"cmd": cmd, "shell": "/bin/sh", "yield_time_ms": 30_000})).await
    }

    /// Reads more of the output with this id.
    async fn read(&self, id: &str, more: Value) -> CallAnswer {
        let mut input = json!({"task_id": id});
        input.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        self.call("TaskOutput", input).await
    }

    /// Reads everything page by page, following each answer's `next`; returns the lines without their numbers.
    async fn read_all(&self, id: &str, stream: &str) -> Vec<String> {
        let (mut lines, mut next) = (Vec::new(), json!("1-"));
        while next.is_string() {
            let page = self.read(id, json!({"lines": next, "stream": stream})).await;
            let text = task(&page)["output_preview"].as_str().expect("lines").to_owned();
            lines.extend(text.lines().map(|line| line.split_once(": ").expect("a number").1.to_owned()));
            next = task(&page)["reading"]["more"].clone();
        }
        lines
    }
}

fn result(answer: &CallAnswer) -> &Value {
    answer.envelope.result().unwrap_or_else(|| panic!("failed: {}", answer.receipt))
}

fn task(answer: &CallAnswer) -> &Value {
    &result(answer)["task"]
}

fn task_id(answer: &CallAnswer) -> String {
    result(answer)["task_handle"]["task_id"].as_str().expect("a task").to_owned()
}

fn output_id(result: &Value) -> String {
    result["output_id"].as_str().expect("an id").to_owned()
}

fn numbered(lines: impl Iterator<Item = u64>) -> String {
    lines.map(|n| format!("{n}: {n}")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_output_of_a_command_is_read_on_by_lines() {
    let bench = Bench::start();
    let ran = bench.run("seq 1 36000").await;
    let id = output_id(result(&ran));
    assert!(ran.receipt.contains(&format!(" of 36000 lines; read on: TaskOutput {id} lines|match]\n")));
    assert!(!ran.receipt.contains("Next: "), "the marker says how to read on");
    let path = result(&ran)["artifacts"][0]["path"].as_str().expect("on record");
    assert!(!ran.receipt.contains(path), "a file outside the workspace is no way to read on");

    let read = bench.read(&id, json!({"lines": "20000-20050"})).await;
    let expected = numbered(20_000..=20_050);
    let standing = "The task completed (exit 0).";
    assert_eq!(
        read.receipt.as_str(),
        format!("Lines 20000-20050 of 36000 of {id}\n{standing}\n\nOutput:\n{expected}")
    );
    assert_eq!(task(&read)["output_truncated"], false);
    for (lines, expected) in [("35998-", 35_998..=36_000), ("-3", 35_998..=36_000), ("17", 17..=17)] {
        let read = bench.read(&id, json!({"lines": lines})).await;
        assert_eq!(task(&read)["output_preview"], numbered(expected), "{lines}");
    }
    let beyond = bench.read(&id, json!({"lines": "36001-"})).await;
    assert_eq!(
        beyond.receipt.lines().next(),
        Some(format!("None of these lines is in {id}: it has 36000 lines").as_str())
    );
    let page = bench.read(&id, json!({"lines": "2-", "max_output_tokens": 10})).await;
    assert_eq!(task(&page)["reading"]["more"], "10-");
    assert!(page.receipt.ends_with("9: 9\n\nmore: lines \"10-\""), "{}", page.receipt);
    let all: Vec<String> = (1..=36_000).map(|n| n.to_string()).collect();
    assert!(bench.read_all(&id, "output").await == all, "page by page it is the whole");
}

#[tokio::test]
async fn the_output_of_a_command_is_searched_by_pattern() {
    let bench = Bench::start();
    let id = output_id(result(&bench.run("seq 1 36000").await));
    let read = bench.read(&id, json!({"match": "^1777[12]$", "context": 1})).await;
    assert_eq!(task(&read)["output_preview"], "17770- 17770\n17771: 17771\n17772: 17772\n17773- 17773");
    let expected = format!("2 matching lines of 36000 in {id}\n");
    assert!(read.receipt.starts_with(&expected), "{}", read.receipt);
    let apart = bench.read(&id, json!({"match": "^(100|200)$", "context": 1})).await;
    assert_eq!(
        task(&apart)["output_preview"],
        "99- 99\n100: 100\n101- 101\n--\n199- 199\n200: 200\n201- 201"
    );
    let among = bench.read(&id, json!({"match": "00$", "lines": "35900-"})).await;
    assert_eq!(task(&among)["output_preview"], numbered([35_900, 36_000].into_iter()));

    let many = bench.read(&id, json!({"match": "7", "max_output_tokens": 5})).await;
    assert_eq!(task(&many)["reading"]["matches"], 11_943);
    assert!(many.receipt.ends_with("more: lines \"37-\" with the same match"), "{}", many.receipt);
    let none = bench.read(&id, json!({"match": "nothing"})).await;
    assert!(none.receipt.starts_with(&format!("0 matching lines of 36000 in {id}\n")), "{}", none.receipt);
    for (input, field) in [
        (json!({"match": "("}), "match"),
        (json!({"lines": "9-5"}), "lines"),
        (json!({"lines": "1-", "since": "c0"}), "since"),
    ] {
        let refused = bench.read(&id, input).await;
        let error = refused.envelope.to_value()["error"].clone();
        assert_eq!(
            (&error["kind"], &error["details"]["field"]),
            (&json!("invalid_tool_input"), &json!(field))
        );
    }
}

#[tokio::test]
async fn streams_are_read_apart_with_the_numbers_their_marker_names() {
    let bench = Bench::start();
    let ran = bench.run("seq 1 9000; seq 10001 19000 >&2; echo end").await;
    let id = output_id(result(&ran));
    for (stream, all) in [("stdout", 9001), ("stderr", 9000)] {
        let says = format!(" of {all} lines; read on: TaskOutput {id} stream={stream} lines|match]\n");
        assert!(ran.receipt.contains(&says), "{says}");
    }
    let read = bench.read(&id, json!({"lines": "-1", "stream": "stderr"})).await;
    assert_eq!(task(&read)["output_preview"], "9000: 19000");
    let read = bench.read(&id, json!({"lines": "9001", "stream": "stdout"})).await;
    assert_eq!(task(&read)["output_preview"], "9001: end");
    let all: Vec<String> = (10_001..=19_000).map(|n| n.to_string()).collect();
    assert!(bench.read_all(&id, "stderr").await == all);
    assert_eq!(bench.read_all(&id, "output").await.len(), 18_001);
}

#[tokio::test]
async fn items_of_a_batch_are_read_on_one_by_one() {
    let bench = Bench::start();
    let item = |cmd: &str| json!({"cmd": cmd, "shell": "/bin/sh"});
    let items = json!([item("echo short"), item("seq 1 20000; exit 3"), item("seq 5 30000 | sed s/^/b/")]);
    let ran = bench.call("ExecCommandBatch", json!({"items": items})).await;
    let first: Vec<&str> = ran.receipt.lines().take(4).collect();
    assert_eq!(first[2], "[2] exit=3");
    let items = &result(&ran)["items"];
    assert!(items[0].get("output_id").is_none(), "nothing of it was cut");
    let ids = [output_id(&items[1]), output_id(&items[2])];
    for (id, all) in ids.iter().zip([20_000, 29_996]) {
        assert!(ran.receipt.contains(&format!(" of {all} lines; read on: TaskOutput {id} lines|match]\n")));
    }
    let read = bench.read(&ids[0], json!({"lines": "12345-12346"})).await;
    assert_eq!(task(&read)["output_preview"], numbered(12_345..=12_346));
    let read = bench.read(&ids[1], json!({"match": "^b2999[89]$"})).await;
    assert_eq!(task(&read)["output_preview"], "29994: b29998\n29995: b29999");
}

#[tokio::test]
async fn a_long_log_is_counted_and_read_whole() {
    let bench = Bench::start();
    let ran = bench.run("seq 1 300000; printf 'no end'").await;
    let id = output_id(result(&ran));
    assert!(ran.receipt.contains(&format!(" of 300001 lines; read on: TaskOutput {id} lines|match]\n")));
    let read = bench.read(&id, json!({"lines": "299999-"})).await;
    assert_eq!(task(&read)["output_preview"], "299999: 299999\n300000: 300000\n300001: no end");
    let found = bench.read(&id, json!({"match": "no|^123456$"})).await;
    assert_eq!(task(&found)["output_preview"], "123456: 123456\n300001: no end");
}

#[tokio::test]
async fn a_task_that_runs_is_read_at_once_and_from_where_its_marker_says() {
    let bench = Bench::start();
    let cmd = "seq 1 500; read x; seq 501 9000; exec sleep 60";
    let input = json!({"cmd": cmd, "shell": "/bin/sh", "yield_time_ms": 0, "accepts_input": true});
    let started = bench.call("ExecCommand", input).await;
    let id = result(&started)["task_handle"]["task_id"].as_str().expect("a task").to_owned();
    // Wait until enough lines are there, using the cursor, and then read on from it.
    let mut cursor = json!("c0");
    while task(&bench.read(&id, json!({"lines": "500"})).await)["output_preview"] != "500: 500" {
        cursor = task(&bench.read(&id, json!({"since": cursor})).await)["next_cursor"].clone();
    }
    cursor = task(&bench.read(&id, json!({"block": false})).await)["next_cursor"].clone();
    bench.call("TaskInput", json!({"task_id": id, "input": "go\n"})).await;
    let mut seen = cursor.clone();
    while task(&bench.read(&id, json!({"lines": "9000"})).await)["output_preview"] != "9000: 9000" {
        seen = task(&bench.read(&id, json!({"since": seen})).await)["next_cursor"].clone();
    }
    let since = bench.read(&id, json!({"since": cursor, "max_output_tokens": 200})).await;
    let says = format!(" of 8500 lines from line 501; read on: TaskOutput {id} lines|match]\n");
    assert!(since.receipt.contains(&says), "{}", since.receipt);
    let read = bench.read(&id, json!({"match": "^9000$"})).await;
    assert!(read.receipt.contains("\nThe task is running.\n"), "{}", read.receipt);
    bench.call("TaskStop", json!({"task_id": id, "force": true})).await;
}

#[tokio::test]
async fn a_document_has_the_lines_it_is_shown_in() {
    let bench = Bench::start();
    let ran = bench.run("printf '[%s]' $(seq -s, 1 5000)").await;
    let id = output_id(result(&ran));
    assert!(ran.receipt.contains(&format!(" of 5002 lines; read on: TaskOutput {id} lines|match]\n")));
    let read = bench.read(&id, json!({"lines": "-2"})).await;
    assert_eq!(
        task(&read)["output_preview"],
        "[JSON of one line, laid out for reading; all of it is line 1]\n5001:   5000\n5002: ]"
    );
    let status = bench.call("TaskStatus", json!({"task_id": id})).await;
    assert!(status.receipt.contains(" bytes in 1 line\n"), "{}", status.receipt);
}

#[tokio::test]
async fn output_that_is_gone_is_refused_with_the_reason() {
    let bench = Bench::start();
    let ran = bench.run("seq 1 36000").await;
    let path = result(&ran)["artifacts"][0]["path"].as_str().expect("a path");
    std::fs::remove_file(path).expect("removed");
    let read = bench.read(&output_id(result(&ran)), json!({"lines": "1-5"})).await;
    assert!(read.envelope.is_error() && read.receipt.contains(" is gone"), "{}", read.receipt);
    assert!(read.receipt.contains("hint: run the command again"), "{}", read.receipt);
}

/// A panic on the alternate screen could not be read by any argument, and a switch on a pipe hid what followed.
#[tokio::test]
async fn f58_output_on_an_alternate_screen_can_be_read() {
    let bench = Bench::start();
    let cmd = r"printf '\033[?1049h\033[2J\033[H'; echo boom; exit 101";
    let ran = bench.call("ExecCommand", json!({"cmd": cmd, "shell": "/bin/sh", "tty": true})).await;
    let end = "[the alternate screen, still on at the end]\nboom";
    assert!(ran.receipt.contains(end), "{}", ran.receipt);
    let ran = bench.run(r"printf 'a\n\033[?1049hb\n'; echo FAILED").await;
    assert!(ran.receipt.contains("a\nb\nFAILED"), "{}", ran.receipt);
    let started = json!({"cmd": cmd.replace("exit", "read x; exit"), "shell": "/bin/sh", "tty": true, "yield_time_ms": 0});
    let id = task_id(&bench.call("ExecCommand", started).await);
    bench.read(&id, json!({"since": "c0", "timeout_ms": 20_000})).await;
    let before = bench.read(&id, json!({"view": "transcript", "block": false})).await;
    let since = task(&before)["next_cursor"].clone();
    bench.call("TaskInput", json!({"task_id": id, "input": "\n"})).await;
    let found = bench.read(&id, json!({"match": "boom", "block": true, "timeout_ms": 20_000})).await;
    assert_eq!(task(&found)["reading"]["matches"], 1, "{}", found.receipt);
    let rest = bench.read(&id, json!({"since": since, "view": "transcript", "timeout_ms": 20_000})).await;
    assert!(rest.receipt.contains(end), "{}", rest.receipt);
}

/// An image of iTerm2 put 35,000 characters of base64 before a model.
#[tokio::test]
async fn f58_a_picture_of_any_size_is_one_piece_in_every_answer() {
    let bench = Bench::start();
    let picture = |kilobytes: u32| {
        format!(
            r"printf 'a\033]1337;File=inline=1:'; head -c {kilobytes}000 /dev/zero | tr '\0' A; printf '\007b\n'"
        )
    };
    for kilobytes in [3, 53, 2_500] {
        let ran = bench.run(&picture(kilobytes)).await;
        let shown = if kilobytes < 1_000 {
            format!("a[image {kilobytes} kB]b")
        } else {
            "a[image 2.5 MB]b".to_owned()
        };
        assert!(ran.receipt.ends_with(&shown) && !ran.receipt.contains("AAA"), "{}", ran.receipt);
    }
    // In the middle of it, and of a clipboard.
    let cmd = format!("printf 'x\\033]52;c;'; read x; {}; printf '\\033[m'; read x", picture(80));
    let cmd = cmd.replace("printf 'a\\033]1337;File=inline=1:'; ", "");
    let input = json!({"cmd": cmd, "shell": "/bin/sh", "yield_time_ms": 0, "accepts_input": true});
    let id = task_id(&bench.call("ExecCommand", input).await);
    let mut cursor = json!("c0");
    while task(&bench.read(&id, json!({"since": cursor, "timeout_ms": 20_000})).await)["next_cursor"] == "c0"
    {
    }
    let first = bench.read(&id, json!({"block": false})).await;
    assert_eq!(task(&first)["output_preview"], "x");
    cursor = task(&first)["next_cursor"].clone();
    bench.call("TaskInput", json!({"task_id": id, "input": "\n"})).await;
    let mut read = String::new();
    while !read.contains('b') {
        let more = bench.read(&id, json!({"since": cursor, "timeout_ms": 20_000})).await;
        read.push_str(task(&more)["output_preview"].as_str().unwrap_or_default());
        cursor = task(&more)["next_cursor"].clone();
    }
    assert_eq!(read.trim_end(), "b", "of the clipboard, nothing");
    bench.call("TaskStop", json!({"task_id": id, "force": true})).await;
}

/// `lines: "1"` said +230,222 characters for 2 MB and for 5 MB; `match` said 0 of 2 lines.
#[tokio::test]
async fn f58_counts_and_positions_in_long_lines_refer_to_the_printed_text() {
    let bench = Bench::start();
    for millions in [2_u64, 5] {
        let cmd = format!("head -c {millions}000000 /dev/zero | tr '\\0' x; echo NEEDLE; echo next");
        let ran = bench.run(&cmd).await;
        let (id, all) = (output_id(result(&ran)), millions * 1_000_000 + 6);
        assert!(
            ran.receipt.contains(&format!(" of {} characters", all + 5)),
            "{}",
            &ran.receipt[ran.receipt.len() - 300..]
        );
        assert!(ran.receipt.contains("xxxNEEDLE\nnext"), "the true end");
        let line = bench.read(&id, json!({"lines": "1"})).await;
        let (shown, rest) =
            task(&line)["output_preview"].as_str().expect("text").split_once(" …(+").expect("a rest");
        let shown = shown.trim_start_matches("1: ").len() as u64;
        assert!(rest.starts_with(&format!("{} characters", all - shown)), "{rest}");
        assert_eq!(task(&line)["reading"]["more"], format!("1:{}-", shown + 1));
        let mut searched = bench.read(&id, json!({"match": "NEEDLE"})).await;
        assert!(
            searched.receipt.contains("1 long line was not searched to its end: lines \"1:"),
            "{}",
            searched.receipt
        );
        let mut searches = 1;
        while task(&searched)["reading"]["matches"] == 0 {
            let next = task(&searched)["reading"]["search_on"].clone();
            assert!(next.is_string(), "{}", searched.receipt);
            searched = bench.read(&id, json!({"match": "NEEDLE", "lines": next})).await;
            searches += 1;
        }
        assert!(searches < 25, "{searches}");
        let end = bench.read(&id, json!({"lines": format!("1:{}-", all - 8)})).await;
        assert_eq!(task(&end)["output_preview"], format!("1:{}: xxxNEEDLE", all - 8));
    }
}
