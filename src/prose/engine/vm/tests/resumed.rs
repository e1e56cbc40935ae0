//! Interrupted runs that are resumed.

use super::Bench;
use crate::config::ExecPolicy;
use crate::model::AnswerValue;

#[tokio::test(start_paused = true)]
async fn a_walk_that_was_cut_off_does_nothing_twice() {
    // docs/prose-rules.md#rule-31.
    let program = "let a = exec \"echo one\"\nparallel:\n  x = exec \"wait 1; echo x\"\n  y = exec \"wait 2; echo y\"\n\
                   for i in [\"1\", \"2\"]:\n  exec \"echo pass {i}\"\nif **on**:\n  exec \"crash\"\nexec \"echo {a}{x}{y}\"\n";
    let mut bench = Bench::new(program).answers("[[answer]]\nline = 7\nanswer = \"yes\"\ntimes = 1\n");
    let first = bench.walk().await;
    assert_eq!((first.ended, first.ran.len()), (Err("cancelled".into()), 6));
    // Nobody says what became of the command in flight.
    bench.answers = String::new();
    let second = bench.walk().await;
    assert_eq!((second.ended, second.ran), (Err("unanswered at 8".into()), vec![]));
    bench.operator = Some(AnswerValue::Skip);
    let third = bench.walk().await;
    assert_eq!(third.ran, ["echo onexy"]);
    assert_eq!(third.asked.len(), 1);
    assert_eq!(third.ended.as_deref(), Ok("onexy"));
    let once = |line: &str| third.state.iter().filter(|known| *known == line).count();
    assert_eq!((once("1→ a ✓"), once("2→ ∥done"), once("3→ loop:2/2")), (1, 1, 1), "{:?}", third.state);
}

#[tokio::test]
async fn a_binding_put_right_by_a_person_holds_when_the_run_goes_on() {
    let bench =
        Bench::new("let a = exec \"echo one\"\nlet b = \"{a}\"\nexec \"crash\"\nexec \"echo {a} {b}\"\n");
    let first = bench.walk().await;
    let file = first.folder.join("bindings/a.md");
    let text = std::fs::read_to_string(&file).expect("a file").replace("\n\none\n", "\n\nuno\n");
    std::fs::write(&file, text).expect("written");
    let bench = Bench { operator: Some(AnswerValue::Rerun), ..bench };
    let second = bench.walk().await;
    assert_eq!(second.ran, ["crash"], "it crashes again");
    let bench = Bench { operator: Some(AnswerValue::Skip), ..bench };
    assert_eq!(bench.walk().await.ran, ["echo uno one"]);
}

