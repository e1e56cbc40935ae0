//! Any text can be parsed, checked and formatted without a panic, and the canonical form is stable.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pilothouse::prose::{Profile, SourceText, check, format, render};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(source) = SourceText::new("fuzz.prose", &text) else { return };
    for profile in [Profile::Compat, Profile::Strict] {
        let checked = check(&source, profile);
        for one in &checked.diagnostics {
            assert!(text.get(one.span.range()).is_some(), "{one:?} points outside");
            let _ = render(&source, one);
        }
    }
    if let Ok(once) = format(&source) {
        let again = SourceText::new("fuzz.prose", &once).expect("no longer than it was");
        assert_eq!(format(&again).as_deref(), Ok(&*once), "the canonical form changes again");
        assert_eq!(shape(&source), shape(&again), "the canonical form means something else");
    }
});

/// A program as a tree without source positions.
fn shape(source: &SourceText) -> serde_json::Value {
    let mut tree = serde_json::to_value(check(source, Profile::Compat).program).expect("JSON");
    strip(&mut tree);
    tree
}

fn strip(tree: &mut serde_json::Value) {
    match tree {
        serde_json::Value::Object(fields) => {
            fields.remove("span");
            fields.values_mut().for_each(strip);
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}
