//! Properties of arbitrary text.

use proptest::prelude::*;
use serde_json::Value;

use pilothouse::prose::{CheckedProgram, Profile, SourceText, check, format, render};

/// Fragments of programs, so that random text gets past the first error.
const PIECES: [&str; 74] = [
    "\n",
    "\n  ",
    "\n    ",
    "\n      ",
    " ",
    "\r\n",
    "\t",
    "  ",
    "use ",
    "as ",
    "input ",
    "output ",
    "let ",
    "const ",
    "agent ",
    "block ",
    "session ",
    "resume",
    "exec ",
    "gate ",
    "parallel ",
    "repeat ",
    "for ",
    "in ",
    "loop ",
    "until ",
    "while ",
    "try",
    "catch ",
    "finally",
    "throw ",
    "choice ",
    "option ",
    "if ",
    "elif ",
    "else",
    "do ",
    "\"",
    "\"\"\"",
    "\"text\"",
    "\"{x}\"",
    "**",
    "***",
    "**a condition**",
    ":",
    ",",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "=",
    "->",
    "|",
    "map",
    "filter",
    "reduce(a, b)",
    "#",
    "# note\n",
    "x",
    "y",
    "item",
    "3",
    "12m",
    "-",
    "+",
    "==",
    ".",
    "timeout: \"5m\"",
    "on-fail: \"continue\"",
    "prompt: \"p\"",
    "é",
    "\\",
];

fn config() -> ProptestConfig {
    let cases = if std::env::var_os("PILOTHOUSE_LONG").is_some() { 200_000 } else { 1_500 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn programs() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..80);
    pieces.prop_map(|pieces| pieces.concat())
}

