//! What programs do. Tests name the rule they show (`docs/prose-rules.md`).

use proptest::prelude::*;

use super::{Bench, once, walk};
use crate::model::AnswerValue;
use crate::prose::engine::value::Value;
use crate::prose::syntax::Profile;

#[tokio::test]
async fn statements_run_in_order_and_state_tells_them() {
    let walked = walk(
        "let a = exec \"echo one\"\nexec \"echo {a}-x\"\nconst l = [a, \"two\"]\nlet n = \"{l}\"\noutput o = n\n",
    )
    .await;
    assert_eq!(walked.ran, ["echo one", "echo one-x"]);
    assert_eq!(walked.state, ["1→ a ✓", "2→ ✓", "3→ l ✓", "4→ n ✓", "5→ o ✓"]);
    assert_eq!(walked.outputs, [("o".to_owned(), "one\ntwo".to_owned())]);
    assert_eq!(walked.bindings, ["a.md", "l.md", "n.md", "o.md"]);
}

#[tokio::test(start_paused = true)]
async fn branches_start_where_the_block_does_and_leave_its_directory_alone() {
    // docs/prose-rules.md#rule-4.
    let walked = walk(
        "exec \"cd d\"\nparallel:\n  a = do:\n    exec \"cd deep\"\n    exec \"pwd\"\n  b = exec \"pwd\"\n\
         output p = exec \"pwd\"\noutput q = a\n",
    )
    .await;
    assert_eq!(walked.ended.as_deref(), Ok("/start/d/deep"));
    assert_eq!(walked.outputs[0].1, "/start/d");
    assert!(walked.state.contains(&"2→ ∥start a,b".to_owned()), "{:?}", walked.state);
    assert!(walked.state.contains(&"2b→ b ✓".to_owned()), "{:?}", walked.state);
}

