//! Runs that were cut off and go on.

use super::Bench;
use crate::runtime::AnswerValue;

#[tokio::test(start_paused = true)]
async fn a_walk_that_was_cut_off_does_nothing_twice() {
    // Decision 31.
    let program = "let a = exec \"echo one\"\nparallel:\n  x = exec \"wait 1; echo x\"\n  y = exec \"wait 2; echo y\"\n\
                   for i in [\"1\", \"2\"]:\n  exec \"echo pass {i}\"\nif **on**:\n  exec \"crash\"\nexec \"echo {a}{x}{y}\"\n";
    let mut bench = Bench::new(program).answers("[[answer]]\nline = 7\nanswer = \"yes\"\ntimes = 1\n");
    let first = bench.walk().await;
    assert_eq!((first.ended, first.ran.len()), (Err("cancelled".into()), 6));
    // Nobody to say what became of the command in flight.
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
