//! The rules of `docs/prose-rules.md` that a check can show; one test each.

use super::{compat, expect, expect_strict};
use crate::ast::{Condition, Expr, StatementKind};

#[test]
fn braces_always_interpolate_and_the_shells_are_pointed_out() {
    // docs/prose-rules.md#rule-14.
    let checked = compat("exec \"echo ${HOME_DIR}\"\n");
    let error = checked.diagnostics.iter().find(|one| one.is_error()).expect("an error");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("`$\\{HOME_DIR}`")), "{error:?}");
    let checked = compat("exec \"git log HEAD@{upstream}\"\n");
    let error = checked.diagnostics.iter().find(|one| one.is_error()).expect("an error");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("git")), "{error:?}");
    expect("exec \"awk '{print}' x\"\n", &["W051:1", "E053:1"]);
}

#[test]
fn a_folder_that_interpolates_needs_its_variable_and_is_not_warned_about() {
    // docs/prose-rules.md#rule-1, #rule-14.
    expect("let d = exec \"pwd\"\nexec \"true\"\n  cwd: \"{d}\"\n", &[]);
    expect("exec \"true\"\n  cwd: \"{d}\"\n", &["E053:2"]);
}

#[test]
fn braces_and_quotes_can_be_escaped_and_nothing_else() {
    // docs/prose-rules.md#rule-15.
    expect("session \"a \\{b\\} \\\" \\\\ \\n \\t\"\n", &[]);
    expect("session \"grep a\\|b\"\n", &["E002:1"]);
    expect("exec \"\"\"\nmake \\\n  all\n\"\"\"\n", &[]);
    expect_strict("exec \"\"\"\nmake \\\n  all\n\"\"\"\n", &["E002:2"]);
}

#[test]
fn strings_over_several_lines_are_a_warning_or_an_error() {
    // docs/prose-rules.md#rule-16.
    expect("exec \"echo a\necho b\"\n", &["HPW014:1"]);
    expect_strict("exec \"echo a\nsession \"x\"\n", &["E001:1"]);
    expect("session \"\"\"Say\nit\"\"\"\n", &["HPW015:1"]);
    expect_strict("session \"\"\"Say\nit\"\"\"\n", &["E005:1"]);
}

#[test]
fn a_quote_that_is_missing_is_found_where_it_is_missing() {
    // docs/prose-rules.md#rule-16.
    expect("let a = exec \"one\"\nexec \"two\nsession \"three\"\nexec \"four\"\n", &["E001:2"]);
    expect("session \"Hello\n", &["E001:1"]);
    expect("session \"\"\"\nHello\n", &["E001:1"]);
}

#[test]
fn a_name_counts_from_its_declaration_on_even_outside_its_branch() {
    // docs/prose-rules.md#rule-17.
    expect("exec \"echo {x}\"\nlet x = exec \"true\"\n", &["W051:1", "E053:1"]);
    expect("if **the tests are green**:\n  let x = exec \"true\"\nexec \"echo {x}\"\n", &["W051:3"]);
    expect("block b:\n  exec \"echo {x}\"\nlet x = exec \"true\"\ndo b\n", &["W051:2"]);
    expect("for i in [\"a\"]:\n  exec \"echo {i}\"\nexec \"echo {i}\"\n", &["W051:2", "W051:3", "E053:3"]);
    expect("let x = exec \"echo {x}\"\n", &["W051:1", "E053:1"]);
    expect("parallel:\n  a = exec \"true\"\n  b = exec \"echo {a}\"\n", &["W051:3", "E053:3"]);
}

#[test]
fn a_name_used_again_in_another_scope_is_a_warning_or_an_error() {
    // docs/prose-rules.md#rule-18.
    let nested = "let x = exec \"true\"\nrepeat 2:\n  let x = exec \"true\"\n";
    expect(nested, &["HPW004:3"]);
    expect_strict(nested, &["E019:3"]);
    let siblings = "if **one thing holds**:\n  let y = exec \"a\"\nelse:\n  let y = exec \"b\"\n";
    expect(siblings, &[]);
    expect_strict(siblings, &[]);
    expect(
        "try:\n  let y = exec \"a\"\ncatch:\n  let y = exec \"b\"\nfinally:\n  let y = exec \"c\"\n",
        &["HPW004:6"],
    );
    expect(
        "choice **which way to go**:\n  option \"a\":\n    do:\n      let y = exec \"a\"\n  option \"b\":\n    let y = exec \"b\"\n",
        &[],
    );
    let both = "if **one thing holds**:\n  let y = exec \"a\"\nif **another holds**:\n  let y = exec \"b\"\n";
    expect(both, &["HPW004:4"]);
    expect_strict(both, &["E019:4"]);
    expect("let x = exec \"true\"\nrepeat 2 as x:\n  exec \"true\"\n", &["HPW005:2"]);
}

