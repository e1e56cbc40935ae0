//! Each code that a check can report, shown by the shortest program that triggers it.

use super::{compat, strict, told};
use crate::{RuleCode, RulePhase};

/// Programs that trigger a code in `compat`. Others may be reported as well.
const PROGRAMS: &[(&str, &str)] = &[
    ("E001", "session \"a\n"),
    ("E002", "session \"\\q\"\n"),
    ("E003", "session\n"),
    ("E004", "for x [\"a\"]:\n  exec \"true\"\n"),
    ("E005", "exec \"true\"\n    x\n"),
    ("E006", "agent a:\n  model: opus\nagent a:\n  model: opus\n"),
    ("E007", "session: nobody\n"),
    ("E008", "session \"x\"\n  model: gpt\n"),
    ("E009", "session \"x\"\n  model: opus\n  model: opus\n"),
    ("E010", "use \"@a/b\"\nuse \"@a/b\"\n"),
    ("E011", "use \"\"\n"),
    ("E012", "use \"what\"\n"),
    ("E013", "agent a:\n  skills: \"x\"\n"),
    ("E014", "agent a:\n  skills: [x]\n"),
    ("E015", "agent a:\n  permissions: allow\n"),
    ("E016", "agent a:\n  permissions:\n    read: [x]\n"),
    ("E017", "agent a:\n  model: opus\nresume: a\n"),
    ("E019", "let a = \"x\"\nlet a = \"y\"\n"),
    ("E020", "input: \"what\"\n"),
    ("E021", "input a: \"x\"\ninput a: \"y\"\n"),
    ("E023", "output = \"x\"\n"),
    ("E024", "output a = \"x\"\noutput a = \"y\"\n"),
    ("E025", "nothing(a: \"b\")\n"),
    ("E050", "exec \"\"\n"),
    ("E051", "exec \"true\"\n  timeout: \"soon\"\n"),
    ("E052", "exec \"true\"\n  on-fail: \"retry\"\n"),
    ("E053", "exec \"{x}\"\n"),
    ("OPE001", "do:\n\texec \"true\"\n"),
    ("OPE002", "gate g:\n  timeout: \"5m\"\n"),
    ("OPE003", "loop (max: 0):\n  exec \"true\"\n"),
    ("HPE001", "const c = \"x\"\nc = \"y\"\n"),
    ("HPE002", "session \"x\"\n  context: y\n"),
    ("HPE003", "agent a:\n  model: opus\nlet a = \"x\"\n"),
    ("HPE004", "session \"x\"\n  context: [\"y\"]\n"),
    ("HPE005", "do nothing\n"),
    ("HPE006", "block a:\n  exec \"true\"\nblock a:\n  exec \"true\"\n"),
    ("HPE007", "block:\n  exec \"true\"\n"),
    ("HPE008", "parallel (\"most\"):\n  exec \"true\"\n"),
    ("HPE009", "parallel (on-fail: \"panic\"):\n  exec \"true\"\n"),
    ("HPE010", "parallel (\"all\", count: 1):\n  exec \"true\"\n"),
    ("HPE011", "parallel (\"any\", count: 0):\n  exec \"true\"\n"),
    ("HPE012", "repeat 0:\n  exec \"true\"\n"),
    ("HPE013", "if ****:\n  exec \"true\"\n"),
    ("HPE014", "try:\n  exec \"true\"\n"),
    ("HPE015", "choice **which way to go**:\n  exec \"true\"\n"),
    ("HPE016", "else:\n  exec \"true\"\n"),
    ("HPE017", "if **it is so, it is**:\n  exec \"a\"\nelse:\n  exec \"b\"\nelse:\n  exec \"c\"\n"),
    ("HPE018", "session \"x\"\n  retry: 0\n"),
    ("HPE019", "session \"x\"\n  backoff: slow\n"),
    ("HPE020", "let a = [\"x\"] | reduce(b):\n  exec \"true\"\n"),
    ("HPE021", "let a = [\"x\"] | sort:\n  exec \"true\"\n"),
    ("HPE022", "gate g:\n  prompt: \"?\"\n  timeout: \"soon\"\n"),
    ("HPE023", "gate g:\n  prompt: \"?\"\n  on_reject: panic\n"),
    ("HPE025", "agent a:\n  persist: sometimes\n"),
    ("W001", "session \"\"\n"),
    ("W002", "session \"  \"\n"),
    ("W004", "session \"x\"\n  prompt: \"\"\n"),
    ("W005", "exec \"true\"\n  retry: 3\n"),
    ("W006", "import \"x\" from \"somewhere\"\n"),
    ("W007", "agent a:\n  skills: [\"x\"]\n"),
    ("W008", "agent a:\n  permissions:\n    fly: allow\n"),
    ("W009", "agent a:\n  permissions:\n    bash: maybe\n"),
    ("W010", "agent a:\n  skills: []\n"),
    ("W011", "agent a:\n  persist: true\nsession: a\nsession: a\n"),
    ("W050", "exec \"true\"\n  timeout: \"11m\"\n"),
    ("W051", "let x = \"a\"\nexec \"{x}\"\n"),
    ("OPW001", "loop:\n  exec \"true\"\n"),
    ("OPW002", "if **ok**:\n  exec \"true\"\n"),
    ("OPW003", "import \"x\" from \"npm:y\"\n"),
    ("OPW004", "session \"x\":\n  model: opus\n"),
    ("OPW005", "session x:\n  prompt: \"y\"\n"),
    ("OPW007", "exec \"true\"\ninput a: \"x\"\n"),
    ("HPW001", "session \"{x}\"\n"),
    ("HPW002", "input a: \"\"\n"),
    ("HPW003", "block a(b):\n  exec \"true\"\ndo a\n"),
    ("HPW004", "let a = \"x\"\ndo:\n  let a = \"y\"\n"),
    ("HPW005", "let a = \"x\"\nrepeat 2 as a:\n  exec \"true\"\n"),
    ("HPW006", "parallel (\"any\", count: 2):\n  exec \"true\"\n"),
    ("HPW007", "throw \"\"\n"),
    ("HPW008", "session \"x\"\n  retry: 11\n"),
    ("HPW009", "agent a:\n  retry: 2\n"),
    (
        "HPW010",
        "choice **which way to go**:\n  option \"a\":\n    exec \"a\"\n  option \"a\":\n    exec \"b\"\n",
    ),
    ("HPW011", "do:\n"),
    ("HPW012", "gate g:\n  prompt: \"\"\n"),
    ("HPW013", "gate g:\n  prompt: \"?\"\n  allow: [\"ci\"]\n"),
    ("HPW014", "exec \"a\nb\"\n"),
    ("HPW015", "exec \"\"\"a\nb\n\"\"\"\n"),
    ("HPW016", "let a = \"x\"\nlet b = a + \"y\"\n"),
    ("HPW017", "let a = 1\n"),
    ("HPW018", "gate g:\n  prompt: \"?\"\n  on_reject: continue\nexec \"true\"\n"),
    ("HPW019", "throw\n"),
    ("HPW020", "a = \"x\"\n"),
    ("HPW023", "session \"x\"\n  context: \"y\"\n"),
    ("HPW024", "agent a:\n  model: opus\nfor a in [\"x\"]:\n  exec \"true\"\n"),
    ("HPW025", "let x = \"a\"\nsession \"{x\"\n"),
    ("HPW022", "parallel (\"first\"):\n  a = exec \"x\"\n  b = exec \"y\"\nexec \"{a}\"\n"),
    ("HPW021", "parallel (on-fail: \"collect\"):\n  exec \"true\"\n"),
];

