//! Parsing of a session command's output as an answer. The output is untrusted: it is parsed within limits, and
//! nothing is guessed.

use serde_json::Value;

use super::preset::{Preset, prints_json};

/// The maximum length of an answer, in bytes.
pub const MOST_BYTES: usize = 1 << 20;

/// An answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// The text of the answer.
    pub text: String,
    /// The program's own session, for resuming it later.
    pub session: Option<String>,
    /// What it cost, in millionths of a dollar.
    pub cost: Option<u64>,
}

/// Parses a command's output: all of it is the answer, or the part that its JSON contains (`member`, if the program
/// is unknown).
///
/// # Errors
/// Why it is not an answer, along with what is known about the session.
pub fn reply(words: &[String], member: &str, printed: &str) -> Result<Reply, (String, Reply)> {
    let read = match Preset::of(words) {
        Some(preset) if prints_json(words) => known(preset, printed),
        None if !member.is_empty() => named(member, printed),
        _ => Ok(Reply { text: printed.to_owned(), ..Reply::default() }),
    }?;
    let reply = Reply { text: read.text.trim_end().to_owned(), ..read };
    let refused = |why: &str| Err((why.to_owned(), Reply { text: String::new(), ..reply.clone() }));
    match reply.text.len() {
        _ if reply.text.trim().is_empty() => refused("it answered nothing"),
        bytes if bytes > MOST_BYTES => {
            refused(&format!("its answer has {bytes} bytes; {MOST_BYTES} are the most"))
        }
        _ => Ok(reply),
    }
}

type Read = Result<Reply, (String, Reply)>;

fn no_json() -> (String, Reply) {
    ("what it printed is not the JSON it was asked for".to_owned(), Reply::default())
}

fn named(member: &str, printed: &str) -> Read {
    let last = || printed.trim_end().lines().next_back().and_then(|line| serde_json::from_str(line).ok());
    let whole: Value = serde_json::from_str(printed).ok().or_else(last).ok_or_else(no_json)?;
    let found = member.split('.').try_fold(&whole, |value, part| value.get(part));
    let text = match found {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => {
            return Err((format!("the JSON it printed has no `{member}`"), about(&whole)));
        }
        Some(other) => other.to_string(),
    };
    Ok(Reply { text, ..about(&whole) })
}

/// Returns the metadata that many programs include in their JSON.
fn about(value: &Value) -> Reply {
    Reply {
        text: String::new(),
        session: value["session_id"].as_str().and_then(session),
        cost: cost(&value["total_cost_usd"]),
    }
}

/// Returns a session id if it is safe to use in a command line.
fn session(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let fits = !text.is_empty() && text.len() <= 128 && !text.starts_with('-') && text.chars().all(is_plain);
    fits.then(|| text.to_owned())
}

fn cost(usd: &Value) -> Option<u64> {
    let usd = usd.as_f64().filter(|usd| usd.is_finite() && (0.0..1e9).contains(usd))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 10^15")]
    Some((usd * 1e6).round() as u64)
}

fn known(preset: Preset, printed: &str) -> Read {
    match preset {
        Preset::Claude => claude(printed),
        Preset::Codex => codex(printed),
        Preset::Gemini => gemini(printed),
        Preset::Opencode => opencode(printed),
    }
}