#[test]
fn a_name_of_an_iteration_among_others_has_no_value_after_it() {
    // docs/prose-rules.md#rule-18.
    let of_each = "parallel for i in [\"a\"]:\n  let x = exec \"true\"\n  exec \"echo {x}\"\n";
    expect(&format!("{of_each}exec \"echo {{x}}\"\n"), &["W051:3", "W051:4", "E053:4"]);
    expect(
        &format!("let x = exec \"true\"\n{of_each}exec \"echo {{x}}\"\n"),
        &["HPW004:3", "W051:4", "W051:5"],
    );
    let piped = "let r = [\"a\"] | pmap:\n  let x = exec \"true\"\nsession \"look\"\n  context: x\n";
    expect(piped, &["HPE002:4"]);
    expect("for i in [\"a\"]:\n  let x = exec \"true\"\nexec \"echo {x}\"\n", &["W051:3"]);
}

#[test]
fn a_branch_that_may_not_count_is_named_among_others() {
    // docs/prose-rules.md#rule-11.
    let block = |join: &str| format!("parallel ({join}):\n  a = exec \"x\"\n  b = exec \"y\"\n");
    let session = |context: &str| format!("session \"look at it\"\n  context: {context}\n");
    for join in ["\"first\"", "\"any\", count: 1"] {
        expect(&(block(join) + &session("a")), &["HPW022:5"]);
        expect(&(block(join) + &session("{ a, b }") + &session("[a, b]")), &[]);
        expect(&(block(join) + "a = exec \"z\"\n" + &session("a")), &[]);
    }
    expect(&(block("\"any\", count: 2") + &session("a")), &[]);
    expect(&(block("\"first\"") + "exec \"{b}\"\n"), &["W051:4", "HPW022:4"]);
}

#[test]
fn a_context_may_be_a_text_or_an_object_with_quoted_keys() {
    // docs/prose-rules.md#rule-43.
    let text = "session \"x\"\n  context: \"what is known\"\n";
    expect(text, &["HPW023:2"]);
    expect_strict(text, &["HPE004:2"]);
    let object = "let n = exec \"true\"\nsession \"x\"\n  context: {\"discs\": n}\n";
    expect(object, &["HPW017:3"]);
    expect_strict(object, &["E005:3"]);
}

#[test]
fn a_value_that_cannot_be_read_still_declares_its_name() {
    expect("let x = exec 'a'\nexec \"echo {x}\"\noutput o = x\n", &["E005:1", "W051:2"]);
    expect("let { a, b } = \nexec \"echo {a}\"\n", &["E004:1", "W051:2"]);
}

#[test]
fn a_missing_colon_is_named() {
    for word in ["try", "do", "loop", "parallel"] {
        let text = format!("{word}\n  exec \"true\"\n");
        let checked = compat(&text);
        // Even without its colon it is parsed as a `try`, and one without a `catch`.
        let errors = checked.diagnostics.iter().filter(|one| one.is_error() && one.code.as_str() != "HPE014");
        let errors: Vec<&str> = errors.map(|one| one.message.as_str()).collect();
        assert_eq!(errors, [format!("expected `:` after `{word}`, found the end of the line")]);
    }
    expect("repeat 2\n  exec \"true\"\n", &["E004:1"]);
    expect("if **one thing holds**\n  exec \"true\"\n", &["E004:1"]);
}

#[test]
fn a_name_that_only_a_block_has_is_said_to_be_its_own() {
    let checked = compat("block f:\n  let x = exec \"true\"\ndo f\nexec \"echo {x}\"\n");
    let error = checked.diagnostics.iter().find(|one| one.is_error()).expect("an error");
    let hint = error.hint.as_deref();
    assert_eq!(hint, Some("only the block `f` has a `x`: bind the value of `do f`"));
}

#[test]
fn an_input_after_something_was_executed_is_a_warning_or_an_error() {
    // docs/prose-rules.md#rule-19.
    let text = "exec \"true\"\ninput x: \"what\"\n";
    expect(text, &["OPW007:2"]);
    expect_strict(text, &["E022:2"]);
    expect("agent a:\n  model: opus\ninput x: \"what\"\n", &[]);
}

