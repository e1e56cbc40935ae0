//! Sessions answered by a command: `echo X` says X, `exit N` fails, `hang` never ends, `crash` interrupts the run.

use super::{Bench, Walked, once};
use crate::config::SessionSettings;
use crate::model::AnswerValue;

fn by(program: &str, typed: &[&str]) -> Bench {
    let mut bench = Bench::new(program);
    let mut sessions = SessionSettings::default();
    typed.iter().for_each(|typed| sessions.set(typed).expect("who answers"));
    bench.sessions = sessions;
    bench
}

fn read(walked: &Walked, file: &str) -> String {
    std::fs::read_to_string(walked.folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[tokio::test]
async fn a_session_command_is_given_the_whole_task_and_its_output_is_the_answer() {
    let walked = once(by(
        "agent critic:\n  model: opus\n  prompt: \"You are strict.\"\n  skills: [\"pdf\"]\n\
         let log = exec \"err broken; exit 3\"\n  on-fail: \"continue\"\n\
         let why = session: critic\n  prompt: \"Say why\"\n  context: log\nexec \"echo {why}\"\n",
        &["echo four"],
    ))
    .await;
    assert_eq!((walked.ended.as_deref(), walked.asked.len()), (Ok("four"), 0));
    assert_eq!(walked.ran, ["err broken; exit 3", "echo four", "echo four"]);
    let task = read(&walked, "sessions/001/task.md");
    assert!(task.starts_with("You are strict.\n\nSay why\n\nUse these skills: pdf.\n"), "{task}");
    assert!(
        task.contains("## log (exit code 3)\n\nPrinted by: err broken; exit 3\n\n\n\nstderr:\nbroken"),
        "{task}"
    );
    assert!(read(&walked, "sessions/001/agent.json").contains("\"model\": \"opus\""));
    assert!(read(&walked, "sessions/001/context/01-log.md").contains("broken"));
}

#[tokio::test]
async fn a_failed_or_empty_session_is_an_error_that_is_caught_and_retried() {
    let program = "try:\n  let x = session \"do\"\n    retry: 2\ncatch as e:\n  exec \"echo {e}\"\n";
    let walked = once(by(program, &["exit 3"])).await;
    assert_eq!(walked.ended.as_deref(), Ok("exit ended with exit code 3: it answered nothing"));
    assert_eq!(walked.ran.iter().filter(|ran| *ran == "exit 3").count(), 3);
    let walked = once(by("let x = session \"do\"\n", &["true"])).await;
    assert_eq!(walked.ended, Err("true: it answered nothing".into()));
}

#[tokio::test]
async fn a_person_answers_a_session_while_its_command_still_runs() {
    let mut bench = by("let x = session \"do\"\nexec \"echo {x}\"\n", &["hang"]);
    bench.operator = Some(AnswerValue::Text("mine".into()));
    let walked = bench.walk().await;
    assert_eq!((walked.ended.as_deref(), walked.ran.len()), (Ok("mine"), 2));
}

#[tokio::test]
async fn an_interrupted_session_is_never_begun_again_without_an_answer() {
    let program = "let a = session \"one\"\nlet b = session x: two\nexec \"echo {a} {b}\"\nagent two:\n  prompt: \"t\"\n";
    let mut bench = by(program, &["echo first", "label:x=crash"]);
    assert_eq!(bench.walk().await.ended, Err("cancelled".into()));
    bench.sessions.set("label:x=echo second").expect("who answers");
    // Nobody is there to decide.
    let walked = bench.walk().await;
    assert_eq!((walked.ended, walked.ran.len()), (Err("unanswered at 2".into()), 0));
    bench.operator = Some(AnswerValue::Rerun);
    let walked = bench.walk().await;
    assert_eq!(walked.ended.as_deref(), Ok("first second"));
    assert_eq!(walked.ran, ["echo second", "echo first second"]);
    assert!(
        walked.asked[0].starts_with("This session had begun when the run was cut off"),
        "{:?}",
        walked.asked
    );
}

#[tokio::test]
async fn a_session_that_ended_the_run_is_asked_about_once_it_goes_on() {
    let mut bench = by("let a = session \"one\"\nexec \"echo {a}\"\n", &["exit 4"]);
    assert_eq!(bench.walk().await.ended, Err("exit ended with exit code 4: it answered nothing".into()));
    bench.sessions.set("echo good").expect("who answers");
    bench.answers = "[[answer]]\nkind = \"in_flight\"\nanswer = \"rerun\"\n".into();
    assert_eq!(bench.walk().await.ended.as_deref(), Ok("good"));
}

#[tokio::test]
async fn a_condition_is_read_to_the_letter_and_else_a_persons() {
    let program = "if **it is so**:\n  exec \"echo yes\"\nelse:\n  exec \"echo no\"\n";
    for (who, ended) in [("echo yes", "yes"), ("echo No", "no")] {
        assert_eq!(once(by(program, &[who])).await.ended.as_deref(), Ok(ended));
    }
    for vague in ["echo yes.", "echo maybe", "true", "exit 2"] {
        let alone = once(by(program, &[vague])).await;
        assert_eq!(alone.ended, Err("unanswered at 1".into()), "{vague}");
        let mut bench = by(program, &[vague]);
        bench.operator = Some(AnswerValue::No);
        assert_eq!(once(bench).await.ended.as_deref(), Ok("no"), "{vague}");
    }
    let mut asks = by(program, &["echo yes", "conditions=ask"]);
    asks.operator = Some(AnswerValue::No);
    assert_eq!(once(asks).await.ended.as_deref(), Ok("no"));
    let program = "choice **what is wise**:\n  option \"wait\":\n    exec \"echo w\"\n  option \"ship it\":\n    exec \"echo s\"\n";
    assert_eq!(once(by(program, &["echo ship it"])).await.ended.as_deref(), Ok("s"));
}

#[tokio::test]
async fn the_answerer_of_a_session_is_found_by_label_agent_and_model() {
    let program = "agent a:\n  model: opus\nagent b:\n  model: haiku\nlet w = session: a\n  prompt: \"p\"\n\
                   let x = session: b\n  prompt: \"p\"\nlet y = session last: b\n  prompt: \"p\"\nlet z = session \"p\"\n\
                   exec \"echo {w} {x} {y} {z}\"\n";
    let typed = ["echo any", "a=echo A", "model:haiku=echo H", "label:last=echo L"];
    assert_eq!(once(by(program, &typed)).await.ended.as_deref(), Ok("A H L any"));
}

#[tokio::test]
async fn a_budget_ends_the_run_before_the_next_session_and_loses_none_under_way() {
    let program = "parallel:\n  a = session \"one\"\n  b = session \"two\"\n  c = session \"three\"\nexec \"echo {a} {b} {c}\"\n";
    let mut bench = by(program, &["echo x"]);
    bench.budget = super::SessionBudget { sessions: Some(2), time: None };
    let walked = bench.walk().await;
    assert_eq!((walked.ended, walked.ran.len()), (Err("over budget at 4".into()), 2));
    let walked = bench.walk().await;
    assert_eq!((walked.ended.as_deref(), walked.ran.len()), (Ok("x x x"), 2));
    let mut alone = by("let a = session \"one\"\n", &[]);
    alone.budget = super::SessionBudget { sessions: Some(0), time: None };
    alone.operator = Some(AnswerValue::Text("mine".into()));
    assert_eq!(alone.walk().await.ended, Err("over budget at 1".into()));
}