#[tokio::test(start_paused = true)]
async fn the_first_failure_ends_the_others_and_is_caught() {
    // docs/prose-rules.md#rule-12.
    let walked = walk(
        "try:\n  parallel:\n    exec \"wait 1; exit 3\"\n    exec \"hang\"\ncatch as err:\n  exec \"echo {err}\"\n",
    )
    .await;
    assert_eq!(walked.ran[2], "echo the command ended with exit code 3");
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_a_branch_takes_itself_does_not_end_the_block() {
    for (on_fail, code) in [("continue", true), ("ignore", false)] {
        let program = format!(
            "parallel:\n  a = exec \"exit 3\"\n    on-fail: \"{on_fail}\"\n  b = exec \"wait 1; echo b\"\noutput o = b\n"
        );
        let walked = walk(&program).await;
        assert_eq!(walked.ended.as_deref(), Ok("b"), "{on_fail}");
        let file = std::fs::read_to_string(walked.folder.join("bindings/a.md")).expect("a file");
        assert_eq!(file.contains("exit_code: 3"), code, "{file}");
    }
}

#[tokio::test(start_paused = true)]
async fn failed_branches_are_bound_when_the_block_goes_on() {
    // docs/prose-rules.md#rule-9.
    let walked = walk(
        "parallel (on-fail: \"continue\"):\n  a = exec \"echo out; err why; exit 3\"\n  b = exec \"echo fine\"\n\
         let c = \"{a}+{b}\"\nparallel (on-fail: \"ignore\"):\n  d = exec \"echo out; err why; exit 3\"\n",
    )
    .await;
    assert_eq!(walked.ended.as_deref(), Ok("out"));
    let file =
        |name: &str| std::fs::read_to_string(walked.folder.join("bindings").join(name)).expect("a file");
    assert!(file("a.md").contains("exit_code: 3\nstderr: why\n"), "{}", file("a.md"));
    assert!(file("a.md").ends_with("\n---\n\nout\n"));
    assert!(!file("d.md").contains("exit_code"));
    assert!(file("c.md").ends_with("out+fine"));
}

#[tokio::test(start_paused = true)]
async fn the_value_of_first_is_the_winners_and_losers_are_unbound() {
    // docs/prose-rules.md#rule-10, #rule-11.
    let walked = walk(
        "let w = parallel (\"first\"):\n  a = exec \"wait 5; echo slow\"\n  b = exec \"wait 1; echo fast\"\n\
         let x = \"{w}\"\nlet y = \"{a}\"\n",
    )
    .await;
    assert_eq!(
        walked.ended,
        Err("a has no value here: the parallel block on line 1 was over without it".into())
    );
    let walked = walk(
        "let w = parallel (\"any\", count: 2):\n  exec \"wait 5; echo c\"\n  exec \"exit 1\"\n  exec \"wait 2; echo a\"\n\
         \x20 exec \"hang\"\noutput o = w\n",
    )
    .await;
    assert_eq!(walked.outputs[0].1, "c\na", "in the order of the program");
}

#[tokio::test(start_paused = true)]
async fn loops_count_and_ask_before_each_pass() {
    // docs/prose-rules.md#rule-20, #rule-25.
    let walked = walk(
        "let xs = exec \"echo a; echo; echo b\"\nfor x, i in xs:\n  exec \"echo {x}{i}\"\nlet r = repeat 2 as n:\n  exec \"echo {n}\"\n\
         output o = r\n",
    )
    .await;
    assert_eq!(walked.ran[1..], ["echo a0", "echo b1", "echo 0", "echo 1"]);
    assert_eq!(walked.outputs[0].1, "0\n1");
    assert!(walked.state.contains(&"2→ loop:2/2".to_owned()), "{:?}", walked.state);

    let bench = Bench::new("loop until **it is done** (max: 5) as i:\n  exec \"echo {i}\"\n")
        .answers("[[answer]]\npass = 3\nkind = \"yes_no\"\nanswer = \"yes\"\n[[answer]]\nkind = \"yes_no\"\nanswer = \"no\"\n");
    let walked = bench.walk().await;
    assert_eq!(walked.ran, ["echo 0", "echo 1"]);
    assert_eq!(walked.state.last().map(String::as_str), Some("1→ loop:2/5 exit(**it is done**)"));
}

#[tokio::test]
async fn conditions_that_compare_need_nobody_and_others_do() {
    // docs/prose-rules.md#rule-36.
    let program =
        "let d = 3\nif d - 1 >= 2:\n  exec \"echo yes\"\nif **it is fine**:\n  exec \"echo judged\"\n";
    let walked = walk(program).await;
    assert_eq!((walked.ran, walked.ended), (vec!["echo yes".to_owned()], Err("unanswered at 4".into())));
    let mut bench = Bench::new(program);
    bench.operator = Some(AnswerValue::Yes);
    let walked = bench.walk().await;
    assert_eq!((walked.asked, walked.ran.len()), (vec!["it is fine".to_owned()], 2));
}

#[tokio::test]
async fn blocks_recurse_with_names_of_their_own_up_to_their_cap() {
    let walked = walk(
        "block f(n):\n  let m = exec \"echo {n}\"\n  if n > 0:\n    do f(n - 1)\n  exec \"echo back {m}\"\ndo f(2)\n",
    )
    .await;
    assert_eq!(walked.ran, ["echo 2", "echo 1", "echo 0", "echo back 0", "echo back 1", "echo back 2"]);
    assert_eq!(walked.bindings, ["m__1.md", "m__2.md", "m__3.md"]);
    assert!(walked.state.contains(&"1→ block:f#1".to_owned()), "{:?}", walked.state);
    assert!(walked.state.contains(&"1→ #3 done".to_owned()), "{:?}", walked.state);
    let walked = walk("block f() (max_depth: 3):\n  exec \"echo x\"\n  do f()\ndo f()\n").await;
    assert_eq!(walked.ran.len(), 3);
    assert_eq!(walked.ended, Err("block f calls itself more than 3 deep".into()));
}

#[tokio::test]
async fn a_filter_of_plain_answers_needs_nobody() {
    // docs/prose-rules.md#rule-24.
    let walked = walk(
        "let xs = [\"a\", \"b\"]\noutput o = xs | filter:\n  exec \"echo no\"\noutput p = xs | map:\n  exec \"echo {item}!\"\n\
         output q = xs | pmap:\n  exec \"echo {item}?\"\noutput r = xs | reduce(acc, x):\n  exec \"echo {acc}+{x}\"\n",
    )
    .await;
    let values: Vec<&str> = walked.outputs.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["", "a!\nb!", "a?\nb?", "a+b"]);
    let walked = walk("let xs = [\"a\"]\noutput o = xs | filter:\n  exec \"echo perhaps\"\n").await;
    assert_eq!(walked.ended, Err("unanswered at 2".into()));
}

