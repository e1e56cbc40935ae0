//! Commands that a person must allow before they run (docs/prose-rules.md#rule-35).

use super::{Bench, Walked};
use crate::config::ExecPolicy;
use crate::model::AnswerValue;

const THRICE: &str = "repeat 2:\n  exec \"echo a\"\nexec \"echo b\"\n";

fn bench(program: &str, exec: ExecPolicy, says: AnswerValue) -> Bench {
    Bench { exec, operator: Some(says), ..Bench::new(program) }
}

async fn walk(program: &str, exec: ExecPolicy, says: AnswerValue) -> Walked {
    bench(program, exec, says).walk().await
}

#[tokio::test]
async fn each_command_is_asked_about_whole_before_it_runs() {
    let walked = walk(THRICE, ExecPolicy::Ask, AnswerValue::Approve).await;
    assert_eq!(walked.asked, ["echo a", "echo a", "echo b"]);
    assert_eq!(walked.ran, walked.asked);
    let long = "x".repeat(5_000);
    let program = format!("let v = \"{long}\"\nexec \"echo {{v}}; exit 0\"\n");
    let walked = walk(&program, ExecPolicy::Ask, AnswerValue::Approve).await;
    assert_eq!(walked.asked, [format!("echo {long}; exit 0")]);
}

#[tokio::test]
async fn a_distinct_command_is_asked_about_once_in_each_directory() {
    let walked = walk(THRICE, ExecPolicy::Once, AnswerValue::Approve).await;
    assert_eq!((walked.asked.len(), walked.ran.len()), (2, 3));
    let elsewhere = "exec \"echo a\"\nexec \"cd d\"\nexec \"echo a\"\nexec \"echo a\"\n";
    let walked = walk(elsewhere, ExecPolicy::Once, AnswerValue::Approve).await;
    assert_eq!(walked.asked, ["echo a", "cd d", "echo a"]);
}

#[tokio::test(start_paused = true)]
async fn branches_that_come_to_the_same_command_share_one_answer() {
    let program =
        "parallel:\n  exec \"wait 1; echo a\"\n  exec \"wait 1; echo a\"\n  exec \"wait 1; echo a\"\n";
    let walked = walk(program, ExecPolicy::Once, AnswerValue::Approve).await;
    assert_eq!((walked.asked.len(), walked.ran.len()), (1, 3));
}

#[tokio::test]
async fn a_denial_is_thrown_whatever_on_fail_says_and_only_catch_takes_it() {
    for on_fail in ["throw", "continue", "ignore"] {
        let program = format!("exec \"echo a\"\n  on-fail: \"{on_fail}\"\nexec \"echo b\"\n");
        let walked = walk(&program, ExecPolicy::Ask, AnswerValue::Reject).await;
        assert_eq!(walked.ended, Err("the operator did not let the command run".into()), "{on_fail}");
        assert_eq!((walked.asked.len(), walked.ran.len()), (1, 0), "{on_fail}");
    }
    let caught = "try:\n  exec \"echo a\"\ncatch as e:\n  let why = \"{e}\"\noutput o = \"on\"\n";
    let walked = walk(caught, ExecPolicy::Ask, AnswerValue::Reject).await;
    assert_eq!((walked.ended.as_deref(), walked.ran.len()), (Ok("on"), 0));
}

#[tokio::test]
async fn no_command_runs_without_a_person_to_ask() {
    let bench = Bench { exec: ExecPolicy::Ask, ..Bench::new(THRICE) };
    let walked = bench.walk().await;
    assert_eq!((walked.ended, walked.ran.len()), (Err("unanswered at 2".into()), 0));
}

#[tokio::test]
async fn an_answer_is_on_record_and_holds_when_the_run_goes_on() {
    let first =
        bench("exec \"echo a\"\nexec \"crash\"\nexec \"echo a\"\n", ExecPolicy::Once, AnswerValue::Approve);
    let walked = first.walk().await;
    assert_eq!((walked.ended, walked.asked.len()), (Err("cancelled".into()), 2));
    let journal = std::fs::read_to_string(walked.folder.join("journal.jsonl")).expect("a journal");
    let decided: Vec<&str> = journal.lines().filter(|line| line.contains("\"row\":\"decided\"")).collect();
    assert_eq!(decided.len(), 2, "{journal}");
    assert!(decided.iter().all(|row| row.contains("operator") && row.contains("approve")), "{decided:?}");
    // A command in doubt is a separate question; what was allowed once stays allowed.
    let second = Bench { operator: Some(AnswerValue::Skip), ..first }.walk().await;
    assert_eq!((second.ended.is_ok(), second.asked.len()), (true, 1), "{:?}", second.asked);
    assert_eq!(second.ran, ["echo a"]);
}

#[tokio::test]
async fn a_file_lets_commands_run_when_it_may_open_gates() {
    let answers = "[[answer]]\nkind = \"command\"\ntext = \"echo a\"\nanswer = \"approve\"\n\
                   [[answer]]\nkind = \"command\"\nanswer = \"reject\"\n";
    let bench = Bench { exec: ExecPolicy::Ask, ..Bench::new(THRICE).answers(answers) };
    let walked = bench.walk().await;
    assert_eq!(walked.ended, Err("the answers file did not let the command run".into()));
    assert_eq!(walked.ran, ["echo a", "echo a"]);
}