#[test]
fn an_exec_takes_a_string_and_its_word_may_be_a_name() {
    // docs/prose-rules.md#rule-26.
    expect("let exec = exec \"true\"\nsession \"look at it\"\n  context: exec\n", &[]);
    expect("let c = exec \"true\"\nexec c\n", &["E005:2"]);
    expect("let c = exec \"true\"\nlet d = exec c\n", &["E005:2"]);
    expect("exec\n", &["E005:1"]);
}

#[test]
fn an_arrow_with_a_command_is_done_all_the_same() {
    // docs/prose-rules.md#rule-26.
    let text = "session \"plan\" -> exec \"make\"\n";
    expect(text, &["HPW017:1"]);
    expect_strict(text, &["E005:1"]);
    expect("session \"plan\" -> session \"do\"\n", &[]);
}

#[test]
fn conditions_of_other_languages_are_evaluated_or_asked_about() {
    // docs/prose-rules.md#rule-36.
    let text = "let m = exec \"true\"\nif m == \"x\":\n  exec \"true\"\n";
    expect(text, &["HPW016:2"]);
    expect_strict(text, &["E005:2"]);
    let condition = |text: &str| {
        let checked = compat(text);
        let StatementKind::Do(value) = &checked.program.body[1].kind else { panic!("{checked:?}") };
        let Expr::If(decision) = &**value else { panic!("{checked:?}") };
        decision.arms[0].condition.clone()
    };
    assert!(matches!(condition(text), Condition::Compare { .. }));
    let opaque = condition("let m = exec \"true\"\nif m[0]  has [1]:\n  exec \"true\"\n");
    let Condition::Opaque(words) = opaque else { panic!("{opaque:?}") };
    assert_eq!(words.text, "m[0] has [1]");
    expect("let d = exec \"x\"\nif **it is small** or d <= 0:\n  exec \"true\"\n", &["HPW016:2"]);
    expect("let r = exec \"x\"\nif not r.ok:\n  exec \"true\"\n", &["HPW016:2"]);
}

#[test]
fn calculations_and_numbers_are_warned_about() {
    // docs/prose-rules.md#rule-36.
    expect("let n = 0\nlet m = n + 1\n", &["HPW017:1", "HPW016:2"]);
    expect_strict("let n = 0\n", &["E005:1"]);
    expect("let a = exec \"x\"\nlet b = a > 3\n", &["HPW016:2"]);
    expect("let a = exec \"x\" exec \"y\"\n", &["E004:1"]);
}

#[test]
fn only_one_of_two_branches_has_its_output() {
    // docs/prose-rules.md#rule-37.
    expect("if **it went well**:\n  output r = \"a\"\nelse:\n  output r = \"b\"\n", &[]);
    expect("output r = \"a\"\noutput r = \"b\"\n", &["E024:2"]);
}

#[test]
fn an_unknown_variable_in_a_sessions_text_stays_text() {
    // docs/prose-rules.md#rule-38.
    let text = "session \"say {what}\"\n";
    expect(text, &["HPW001:1"]);
    expect_strict(text, &["E053:1"]);
    expect("gate g:\n  prompt: \"go to {where}?\"\n", &["HPW001:2"]);
}

#[test]
fn a_gate_that_goes_on_when_rejected_guards_nothing() {
    // docs/prose-rules.md#rule-29.
    expect("gate g:\n  prompt: \"go?\"\n  on_reject: continue\nexec \"true\"\n", &["HPW018:4"]);
    expect("gate g:\n  prompt: \"go?\"\nexec \"true\"\n", &[]);
}