#[tokio::test]
async fn a_command_that_throws_leaves_the_name_as_it_was() {
    // docs/prose-rules.md#rule-8.
    let walked = walk(
        "let a = exec \"echo old\"\ntry:\n  a = exec \"echo new; exit 3\"\ncatch:\n  exec \"echo kept {a}\"\n\
         try:\n  let b = exec \"exit 4\"\ncatch:\n  exec \"echo {b}\"\n",
    )
    .await;
    assert_eq!(walked.ran[2], "echo kept old");
    assert_eq!(
        walked.ended,
        Err("b has no value here: the statement on line 7 that binds it has failed".into())
    );
    assert_eq!(walked.bindings, ["a.md"]);
}

#[tokio::test(start_paused = true)]
async fn a_name_is_bound_for_the_whole_program_wherever_the_statement_stands() {
    // docs/prose-rules.md#rule-18.
    let bodies = [
        "try:\n  let x = exec \"echo it\"\ncatch:\n  exec \"true\"\n",
        "try:\n  exec \"exit 1\"\ncatch:\n  let x = exec \"echo it\"\n",
        "try:\n  exec \"true\"\nfinally:\n  let x = exec \"echo it\"\n",
        "if 1 == 1:\n  let x = exec \"echo it\"\n",
        "if 1 == 2:\n  exec \"true\"\nelse:\n  let x = exec \"echo it\"\n",
        "do:\n  do:\n    let x = exec \"echo it\"\n",
        "repeat 2:\n  let x = exec \"echo it\"\n",
        "for i in [\"not\", \"it\"]:\n  let x = exec \"echo {i}\"\n",
        "loop (max: 2):\n  let x = exec \"echo it\"\n",
        "choice **which way to go**:\n  option \"a\":\n    let x = exec \"echo it\"\n",
        "parallel:\n  exec \"wait 1\"\n  do:\n    let x = exec \"echo it\"\n",
        "let l = [\"a\"] | map:\n  let x = exec \"echo it\"\n",
        "parallel:\n  do:\n    let x = exec \"wait 2; echo not\"\n  do:\n    let x = exec \"wait 1; echo it\"\n",
        "try:\n  parallel:\n    do:\n      let x = exec \"echo it\"\n    exec \"wait 1; exit 1\"\ncatch:\n  exec \"true\"\n",
        "try:\n  parallel:\n    x = exec \"echo it\"\n    exec \"wait 1; exit 1\"\ncatch:\n  exec \"true\"\n",
    ];
    for body in bodies {
        let program = format!("{body}exec \"echo {{x}}!\"\n");
        let walked = once(Bench::new(&program).answers("[[answer]]\nanswer = 1\n")).await;
        assert_eq!(walked.ended.as_deref(), Ok("it!"), "{program}");
    }
    let walked = walk("block b():\n  let x = exec \"echo {y}\"\nfor y in [\"a\"]:\n  exec \"true\"\nlet y = \"c\"\ndo b\nexec \"true\"\n").await;
    assert_eq!(walked.ran[1], "echo c");
}

#[tokio::test(start_paused = true)]
async fn a_context_holds_the_branches_that_count() {
    // docs/prose-rules.md#rule-11.
    let program = |context: &str| {
        format!(
            "repeat 2 as i:\n  parallel (\"any\", count: 2):\n    a = exec \"wait {{i}}; echo a\"\n    b = exec \"exit 1\"\n    \
             c = exec \"echo c\"\n    d = exec \"wait 5\"\nsession \"Which?\"\n  context: {context}\n"
        )
    };
    let ask = async |context: &str| {
        let bench = Bench { operator: Some(AnswerValue::Text("it".into())), ..Bench::new(&program(context)) };
        bench.walk().await
    };
    for context in ["{ a, b, c, d }", "[a, b, c, d]"] {
        let walked = ask(context).await;
        assert_eq!((walked.ended.as_deref(), walked.shown), (Ok("it"), vec!["a".to_owned(), "c".to_owned()]));
    }
    for context in ["d", "[d]", "{ d }"] {
        let lost = Err("d has no value here: the parallel block on line 2 was over without it".to_owned());
        assert_eq!(ask(context).await.ended, lost);
    }
}

#[tokio::test]
async fn a_persons_no_is_no_failure_to_be_ignored() {
    // docs/prose-rules.md#rule-35.
    let walked = walk("exec \"deny\"\n  on-fail: \"ignore\"\nexec \"echo on\"\n").await;
    assert_eq!(walked.ended, Err("the operator did not let the command run: not today".into()));
    assert_eq!(walked.ran.len(), 1);
}

