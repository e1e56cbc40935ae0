//! Answerers of a program's sessions: a person, a connected agent, or a command.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::consequence::rule_words::{plain_words, quote};
use crate::envelope::units::{Limit, Period};

/// The answerers of a program's sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SessionSettings {
    /// The answerer of a session that no setting below covers: a person (`ask`), a connected agent (`mcp`, or
    /// `mcp:LABEL`), or a command: `claude`, `codex`, `gemini`, `opencode`, or any program as a list of its words.
    pub by: Answerer,
    /// The answerer of conditions between `**`; `same`: the answerer of sessions.
    pub conditions: Answerer,
    /// The answerer of an agent's sessions, by the agent's name in the program.
    pub agents: BTreeMap<String, Answerer>,
    /// The answerer of a model's sessions, by the model's name in the program: `opus`, `sonnet`, `haiku`.
    pub models: BTreeMap<String, Answerer>,
    /// The answerer of a session that has its own name (`session NAME: agent`), by that name.
    pub labels: BTreeMap<String, Answerer>,
    /// Maximum run time of a session command.
    #[serde(with = "Period")]
    pub timeout: Duration,
    /// Maximum wait of a question to a person or a connected agent; `none`: unlimited. Gates have their own limits.
    #[serde(with = "Limit")]
    pub answer_within: Option<Duration>,
    /// The JSON member that holds the answer in the output of a program without a preset; empty: the entire output.
    pub value: String,
    /// Pass the task to a program without a preset as its last argument, not on standard input.
    pub task_as_argument: bool,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            by: Answerer::Ask,
            conditions: Answerer::Same,
            agents: BTreeMap::new(),
            models: BTreeMap::new(),
            labels: BTreeMap::new(),
            timeout: Duration::from_secs(30 * 60),
            answer_within: None,
            value: String::new(),
            task_as_argument: false,
        }
    }
}

/// An answerer of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Answerer {
    /// A person.
    #[default]
    Ask,
    /// A connected agent; if a label is given, the one with that label.
    Mcp(Option<String>),
    /// A command: a program and its arguments.
    Command(Vec<String>),
    /// The default answerer.
    Same,
}

/// The properties of a session that determine its answerer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionSubject<'a> {
    /// The name of its agent.
    pub agent: Option<&'a str>,
    pub model: Option<&'a str>,
    /// Its own name.
    pub label: Option<&'a str>,
}

impl SessionSettings {
    /// Returns the answerer of a session: by its name, its agent or its model, in this order, or else the default.
    pub fn answerer(&self, of: SessionSubject<'_>) -> &Answerer {
        let label = of.label.and_then(|name| self.labels.get(name));
        let agent = of.agent.and_then(|name| self.agents.get(name));
        let model = of.model.and_then(|name| self.models.get(name));
        let found = label.or(agent).or(model);
        found.filter(|found| **found != Answerer::Same).unwrap_or_else(|| self.by())
    }

    /// Returns the answerer that decides conditions between `**`.
    pub fn judge(&self) -> &Answerer {
        if self.conditions == Answerer::Same { self.by() } else { &self.conditions }
    }

    /// Returns all answerers that may be used.
    pub fn answerers(&self) -> impl Iterator<Item = &Answerer> {
        let maps = [&self.agents, &self.models, &self.labels];
        [&self.by, &self.conditions].into_iter().chain(maps.into_iter().flat_map(BTreeMap::values))
    }

    /// Sets an answerer from a command-line value: `WHO` alone, or for an agent, a model, the name of a session, or
    /// the conditions: `AGENT=WHO`, `model:opus=WHO`, `label:NAME=WHO`, `conditions=WHO`.
    ///
    /// # Errors
    /// When the value is not valid; the text says why.
    pub fn set(&mut self, typed: &str) -> Result<(), String> {
        let (whom, who) = match typed.split_once('=') {
            Some((whom, who)) if is_subject(whom) => (Some(whom), who),
            _ => (None, typed),
        };
        let who: Answerer = who.parse()?;
        match whom.map(|whom| (whom, whom.split_once(':'))) {
            None => self.by = who,
            Some(("conditions", _)) => self.conditions = who,
            Some((_, Some(("model", name)))) => drop(self.models.insert(name.to_owned(), who)),
            Some((_, Some(("label", name)))) => drop(self.labels.insert(name.to_owned(), who)),
            Some((_, Some(("agent", name)))) => drop(self.agents.insert(name.to_owned(), who)),
            Some((whom, Some(_))) => return Err(format!("`{whom}` is neither model:…, label:… nor agent:…")),
            Some((name, None)) => drop(self.agents.insert(name.to_owned(), who)),
        }
        Ok(())
    }

    fn by(&self) -> &Answerer {
        if self.by == Answerer::Same { &Answerer::Ask } else { &self.by }
    }
}

/// Returns whether a text may precede the `=` in such a value, as opposed to being a word of a command.
fn is_subject(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || "_-:".contains(c))
        && !text.starts_with('-')
}