#[test]
fn forms_of_the_languages_users_are_accepted_with_a_warning() {
    // docs/prose-rules.md#rule-44.
    let agent = "agent w:\n  model: opus\n";
    for (text, line) in [
        ("session: w \"x\"\n", 3),
        ("session s: w \"x\"\n", 3),
        ("let a = session: w \"x\"\n  model: haiku\n", 3),
        ("session: w\n  \"x\"\n", 4),
        ("session: w\n  model: haiku\n  \"\"\"\n  x\n  \"\"\"\n", 5),
        ("session: w \"x\" -> session \"y\"\n", 3),
        ("let xs = [\"a\"]\nparallel for x in xs (on-fail: \"continue\"):\n  session \"{x}\"\n", 4),
        ("parallel for x in [\"a\"] (on-fail: \"ignore\"):\n  session \"{x}\"\n", 3),
    ] {
        let text = format!("{agent}{text}");
        expect(&text, &[&format!("HPW017:{line}")]);
        expect_strict(&text, &[&format!("E005:{line}")]);
    }
    expect("agent w:\n  persist: true\nsession: w\nresume: w\n  \"x\"\n", &["HPW017:5"]);
    expect("session \"x\"\n  \"y\"\n", &["E005:2"]);
    expect(&format!("{agent}session: w \"x\"\n  prompt: \"y\"\n"), &["HPW017:3", "E009:4"]);
    expect(&format!("{agent}session: w\n  \"x\"\n  \"y\"\n"), &["HPW017:4", "E009:5", "HPW017:5"]);
    expect("for x in [\"a\"] (on-fail: \"ignore\"):\n  session \"{x}\"\n", &["E004:1"]);
    expect("parallel for x in [\"a\"] (\"first\"):\n  session \"{x}\"\n", &["E005:1"]);
}

#[test]
fn skills_may_stand_on_lines_of_their_own() {
    // docs/prose-rules.md#rule-44.
    let text = "import \"web-search\" from \"npm:a\"\nimport \"@a/b\" from \"npm:b\"\nagent w:\n  skills:\n    - web-search  # finds\n    \
                - \"@a/b\"\n  model: opus\n";
    expect(text, &["OPW003:1", "OPW003:2", "HPW017:4"]);
    let skills = &compat(text).program.agents[0].skills;
    let names: Vec<_> = skills.iter().map(|skill| skill.display_text().into_owned()).collect();
    assert_eq!(names, ["web-search", "@a/b"]);
    expect("agent w:\n  skills:\n    - @a/b\n", &["HPW017:2", "W007:3"]);
    expect("agent w:\n  skills:\n    -\n", &["HPW017:2", "E014:3"]);
    expect("agent w:\n  skills:\n    - \"a\"\n    b\n", &["HPW017:2", "W007:3", "E014:4"]);
    expect_strict("agent w:\n  skills:\n    - a\n", &["E005:2", "W007:3"]);
}

#[test]
fn a_brace_that_interpolates_nothing_is_pointed_out() {
    // docs/prose-rules.md#rule-45.
    let x = "let x = \"a\"\n";
    for inside in ["{x", "{x + 1}", "{x.exit_code}", "{x.trim()}", "{never_closed", "{no.part}"] {
        expect(&format!("{x}session \"say {inside}\"\n"), &["HPW025:2"]);
        expect_strict(&format!("{x}session \"say {inside}\"\n"), &["HPW025:2"]);
        expect(&format!("{x}if **it says {inside}**:\n  exec \"true\"\n"), &["HPW025:2"]);
    }
    expect(&format!("{x}exec \"echo {{x}} {{x.y}}\"\n"), &["W051:2", "HPW025:2"]);
    expect(&format!("{x}session \"\\{{x {{}} {{\\\"x {{ x }} {{print $1}}\"\n"), &[]);
    expect("agent a:\n  prompt: \"{x\"\nlet x = \"a\"\n", &["HPW025:2"]);
}

#[test]
fn a_catch_does_not_follow_a_finally() {
    let text = "try:\n  exec \"a\"\nfinally:\n  exec \"b\"\ncatch:\n  exec \"c\"\n";
    expect(text, &["HPE016:5"]);
    expect_strict(text, &["HPE016:5"]);
    expect("try:\n  exec \"a\"\ncatch:\n  exec \"b\"\nfinally:\n  exec \"c\"\n", &[]);
}

#[test]
fn single_quotes_are_no_quotes() {
    for text in ["exec 'ls'\n", "let a = 'x'\n", "use \"./a.prose\" as b\nlet a = b(c: 'x')\n"] {
        let checked = compat(text);
        let hint = checked.diagnostics[0].hint.as_deref().unwrap_or_default();
        assert!(hint.contains("double quotes"), "{text}: {checked:?}");
    }
}

#[test]
fn many_names_and_many_mistakes_do_not_multiply() {
    let names: String = (0..20_000).map(|n| format!("let v{n} = \"x\"\n")).collect();
    let text = names + &"exec \"{nope}\"\n".repeat(20_000);
    // Comparing each mistake with each name would take minutes.
    assert!(compat(&text).has_errors());
}
