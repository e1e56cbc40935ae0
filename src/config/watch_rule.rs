//! Alert rules: when the console rings, in addition to when something waits for a person. A rule is set in the
//! settings, or typed for a single task. Pure.

use std::time::Duration;

use regex::{Regex, RegexBuilder};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::consequence::rule_words::begins;
use crate::envelope::units::{Period, duration};

/// The size limit of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1 << 20;

/// Conditions that ring the bell for a task. Each of `failed`, `silence`, `cpu` and `match` rings on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WatchRule {
    /// The first words of a command in the line, as in `[[approvals]]`. Default: any task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Ring when the task ends with a nonzero exit code.
    pub failed: bool,
    /// Ring when the running task has printed nothing for this long. `0 s`: never.
    #[serde(with = "Period")]
    pub silence: Duration,
    /// Ring when its processes together use more than this percentage of one processor (300: three processors) for
    /// `cpu_for`. `0`: never.
    #[serde(skip_serializing_if = "is_zero")]
    pub cpu: u32,
    /// Duration of the processor use for `cpu`.
    #[serde(with = "Period", skip_serializing_if = "is_usual")]
    pub cpu_for: Duration,
    /// Ring when this regular expression matches a line of the output.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
}

/// How long a task must be busy, unless the rule says otherwise.
const BUSY: Duration = Duration::from_secs(30);

impl Default for WatchRule {
    fn default() -> Self {
        let (prefix, failed, silence, cpu, cpu_for, pattern) = (None, false, Duration::ZERO, 0, BUSY, None);
        Self { prefix, failed, silence, cpu, cpu_for, pattern }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(percent: &u32) -> bool {
    *percent == 0
}

fn is_usual(period: &Duration) -> bool {
    *period == BUSY
}

/// Parses `90 %` or `90% 2 min`: the share of a processor, and for how long.
fn busy(text: &str) -> Option<(u32, Duration)> {
    let (percent, period) = text.split_once('%')?;
    let percent = percent.trim().parse().ok().filter(|percent| *percent > 0)?;
    let period = period.trim();
    Some((percent, if period.is_empty() { BUSY } else { duration(period)? }))
}

impl WatchRule {
    /// Returns whether the rule applies to a command.
    pub fn is_about(&self, cmd: &str) -> bool {
        self.prefix.as_ref().is_none_or(|prefix| begins(cmd, prefix))
    }

    /// Parses a rule as typed for one task: `fail`, a time such as `30 s`, a share of a processor such as `90 %` or
    /// `90 % 2 min`, or else a pattern.
    ///
    /// # Errors
    /// When the pattern is not valid; the text says why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if ["fail", "failed", "exit"].contains(&text) {
            return Ok(Self { failed: true, ..Self::default() });
        }
        if let Some(silence) = duration(text) {
            return Ok(Self { silence, ..Self::default() });
        }
        if let Some((cpu, cpu_for)) = busy(text) {
            return Ok(Self { cpu, cpu_for, ..Self::default() });
        }
        let pattern = text.strip_prefix('/').and_then(|text| text.strip_suffix('/')).unwrap_or(text);
        Ok(Self { pattern: Some(Pattern::new(pattern)?), ..Self::default() })
    }

    /// Describes when it rings.
    pub fn says(&self) -> String {
        let failed = self.failed.then(|| "it fails".to_owned());
        let silence = (!self.silence.is_zero()).then(|| format!("it is silent for {}", Period(self.silence)));
        let busy = (self.cpu > 0)
            .then(|| format!("it uses more than {} % of a processor for {}", self.cpu, Period(self.cpu_for)));
        let pattern = self.pattern.as_ref().map(|pattern| format!("it prints {}", pattern.0));
        let all: Vec<String> = [failed, silence, busy, pattern].into_iter().flatten().collect();
        all.join(" or ")
    }
}

/// A regular expression, bounded in size.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    fn new(text: &str) -> Result<Self, String> {
        let built = RegexBuilder::new(text).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES).build();
        match built {
            Ok(pattern) => Ok(Self(pattern)),
            Err(regex::Error::CompiledTooBig(_)) => Err("the pattern is too complex".to_owned()),
            // Only the last line says what is wrong; the lines before it point at the position.
            Err(error) => Err(error.to_string().lines().last().unwrap_or("no pattern").trim().to_owned()),
        }
    }

    /// Returns whether a line contains a match.
    pub fn is_in(&self, line: &str) -> bool {
        self.0.is_match(line)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_watch_rule_is_an_end_a_time_a_load_or_a_pattern() {
        let says = |text| WatchRule::parse(text).map(|rule| rule.says());
        assert_eq!(says(" fail "), Ok("it fails".to_owned()));
        assert_eq!(says("90s"), Ok("it is silent for 90 s".to_owned()));
        assert_eq!(says("2 min"), Ok("it is silent for 2 min".to_owned()));
        assert_eq!(says("/error: /"), Ok("it prints error: ".to_owned()));
        assert_eq!(says("90 %"), Ok("it uses more than 90 % of a processor for 30 s".to_owned()));
        assert_eq!(says("150% 2 min"), Ok("it uses more than 150 % of a processor for 2 min".to_owned()));
        assert_eq!(says("100% done"), Ok("it prints 100% done".to_owned()));
        assert_eq!(says("30 errors"), Ok("it prints 30 errors".to_owned()));
        assert!(says("(").is_err_and(|why| why.contains("unclosed group")));
    }

    #[test]
    fn a_rule_of_the_settings_is_read_and_written_alike() {
        let text = "prefix = \"cargo\"\nfailed = true\nsilence = \"5 min\"\nmatch = \"(?i)panicked\"\n";
        let rule: WatchRule = toml::from_str(text).expect("a rule");
        assert_eq!(toml::to_string(&rule).expect("written"), text);
        let busy = "failed = false\nsilence = \"0 ms\"\ncpu = 90\ncpu_for = \"1 min\"\n";
        let read: WatchRule = toml::from_str(busy).expect("a rule");
        assert_eq!(toml::to_string(&read).expect("written"), busy);
        assert!(rule.is_about("cd x && cargo test") && !rule.is_about("echo cargo"));
        assert!(rule.pattern.is_some_and(|pattern| pattern.is_in("thread PANICKED")));
        assert!(toml::from_str::<WatchRule>("match = \"[\"").is_err());
    }
}