#[tokio::test]
async fn a_value_is_inserted_once_and_a_nul_is_refused() {
    // docs/prose-rules.md#rule-13, #rule-14.
    let walked = walk("let b = \"\\{a}; echo {\"\nlet a = \"x\"\nexec \"echo {b} \\{a\\}\"\n").await;
    assert_eq!(walked.ran, ["echo {a}; echo { {a}"]);
    let mut bench = Bench::new("input x: \"?\"\nexec \"echo {x}\"\n");
    bench.given.insert("x".into(), Value::text("a\0b"));
    assert_eq!(bench.walk().await.ended, Err("the command has a NUL character in it".into()));
}

#[tokio::test]
async fn errors_are_caught_thrown_again_and_finally_always_runs() {
    let walked = walk(
        "try:\n  try:\n    exec \"err bad; exit 4\"\n    exec \"echo no\"\n  catch as err:\n    exec \"echo caught\"\n    throw\n\
         \x20 finally:\n    exec \"echo finally\"\ncatch as outer:\n  throw \"again: {outer}\"\n",
    )
    .await;
    assert_eq!(walked.ran[1..], ["echo caught", "echo finally"]);
    assert_eq!(walked.ended, Err("again: the command ended with exit code 4: bad".into()));
    let err = std::fs::read_to_string(walked.folder.join("bindings/err.md")).expect("a file");
    assert!(err.contains("exit_code: 4\nstderr: bad\n"), "{err}");
}

#[tokio::test]
async fn gates_open_only_when_somebody_opens_them() {
    let program = "gate g:\n  prompt: \"go?\"\nexec \"echo went\"\n";
    assert_eq!(walk(program).await.ended, Err("unanswered at 1".into()));
    let gate = |answer: &str| Bench::new(program).answers(&format!("[[answer]]\nname = \"g\"\n{answer}\n"));
    let walked = once(gate("answer = \"approve\"")).await;
    assert_eq!(walked.ran, ["echo went"]);
    assert_eq!(walked.state[..2], ["1→ gate:g pending", "1→ gate:g approved(file)"]);
    let resolved = std::fs::read_to_string(walked.folder.join("gates/g.resolved.json")).expect("a file");
    assert!(
        resolved.contains("\"decision\": \"approved\"")
            && !walked.folder.join("gates/g.pending.json").exists()
    );
    let walked = gate("answer = \"reject\"").walk().await;
    assert_eq!((walked.ran.len(), walked.ended), (0, Err("gate g was rejected".into())));
    let walked = gate("time_out = true").walk().await;
    assert_eq!(walked.ended, Err("gate g was not approved in time".into()));
}

