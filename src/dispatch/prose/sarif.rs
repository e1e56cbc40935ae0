//! Findings as SARIF 2.1.0, which code hosts and editors read.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::prose::RuleCode;

/// Builds the SARIF log of what `prose check` found.
pub(super) fn log(data: &Value) -> Value {
    let files = data["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = files.iter().flat_map(|file| {
        let findings = file["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
        findings.iter().map(move |finding| (file, finding))
    });
    let found: Vec<(&Value, &Value)> = found.collect();
    let codes: BTreeSet<RuleCode> = found.iter().filter_map(|(_, one)| code(one)).collect();
    let codes: Vec<RuleCode> = codes.into_iter().collect();
    let results: Vec<Value> = found.iter().map(|(file, one)| result(file, one, &codes)).collect();
    let unreadable: Vec<Value> = files.iter().filter_map(unreadable).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "pilothouse",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": unreadable.is_empty(),
                "toolExecutionNotifications": unreadable,
            }],
            "results": results,
        }],
    })
}

fn code(finding: &Value) -> Option<RuleCode> {
    RuleCode::find(finding["code"].as_str()?)
}

fn rule(code: RuleCode) -> Value {
    let row = code.row();
    json!({ "id": code, "shortDescription": { "text": row.what }, "help": { "text": row.fix } })
}

fn result(file: &Value, finding: &Value, codes: &[RuleCode]) -> Value {
    let text = |key: &str| finding[key].as_str().unwrap_or_default();
    let message = match finding["hint"].as_str() {
        Some(hint) => format!("{} ({hint})", text("message")),
        None => text("message").to_owned(),
    };
    let region = json!({
        "startLine": finding["line"],
        "startColumn": finding["column"],
        "endLine": finding["end_line"],
        "endColumn": finding["end_column"],
    });
    let mut result = json!({
        "ruleId": finding["code"],
        "ruleIndex": code(finding).and_then(|code| codes.binary_search(&code).ok()),
        "level": finding["severity"],
        "message": { "text": message },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact(file), "region": region } }],
    });
    let related = &finding["related"];
    if related.is_object() {
        let region = json!({ "startLine": related["line"], "startColumn": related["column"] });
        result["relatedLocations"] = json!([{
            "message": { "text": related["message"] },
            "physicalLocation": { "artifactLocation": artifact(file), "region": region },
        }]);
    }
    result
}

/// Returns a path as a relative or `file` URI.
fn artifact(file: &Value) -> Value {
    let path = file["file"].as_str().unwrap_or_default();
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    let escaped: String = path.bytes().map(letter).collect();
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    json!({ "uri": format!("{scheme}{escaped}") })
}

fn unreadable(file: &Value) -> Option<Value> {
    let why = file["unreadable"].as_str()?;
    Some(json!({
        "level": "error",
        "message": { "text": format!("cannot be read: {why}") },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact(file) } }],
    }))
}