fn program(code: RuleCode) -> Option<String> {
    match code {
        RuleCode::W003 => Some(format!("session \"{}\"\n", "long ".repeat(2_001))),
        RuleCode::HPE024 => Some(format!("let a = {0}\"x\"{1}\n", "[".repeat(80), "]".repeat(80))),
        _ => {
            let found = PROGRAMS.iter().find(|(known, _)| *known == code.as_str());
            found.map(|(_, program)| (*program).to_owned())
        }
    }
}

#[test]
fn every_code_is_given_by_a_program_and_weighs_what_the_table_says() {
    for code in RuleCode::ALL.iter().copied().filter(|code| code.row().when == RulePhase::Check) {
        let Some(text) = program(code) else {
            // Reported only in `strict`, in place of another code, or only if `use`d programs are available.
            let elsewhere =
                [RuleCode::E022, RuleCode::E026, RuleCode::E027, RuleCode::E028, RuleCode::HPE026];
            assert!(elsewhere.contains(&code), "no program gives {code}");
            continue;
        };
        let found = compat(&text).diagnostics.into_iter().find(|one| one.code == code);
        let found = found.unwrap_or_else(|| panic!("{code} is not given: {:?}", told(&compat(&text), &text)));
        assert_eq!(found.severity, code.in_profile(crate::Profile::Compat).1, "{code}");
        // A string that ends with its line in `strict` hides the errors that would follow it.
        let (stricter, severity) = code.in_profile(crate::Profile::Strict);
        let checked = strict(&text);
        let found = checked.diagnostics.iter().find(|one| one.code == stricter);
        assert!(
            found.is_some_and(|one| one.severity == severity),
            "{code} in strict: {:?}",
            told(&checked, &text)
        );
    }
}