impl Answerer {
    /// Returns the name to show to people: `a person`, `an agent`, `agent:LABEL`, the name of a program.
    pub fn display_name(&self) -> String {
        match self {
            Self::Ask | Self::Same => "a person".to_owned(),
            Self::Mcp(None) => "an agent".to_owned(),
            Self::Mcp(Some(label)) => format!("agent:{label}"),
            Self::Command(words) => {
                let program = words.first().map_or("", String::as_str);
                program.rsplit('/').next().unwrap_or(program).to_owned()
            }
        }
    }
}

impl FromStr for Answerer {
    type Err = String;

    /// Parses an answerer as typed by a person: a word, or a command line of plain words.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Err("it is empty: write ask, mcp, or a command such as claude".to_owned()),
            "ask" => Ok(Self::Ask),
            "same" => Ok(Self::Same),
            "mcp" => Ok(Self::Mcp(None)),
            list if list.starts_with('[') => match serde_json::from_str::<Vec<String>>(list) {
                Ok(words) => Self::command(words),
                Err(error) => Err(format!("it is not a list of words: {error}")),
            },
            text => match text.strip_prefix("mcp:") {
                Some("") => Err("write mcp, or mcp:LABEL".to_owned()),
                Some(label) => Ok(Self::Mcp(Some(label.to_owned()))),
                None => Self::command(plain_words(text).ok_or_else(|| {
                    format!(
                        "`{text}` is no plain command: write its words as a list, [\"program\", \"argument\"]"
                    )
                })?),
            },
        }
    }
}

impl Answerer {
    fn command(words: Vec<String>) -> Result<Self, String> {
        match words.first() {
            Some(program) if !program.trim().is_empty() && words.iter().all(|word| !word.contains('\0')) => {
                Ok(Self::Command(words))
            }
            _ => Err("a command has to begin with a program".to_owned()),
        }
    }
}

impl fmt::Display for Answerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask => f.write_str("ask"),
            Self::Same => f.write_str("same"),
            Self::Mcp(None) => f.write_str("mcp"),
            Self::Mcp(Some(label)) => write!(f, "mcp:{label}"),
            Self::Command(words) => {
                let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
                f.write_str(&words.join(" "))
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AnswererText {
    Text(String),
    Words(Vec<String>),
}

impl<'de> Deserialize<'de> for Answerer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wanted = "write ask, mcp, or a command: \"claude\", or its words, [\"program\", \"argument\"]";
        match AnswererText::deserialize(deserializer).map_err(|_| de::Error::custom(wanted))? {
            AnswererText::Text(text) => text.parse().map_err(de::Error::custom),
            AnswererText::Words(words) => Self::command(words).map_err(de::Error::custom),
        }
    }
}

impl Serialize for Answerer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Command(words) if words.len() > 1 => words.serialize(serializer),
            Self::Command(words) => serializer.collect_str(&words.concat()),
            other => serializer.collect_str(other),
        }
    }
}

impl JsonSchema for Answerer {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Answerer".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = json_schema!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
        json_schema!({ "anyOf": [{ "type": "string" }, words] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> Answerer {
        Answerer::Command(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn an_answerer_is_written_as_a_word_a_command_line_or_a_list() {
        for (text, who) in [
            ("ask", Answerer::Ask),
            ("mcp", Answerer::Mcp(None)),
            ("mcp:helper", Answerer::Mcp(Some("helper".into()))),
            ("claude", command(&["claude"])),
            ("my-agent --file 'a b'", command(&["my-agent", "--file", "a b"])),
            (r#"["a","b c"]"#, command(&["a", "b c"])),
        ] {
            assert_eq!(text.parse(), Ok(who), "{text}");
        }
        for bad in ["", "mcp:", "[]", "[1]", "a | b", "a $B", "a > f", r#"["a", "b"#] {
            assert!(bad.parse::<Answerer>().is_err(), "{bad}");
        }
    }

    #[test]
    fn session_settings_read_back_as_written() {
        let mut settings = SessionSettings { by: command(&["a", "b c"]), ..SessionSettings::default() };
        for typed in ["critic=codex", "model:opus=claude --model opus", "label:final=ask", "conditions=mcp"] {
            settings.set(typed).expect(typed);
        }
        let text = toml::to_string(&settings).expect("writes");
        assert_eq!(toml::from_str::<SessionSettings>(&text).expect("reads"), settings, "{text}");
        assert_eq!(serde_json::from_value(serde_json::json!(settings)).ok(), Some(settings));
    }

    #[test]
    fn the_nearest_name_decides() {
        let mut settings = SessionSettings::default();
        for typed in ["claude", "critic=codex", "model:opus=gemini", "label:final=ask", "x=same"] {
            settings.set(typed).expect(typed);
        }
        let of = |agent, model, label| settings.answerer(SessionSubject { agent, model, label }).to_string();
        assert_eq!(of(None, None, None), "claude");
        assert_eq!(of(Some("critic"), Some("opus"), None), "codex");
        assert_eq!(of(Some("other"), Some("opus"), None), "gemini");
        assert_eq!(of(Some("critic"), None, Some("final")), "ask");
        assert_eq!(of(Some("x"), None, None), "claude");
        assert_eq!(settings.judge().to_string(), "claude");
        assert!(settings.clone().set("thing:x=ask").is_err());
        settings.set("prog --level=3").expect("a command");
        assert_eq!(settings.by, command(&["prog", "--level=3"]));
    }
}