#[tokio::test]
async fn a_gate_asked_again_with_nobody_there_fails() {
    // docs/prose-rules.md#rule-27.
    let bench = Bench::new("gate g:\n  prompt: \"go?\"\n  on_reject: retry\nexec \"echo went\"\n");
    let walked = bench.answers("[[answer]]\nname = \"g\"\ntime_out = true\n").walk().await;
    assert_eq!(walked.ended, Err("gate g was not approved in time, and nobody is there".into()));
    assert_eq!(walked.state[0], "1→ gate:g pending");
    let bench = Bench::new("gate g:\n  prompt: \"go?\"\n  on_reject: retry\nexec \"echo went\"\n");
    let again = "[[answer]]\nname = \"g\"\nanswer = \"reject\"\ntimes = 1\n[[answer]]\nname = \"g\"\nanswer = \"approve\"\n";
    let walked = bench.answers(again).walk().await;
    assert_eq!(walked.ran, ["echo went"]);
    assert!(walked.state.contains(&"1→ gate:g-2 approved(file)".to_owned()), "{:?}", walked.state);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_tried_again_and_keeps_what_it_said() {
    // docs/prose-rules.md#rule-30.
    let bench = Bench::new(
        "agent a:\n  persist: true\n  prompt: \"You count.\"\nlet s = session: a\n  prompt: \"One?\"\n  retry: 2\n  backoff: \"exponential\"\n\
         resume: a\n  prompt: \"Two?\"\nsession \"loose\"\n",
    )
    .answers("[[answer]]\ntext = \"One\"\nfail = \"down\"\ntimes = 2\n[[answer]]\nkind = \"text\"\nanswer = \"done\"\n");
    let started = tokio::time::Instant::now();
    let walked = bench.walk().await;
    assert_eq!(started.elapsed().as_secs(), 3);
    assert_eq!(walked.ended.as_deref(), Ok("done"));
    assert_eq!(walked.bindings, ["anon_001.md", "anon_002.md", "s.md"]);
    assert_eq!(walked.state[..3], ["1→ retry:1/2", "1→ retry:2/2", "1→ s ✓"]);
    let memory = std::fs::read_to_string(walked.folder.join("agents/a/memory.md")).expect("a memory");
    assert!(memory.contains("Asked: One?") && memory.contains("Asked: Two?"), "{memory}");
    assert!(walked.folder.join("agents/a/a-002.md").exists());
    let walked = walk("agent a:\n  persist: true\nresume: a\n").await;
    assert_eq!(walked.ended, Err("E018: a has no memory to go on from".into()));
}

#[tokio::test]
async fn a_persistent_memory_may_be_empty_at_first() {
    // docs/prose-rules.md#rule-46.
    let elsewhere = tempfile::tempdir().expect("temp dir");
    for persist in ["project", "user", &format!("\"{}\"", elsewhere.path().display())] {
        let program = format!("agent a:\n  persist: {persist}\nresume: a\n  prompt: \"One?\"\nresume: a\n");
        let walked = Bench { profile: Profile::Strict, ..Bench::new(&program) }.walk().await;
        assert_eq!(walked.ended, Err("E018: a has no memory to go on from".into()), "{persist}");
        let bench = Bench::new(&program).answers("[[answer]]\nanswer = \"done\"\n");
        let walked = bench.walk().await;
        assert_eq!(walked.ended.as_deref(), Ok("done"), "{persist}");
        assert_eq!(
            walked.warned,
            ["3: HPW026: the agent `a` has no memory yet and starts with an empty one"]
        );
    }
}

#[tokio::test]
async fn a_parallel_for_may_go_on_after_a_failed_branch() {
    // docs/prose-rules.md#rule-44.
    let each = |on_fail: &str| {
        format!(
            "let l = parallel for x in [\"echo a\", \"echo b; exit 3\", \"echo c\"] (on-fail: \"{on_fail}\"):\n  \
             exec \"{{x}}\"\noutput o = l\n"
        )
    };
    for on_fail in ["continue", "ignore"] {
        let walked = once(Bench::new(&each(on_fail))).await;
        assert_eq!(walked.outputs, [("o".to_owned(), "a\nb\nc".to_owned())], "{on_fail}");
        assert!(
            walked.state.contains(&"1b→ ✗ the command ended with exit code 3".to_owned()),
            "{:?}",
            walked.state
        );
    }
    assert_eq!(walk(&each("fail-fast")).await.ended, Err("the command ended with exit code 3".into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// docs/prose-rules.md#rule-13, #rule-14: a value is inserted once, verbatim, and makes no command of its own.
    #[test]
    fn a_value_never_makes_a_second_command_by_itself(value in "(?s)([a-z;&|$(){}\"'`\\\\# \n]|exec |\\{v\\}|\\{w\\}){0,20}") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a loop");
        let mut bench = Bench::new("input v: \"what\"\ninput w: \"other\"\nexec \"say {v} and {w}\"\n");
        bench.given = [("v".to_owned(), Value::text(value.as_str())), ("w".to_owned(), Value::text("w"))].into();
        let walked = runtime.block_on(bench.walk());
        let inserted = value.trim_end_matches(['\n', '\r']);
        prop_assert_eq!(walked.ran, vec![format!("say {inserted} and w")]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_was_cut_off_runs_on_no_screen() {
    use crate::model::StepState::{Cancelled, Done, Failed};
    let failing = "parallel:\n  a = exec \"wait 1; exit 3\"\n  b = exec \"hang\"\n  exec \"hang\"\n  c = do:\n    \
                   exec \"hang\"\n";
    let walked = walk(failing).await;
    assert!(walked.ended.is_err());
    let cut = [(1, Failed), (2, Failed), (3, Cancelled), (4, Cancelled), (6, Cancelled)];
    assert_eq!(walked.steps, cut, "by one that failed");
    let won = walk("let w = parallel (\"first\"):\n  a = exec \"wait 1\"\n  b = exec \"hang\"\n").await;
    assert_eq!(won.steps, [(1, Done), (2, Done), (3, Cancelled)], "by one that was first");
    let asked = Bench::new("parallel:\n  a = session \"What?\"\n  b = exec \"wait 1\"\n");
    let asked = once(Bench { operator: Some(AnswerValue::Text("it".into())), ..asked }).await;
    assert_eq!(asked.steps, [(1, Done), (2, Done), (3, Done)], "answered");
}
