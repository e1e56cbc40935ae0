//! Parsing of a session command's output as an answer. The output is untrusted: it is parsed within limits, and
//! nothing is guessed.

use serde_json::Value;

use super::preset::{find_preset, prints_json};
use crate::agents::{ReadReply, SessionReply, no_json};

/// The maximum length of an answer, in bytes.
pub const MOST_BYTES: usize = 1 << 20;

/// Parses a command's output: all of it is the answer, or the part that its JSON contains (`member`, if the program
/// is unknown).
///
/// # Errors
/// Why it is not an answer, along with what is known about the session.
pub fn reply(words: &[String], member: &str, printed: &str) -> ReadReply {
    let read = match find_preset(words) {
        Some(preset) if prints_json(words) => (preset.reply)(printed),
        None if !member.is_empty() => read_member(member, printed),
        _ => Ok(SessionReply { text: printed.to_owned(), ..SessionReply::default() }),
    }?;
    let reply = SessionReply { text: read.text.trim_end().to_owned(), ..read };
    let refused = |why: &str| Err((why.to_owned(), SessionReply { text: String::new(), ..reply.clone() }));
    match reply.text.len() {
        _ if reply.text.trim().is_empty() => refused("it answered nothing"),
        bytes if bytes > MOST_BYTES => {
            refused(&format!("its answer has {bytes} bytes; {MOST_BYTES} are the most"))
        }
        _ => Ok(reply),
    }
}

fn read_member(member: &str, printed: &str) -> ReadReply {
    let last = || printed.trim_end().lines().next_back().and_then(|line| serde_json::from_str(line).ok());
    let whole: Value = serde_json::from_str(printed).ok().or_else(last).ok_or_else(no_json)?;
    let found = member.split('.').try_fold(&whole, |value, part| value.get(part));
    let text = match found {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => {
            return Err((format!("the JSON it printed has no `{member}`"), SessionReply::about(&whole)));
        }
        Some(other) => other.to_string(),
    };
    Ok(SessionReply { text, ..SessionReply::about(&whole) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::session_id;

    fn read(words: &[&str], member: &str, printed: &str) -> Result<SessionReply, (String, SessionReply)> {
        reply(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), member, printed)
    }

    fn answer(
        text: &str,
        session: Option<&str>,
        cost: Option<u64>,
    ) -> Result<SessionReply, (String, SessionReply)> {
        Ok(SessionReply { text: text.into(), session: session.map(str::to_owned), cost })
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
    fn output_that_holds_no_answer_is_a_failure_with_a_reason() {
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
            assert_eq!(session_id(bad), None, "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn reading_any_printed_reply_never_gives_an_empty_answer(printed in "(\\PC|\n|[{}\\[\\]\":,]){0,200}") {
            for words in [CLAUDE, CODEX, GEMINI, OPENCODE, &["mine"]] {
                if let Ok(read) = read(words, "a", &printed) {
                    proptest::prop_assert!(!read.text.trim().is_empty());
                }
            }
        }
    }
}