fn events(printed: &str) -> impl DoubleEndedIterator<Item = Value> {
    printed.lines().filter_map(|line| serde_json::from_str::<Value>(line.trim()).ok())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn claude(printed: &str) -> Read {
    let is_result = |value: &Value| value["type"] == "result";
    let whole = serde_json::from_str::<Value>(printed).ok();
    let whole = whole.and_then(|value| match value {
        Value::Array(all) => all.into_iter().rev().find(is_result),
        one => Some(one),
    });
    let result =
        whole.filter(is_result).or_else(|| events(printed).rev().find(is_result)).ok_or_else(no_json)?;
    let facts = about(&result);
    if result["is_error"] == true || result["subtype"].as_str().is_some_and(|how| how != "success") {
        let why = result["result"].as_str().or(result["subtype"].as_str()).unwrap_or("an error");
        return Err((why.to_owned(), facts));
    }
    Ok(Reply { text: text(&result["result"]), ..facts })
}

fn codex(printed: &str) -> Read {
    let (mut reply, mut failed, mut is_any) = (Reply::default(), None, false);
    for event in events(printed) {
        is_any = true;
        match event["type"].as_str().unwrap_or_default() {
            "thread.started" => reply.session = event["thread_id"].as_str().and_then(session),
            "item.completed" if event["item"]["type"] == "agent_message" => {
                reply.text = text(&event["item"]["text"]);
            }
            "turn.completed" => failed = None,
            "turn.failed" => failed = Some(text(&event["error"]["message"])),
            "error" => failed = Some(text(&event["message"])),
            _ => {}
        }
    }
    match failed {
        _ if !is_any => Err(no_json()),
        Some(why) => Err((why, reply)),
        None => Ok(reply),
    }
}

fn gemini(printed: &str) -> Read {
    // Warnings may precede it.
    let start = printed.find('{').ok_or_else(no_json)?;
    let mut values = serde_json::Deserializer::from_str(&printed[start..]).into_iter::<Value>();
    let value = values.next().and_then(Result::ok).ok_or_else(no_json)?;
    let facts = about(&value);
    match value["error"]["message"].as_str() {
        Some(why) => Err((why.to_owned(), facts)),
        None => Ok(Reply { text: text(&value["response"]), ..facts }),
    }
}

fn opencode(printed: &str) -> Read {
    let (mut reply, mut message, mut failed, mut is_any) = (Reply::default(), Value::Null, None, false);
    for event in events(printed) {
        is_any = true;
        if let Some(own) = event["sessionID"].as_str() {
            reply.session = session(own);
        }
        let part = &event["part"];
        match event["type"].as_str().unwrap_or_default() {
            "text" => {
                // The last message is the answer; it may come in several parts.
                if part["messageID"] != message {
                    (message, reply.text) = (part["messageID"].clone(), String::new());
                }
                reply.text.push_str(part["text"].as_str().unwrap_or_default());
            }
            "step_finish" => {
                let spent = cost(&part["cost"]);
                reply.cost = spent.map(|spent| spent.saturating_add(reply.cost.unwrap_or(0))).or(reply.cost);
            }
            "error" => {
                failed = Some(event["error"]["data"]["message"].as_str().unwrap_or("an error").to_owned())
            }
            _ => {}
        }
    }
    match failed {
        _ if !is_any => Err(no_json()),
        Some(why) => Err((why, reply)),
        None => Ok(reply),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str], member: &str, printed: &str) -> Result<Reply, (String, Reply)> {
        reply(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), member, printed)
    }

    fn answer(text: &str, session: Option<&str>, cost: Option<u64>) -> Result<Reply, (String, Reply)> {
        Ok(Reply { text: text.into(), session: session.map(str::to_owned), cost })
    }

    const CLAUDE: &[&str] = &["claude", "-p", "--output-format", "json"];
    const CODEX: &[&str] = &["codex", "exec", "--json"];
    const GEMINI: &[&str] = &["gemini", "--output-format", "json"];
    const OPENCODE: &[&str] = &["opencode", "run", "--format", "json"];

    #[test]
    fn the_answer_of_each_program_is_found_in_its_json() {
        let printed = r#"{"type":"result","subtype":"success","is_error":false,"result":"four","session_id":"a-1","total_cost_usd":0.0123}"#;
        assert_eq!(read(CLAUDE, "", printed), answer("four", Some("a-1"), Some(12_300)));
        let lines = format!("{{\"type\":\"system\"}}\n{printed}\n");
        assert_eq!(read(CLAUDE, "", &lines), answer("four", Some("a-1"), Some(12_300)));
        let printed = concat!(
            r#"{"type":"thread.started","thread_id":"t-1"}"#,
            "\n",
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"looking"}}"#,
            "\n",
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"four"}}"#,
            "\n",
            r#"{"type":"turn.completed","usage":{}}"#,
            "\n",
        );
        assert_eq!(read(CODEX, "", printed), answer("four", Some("t-1"), None));
        let printed = "a warning\n{\n \"session_id\": \"g-1\",\n \"response\": \"four\"\n}\n";
        assert_eq!(read(GEMINI, "", printed), answer("four", Some("g-1"), None));
        let printed = concat!(
            r#"{"type":"text","sessionID":"ses_1","part":{"messageID":"m1","text":"looking"}}"#,
            "\n",
            r#"{"type":"step_finish","sessionID":"ses_1","part":{"cost":0.5}}"#,
            "\n",
            r#"{"type":"text","sessionID":"ses_1","part":{"messageID":"m2","text":"fo"}}"#,
            "\n",
            r#"{"type":"text","sessionID":"ses_1","part":{"messageID":"m2","text":"ur"}}"#,
            "\n",
            r#"{"type":"step_finish","sessionID":"ses_1","part":{"cost":0.25}}"#,
            "\n",
        );
        assert_eq!(read(OPENCODE, "", printed), answer("four", Some("ses_1"), Some(750_000)));
        assert_eq!(read(&["claude", "-p"], "", "plain\n"), answer("plain", None, None));
        assert_eq!(read(&["mine"], "out.text", r#"{"out":{"text":"four"}}"#), answer("four", None, None));
        assert_eq!(read(&["mine"], "n", "log\n{\"n\":4}\n"), answer("4", None, None));
        assert_eq!(read(&["mine"], "", "  four\n\n"), answer("  four", None, None));
    }

    #[test]
    fn what_is_no_answer_is_a_failure_and_never_empty() {
        let long = "x".repeat(MOST_BYTES + 1);
        for (words, member, printed) in [
            (CLAUDE, "", "four"),
            (CLAUDE, "", ""),
            (CLAUDE, "", r#"{"type":"result","subtype":"success","is_error":true,"result":"no key"}"#),
            (CLAUDE, "", r#"{"type":"result","subtype":"error_max_turns"}"#),
            (CLAUDE, "", r#"{"type":"result","subtype":"success","result":"  "}"#),
            (CODEX, "", "{\"type\":\"turn.failed\",\"error\":{\"message\":\"x\"}}"),
            (CODEX, "", "oops"),
            (GEMINI, "", "{\"error\":{\"message\":\"x\"}}"),
            (GEMINI, "", "{\"respon"),
            (OPENCODE, "", "{\"type\":\"error\",\"error\":{\"data\":{\"message\":\"x\"}}}"),
            (&["mine"][..], "out", "{\"o\":1}"),
            (&["mine"], "out", "none"),
            (&["mine"], "", " \n"),
            (&["mine"], "", &long),
        ] {
            let refused = read(words, member, printed).expect_err(words[0]);
            assert!(
                !refused.0.is_empty() && refused.1.text.is_empty() || printed.contains("type"),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn a_session_that_is_no_word_is_not_kept() {
        for bad in ["", "-x", "a b", "$(rm)", &"x".repeat(200)] {
            assert_eq!(session(bad), None, "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_is_printed_breaks_it(printed in "(\\PC|\n|[{}\\[\\]\":,]){0,200}") {
            for words in [CLAUDE, CODEX, GEMINI, OPENCODE, &["mine"]] {
                if let Ok(read) = read(words, "a", &printed) {
                    proptest::prop_assert!(!read.text.trim().is_empty());
                }
            }
        }
    }
}