#[tokio::test]
async fn a_failed_run_goes_on_at_the_failed_command_as_a_person_answers() {
    let program = "let a = exec \"echo one\"\nlet b = exec \"exit 3\"\nexec \"echo {a}{b} on\"\n";
    let bench = Bench::new(program);
    let first = bench.walk().await;
    assert_eq!(first.ended, Err("the command ended with exit code 3".into()));
    let nobody = bench.walk().await;
    assert_eq!((nobody.ended, nobody.ran), (Err("unanswered at 2".into()), vec![]));
    let again = Bench { operator: Some(AnswerValue::Rerun), ..bench };
    let second = again.walk().await;
    assert_eq!(
        (second.ended, second.ran),
        (Err("the command ended with exit code 3".into()), vec!["exit 3".into()])
    );
    assert_eq!(second.asked, ["This command ended the run: the command ended with exit code 3"]);
    let third = Bench { operator: Some(AnswerValue::Skip), ..again }.walk().await;
    assert_eq!((third.ended.as_deref(), third.ran), (Ok("one on"), vec!["echo one on".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_resumed_run_repeats_only_the_statements_that_followed_from_the_failure() {
    // The branch that succeeded is kept; the one that was cancelled is in doubt; catch and finally come after the body.
    let program = "try:\n  parallel:\n    exec \"echo x\"\n    exec \"wait 1; exit 3\"\n    exec \"wait 2; echo z\"\n  exec \"echo on\"\n\
                   catch as e:\n  exec \"echo caught {e}\"\n  throw\nfinally:\n  exec \"echo finally\"\n";
    let bench = Bench::new(program);
    let first = bench.walk().await;
    assert_eq!(first.ran[3..], ["echo caught the command ended with exit code 3", "echo finally"]);
    let second = Bench { operator: Some(AnswerValue::Rerun), ..bench }.walk().await;
    assert_eq!(second.asked.len(), 2, "{:?}", second.asked);
    let mut ran = second.ran.clone();
    ran.sort();
    assert_eq!(ran.iter().filter(|cmd| cmd.contains("echo x")).count(), 0, "{ran:?}");
    assert_eq!(second.ended, Err("the command ended with exit code 3".into()));
    assert_eq!(second.ran[second.ran.len() - 2..], first.ran[3..], "failed again: {:?}", second.ran);
}

#[tokio::test]
async fn a_gate_that_stayed_shut_and_a_command_not_let_run_are_asked_about_again() {
    let gate = Bench::new("gate g:\n  prompt: \"go?\"\nexec \"echo went\"\n");
    let shut = Bench { operator: Some(AnswerValue::Reject), ..gate };
    assert_eq!(shut.walk().await.ended, Err("gate g was rejected".into()));
    let open = Bench { operator: Some(AnswerValue::Approve), ..shut };
    let walked = open.walk().await;
    assert_eq!((walked.asked.len(), walked.ran), (1, vec!["echo went".to_owned()]));
    for exec in [ExecPolicy::Ask, ExecPolicy::Once] {
        let denied = Bench { exec, operator: Some(AnswerValue::Reject), ..Bench::new("exec \"echo a\"\n") };
        assert!(denied.walk().await.ended.is_err());
        let walked = Bench { operator: Some(AnswerValue::Approve), ..denied }.walk().await;
        assert_eq!((walked.asked.len(), walked.ran.len()), (1, 1), "{exec:?}");
    }
}

/// A program with everything whose end is recorded; of its numbered commands, the one at `cut` interrupts the run.
fn program(cut: Option<usize>) -> String {
    let mut number = 0;
    let mut cmd = |text: &str| {
        let own = number;
        number += 1;
        if cut == Some(own) { format!("crash; echo {text}") } else { format!("echo {text}") }
    };
    format!(
        "let a = exec \"{}\"\nfor x in [\"p\", \"q\"]:\n  exec \"echo {{x}}\"\nblock f(n):\n  let m = exec \"{}\"\n  exec \"echo {{m}}{{n}}\"\n\
         do f(\"1\")\nparallel:\n  y = exec \"{}\"\n  z = exec \"{}\"\nlet l = [\"u\", \"v\"] | map:\n  exec \"echo {{item}}{{a}}\"\n\
         if **go on**:\n  exec \"{}\"\noutput o = \"{{a}}{{y}}{{z}}{{l}}\"\n",
        cmd("one"),
        cmd("two"),
        cmd("three"),
        cmd("four"),
        cmd("five"),
    )
}

#[tokio::test]
async fn a_run_comes_to_the_same_end_wherever_it_is_cut_off() {
    let answers = "[[answer]]\nkind = \"yes_no\"\nanswer = \"yes\"\n";
    let whole = Bench::new(&program(None)).answers(answers).walk().await;
    assert_eq!(whole.outputs.len(), 1);
    for cut in 0..5 {
        let bench = Bench::new(&program(Some(cut))).answers(answers);
        let first = bench.walk().await;
        assert_eq!(first.ended, Err("cancelled".into()), "cut at {cut}");
        // Skipped, to test what comes after it.
        let bench = Bench { operator: Some(AnswerValue::Skip), ..bench };
        let second = bench.walk().await;
        assert!(second.ended.is_ok(), "cut at {cut}: {:?}", second.ended);
        let again: Vec<&String> = second.ran.iter().filter(|cmd| first.ran.contains(cmd)).collect();
        assert!(again.is_empty(), "cut at {cut}: {again:?} ran twice");
        assert_eq!(first.ran.len() + second.ran.len(), whole.ran.len(), "cut at {cut}");
        let third = bench_state(&second);
        assert_eq!(third.len(), whole.state.len(), "cut at {cut}: {third:?}");
    }
}

/// The lines of a state that an uninterrupted run has as well.
fn bench_state(walked: &super::Walked) -> Vec<&String> {
    walked.state.iter().filter(|line| !line.starts_with("---")).collect()
}