/// Well-formed programs in any layout: any indentation depth, spaces, comments and empty lines.
fn well_formed() -> impl Strategy<Value = String> {
    let simple = prop::sample::select(vec![
        "exec \"true\"",
        "let  x=exec \"a  b\"   # why",
        "session   \"a {x}\"->session \"b\"",
        "do  f ( x ,\"y\" )",
        "let l = [ \"a\",\n  # in between\n      \"b\" ,\n \"c\"\n]",
        "exec \"\"\"\n  kept  \n\t as it is\n\"\"\"",
        "x = {a,b}",
        "output r = p( a :x, b: [\"c\"] )",
        "throw",
        "# by itself",
        "",
        "if **it is so, it is** : # c\n@exec \"a\"\n#elif **no, it is not**:\n@exec \"b\"",
        "let q = l | map :\n@exec \"c\"",
        "let q = l\n^| filter:\n^@exec \"d\"\n^# between\n^| map:\n^@exec \"e\"",
        "session: a\n@prompt :\"p\"\n@# below\n@context:[x,y]",
    ]);
    let header = prop::sample::select(vec![
        "do:",
        "repeat  3 as i :",
        "for x,i in [\"a\"] :",
        "parallel( \"any\",count:1 ):",
        "loop until **it is done, all of it**(max:3) as n:",
        "try :",
        "block f(a,b)(max_depth: 3):",
        "if x==\"y\" and not(z.ok or 1<2):",
    ]);
    let line = (simple, header, 0_usize..6, 1_usize..5, any::<bool>());
    prop::collection::vec(line, 1..24).prop_map(|lines| {
        let mut text = String::new();
        let mut open = vec![0_usize];
        for (simple, header, close, wide, opens) in lines {
            let opened = text.ends_with(":\n");
            if !opened {
                open.truncate(open.len().saturating_sub(close / 2).max(1));
            }
            let depth = open.last().copied().unwrap_or(0);
            let pad = " ".repeat(depth);
            let deeper = " ".repeat(depth + wide);
            let piece = if opens && open.len() < 8 { header } else { simple };
            let piece = piece.replace('^', &" ".repeat(wide)).replace('@', &" ".repeat(wide));
            let piece = piece.replace("\n#elif", "\nelif");
            for one in piece.split('\n') {
                text.push_str(if piece.contains("\"\"\"") && !one.starts_with("exec") { "" } else { &pad });
                text.push_str(one);
                text.push('\n');
            }
            if opens && open.len() < 8 {
                open.push(depth + wide);
                text.push_str(&format!("{deeper}# first\n{deeper}exec \"z\"\n"));
            }
        }
        text
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        programs(),
        prop::collection::vec(any::<u8>(), 0..400)
            .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    ]
}

fn sound(source: &SourceText, checked: &CheckedProgram) {
    for one in &checked.diagnostics {
        let related = one.related.as_ref().map(|related| related.span);
        for span in [Some(one.span), related].into_iter().flatten() {
            assert!(source.text().get(span.range()).is_some(), "{one:?} points outside");
        }
        assert!(!one.message.is_empty() && !one.message.ends_with('.'), "{one:?}");
        assert!(render(source, one).lines().count() >= 4);
    }
    let tree = serde_json::to_value(&checked.program).expect("JSON");
    spans(&tree, source.text());
}

fn spans(tree: &Value, text: &str) {
    match tree {
        Value::Object(fields) => {
            if let Some([start, end]) = fields.get("span").and_then(Value::as_array).map(Vec::as_slice) {
                let place = |value: &Value| usize::try_from(value.as_u64().expect("a number")).expect("fits");
                assert!(text.get(place(start)..place(end)).is_some(), "{tree}");
            }
            fields.values().for_each(|value| spans(value, text));
        }
        Value::Array(values) => values.iter().for_each(|value| spans(value, text)),
        _ => {}
    }
}

/// Removes the source positions from a tree.
fn shape(tree: &mut Value) {
    match tree {
        Value::Object(fields) => {
            fields.remove("span");
            fields.values_mut().for_each(shape);
        }
        Value::Array(values) => values.iter_mut().for_each(shape),
        _ => {}
    }
}

fn shape_of(text: &str) -> Value {
    let source = SourceText::new("t.prose", text).expect("short");
    let mut tree = serde_json::to_value(check(&source, Profile::Compat).program).expect("JSON");
    shape(&mut tree);
    tree
}

fn keeps_its_meaning(text: &str) {
    let source = SourceText::new("t.prose", text).expect("short");
    let Ok(once) = format(&source) else { return };
    let again = SourceText::new("t.prose", &once).expect("short");
    assert_eq!(format(&again).as_deref(), Ok(&*once), "not stable:\n{text}\n--\n{once}");
    assert_eq!(shape_of(text), shape_of(&once), "another meaning:\n{text}\n--\n{once}");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text_is_parsed_and_diagnostics_point_inside_it(text in any_text(), strict in any::<bool>()) {
        let profile = if strict { Profile::Strict } else { Profile::Compat };
        let source = SourceText::new("t.prose", &text).expect("short");
        sound(&source, &check(&source, profile));
    }

    #[test]
    fn formatting_is_stable_and_keeps_the_meaning(text in programs()) {
        keeps_its_meaning(&text);
    }

    #[test]
    fn formatting_a_well_formed_program_keeps_its_meaning_and_its_comments(text in well_formed()) {
        let source = SourceText::new("t.prose", &text).expect("short");
        let canonical = format(&source).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        let comments = |text: &str| text.lines().filter(|line| line.contains('#')).count();
        assert_eq!(comments(&text), comments(&canonical), "{text}\n--\n{canonical}");
        keeps_its_meaning(&text);
    }
}

#[test]
fn a_program_stays_as_it_is_when_formatted() {
    let mut read = 0;
    for folder in ["tests/corpus/prose", "tests/fuzz/corpus/prose"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in std::fs::read_dir(folder).expect("the corpus").flatten() {
            let text = std::fs::read_to_string(entry.path()).expect("a program");
            let source = SourceText::new("t.prose", &text).expect("short");
            for profile in [Profile::Compat, Profile::Strict] {
                sound(&source, &check(&source, profile));
            }
            keeps_its_meaning(&text);
            read += 1;
        }
    }
    assert!(read > 10);
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let deep =
        |open: &str, close: &str| format!("let x = {}\"a\"{}\n", open.repeat(5_000), close.repeat(5_000));
    for text in [deep("[", "]"), deep("f(a: ", ")"), deep("do f(", ")"), deep("{ a: ", " }")] {
        let source = SourceText::new("t.prose", &text).expect("short");
        let checked = check(&source, Profile::Compat);
        assert!(checked.diagnostics.iter().any(|one| one.code.as_str() == "HPE024"), "{:.40}", text);
    }
    let blocks: String = (0..2_000).map(|level| format!("{}do:\n", " ".repeat(level))).collect();
    let source = SourceText::new("t.prose", &blocks).expect("short");
    assert!(check(&source, Profile::Compat).has_errors());
    let words = format!("if {}x:\n  exec \"true\"\n", "not ".repeat(50_000));
    let source = SourceText::new("t.prose", &words).expect("short");
    let _ = check(&source, Profile::Compat);
    let sums = format!("let x = y{}\n", " + y".repeat(50_000));
    let source = SourceText::new("t.prose", &sums).expect("short");
    let _ = check(&source, Profile::Compat);
}

#[test]
fn complaints_are_bounded_and_errors_are_never_left_out() {
    let text = "exec \"\\q\"\n".repeat(20_000) + "exec \"\"\n";
    let source = SourceText::new("t.prose", &text).expect("short");
    let checked = check(&source, Profile::Compat);
    assert_eq!((checked.diagnostics.len(), checked.unlisted), (1_000, 19_001));
    assert!(checked.has_errors());
}
