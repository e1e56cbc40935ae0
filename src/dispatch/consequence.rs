//! `consequence`: what a command line would cost here, without running it.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::code::Code;
use super::command::{Example, LocalCommand};
use super::context::CommandContext;
use super::response::Failure;
use crate::consequence::{Class, Consequence, ConsequenceRequest, Fact};
use crate::envelope::SafeText;
use crate::ledger;

/// The most paths that are listed of one fact.
const MOST_PATHS: usize = 20;

pub(super) struct ConsequenceCommand;

/// The command line to analyse.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConsequenceInput {
    /// The command line, as one argument. It is parsed as bash parses it, and not run.
    cmd: String,
}

/// The losses that a command line would cause, as far as they can be computed. An empty answer does not mean that
/// the line is harmless.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConsequenceOutput {
    /// The losses, in the order of the line.
    facts: Vec<ConsequenceFact>,
    /// Facts that cannot be known.
    unknown: Vec<String>,
    /// Classes of loss: `many`, `uncommitted`, `remote`, `outside`, `unset`.
    classes: Vec<String>,
}

/// One loss.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConsequenceFact {
    /// The effect: `deletes`, `overwrites`, `discards`, `elsewhere`, `warns`.
    kind: String,
    /// The sentence.
    text: String,
    /// Whether it depends on unknown facts.
    may: bool,
    /// Its classes of loss.
    classes: Vec<String>,
    /// Number of files concerned.
    files: u64,
    /// Their size in bytes.
    bytes: u64,
    /// The first 20 files and folders; a folder stands for all its contents.
    paths: Vec<String>,
}

impl ConsequenceFact {
    fn of(fact: &Fact) -> Self {
        Self {
            kind: fact.kind.name().to_owned(),
            text: fact.text.clone(),
            may: fact.is_possible,
            classes: fact.classes.iter().map(Class::to_string).collect(),
            files: fact.files,
            bytes: fact.bytes,
            paths: fact.paths.iter().take(MOST_PATHS).map(|path| path.display().to_string()).collect(),
        }
    }
}

impl LocalCommand for ConsequenceCommand {
    const PATH: &'static str = "consequence";
    const ABOUT: &'static str =
        "Report what a command line would delete, overwrite or discard here, without running it";
    const EXITS: &'static [u8] = &[4, 20, 21, 22, 23, 24, 25, 26];
    const EXAMPLES: &'static [Example] =
        &[Example { about: "Before a deletion", input: r#"{"cmd":"rm -rf build"}"# }];

    type Input = ConsequenceInput;
    type Output = ConsequenceOutput;

    async fn run(cx: &mut CommandContext, input: ConsequenceInput) -> Result<ConsequenceOutput, Failure> {
        let folder = cx.host.cwd()?;
        let workspace = cx.host.places()?.workspace;
        let variables = cx.host.variables().into_iter();
        let environment =
            variables.map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect();
        let request = ConsequenceRequest {
            text: input.cmd,
            environment: Some(environment),
            folder,
            workspace,
            home: cx.host.variable("HOME").unwrap_or_default().into(),
            shell: "bash".to_owned(),
            is_login: false,
        };
        let found = ledger::consequences(Path::new("/proc/self/exe"), vec![request]).await;
        let found = found.into_iter().next().unwrap_or_else(|| Consequence::unknown("any of it"));
        let output = ConsequenceOutput {
            facts: found.facts.iter().map(ConsequenceFact::of).collect(),
            unknown: found.unknown.clone(),
            classes: found.classes().iter().map(Class::to_string).collect(),
        };
        let Some(code) = code_of(&found) else { return Ok(output) };
        let data = serde_json::to_value(&output).unwrap_or(Value::Null);
        let message = match found.facts.is_empty() {
            true => "What it would cost is not known.",
            false => "It would cost something; nothing was run.",
        };
        Err(Failure::new(code, message).with_data(data).with_text(sentence_text(&found)))
    }

    fn text(_: &ConsequenceOutput) -> String {
        sentence_text(&Consequence::default())
    }
}

/// Returns the code of the gravest class.
fn code_of(found: &Consequence) -> Option<Code> {
    Some(match found.classes().last() {
        Some(Class::Unset) => Code::CostsUnset,
        Some(Class::Outside) => Code::CostsOutside,
        Some(Class::Remote) => Code::CostsRemote,
        Some(Class::Uncommitted) => Code::CostsUncommitted,
        Some(Class::Many) => Code::CostsMany,
        None if !found.facts.is_empty() => Code::Costs,
        None if !found.unknown.is_empty() => Code::CostNotKnown,
        None => return None,
    })
}

/// Returns its sentences, one a line.
fn sentence_text(found: &Consequence) -> String {
    let lines = found.sentences();
    lines.iter().map(|line| SafeText::line(line).to_string()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::consequence::FactKind;

    #[test]
    fn the_exit_code_is_that_of_the_gravest_class() {
        let fact = |classes: &[Class]| Fact {
            kind: FactKind::Deletes,
            is_possible: false,
            text: "deletes a".into(),
            classes: classes.iter().copied().collect::<BTreeSet<_>>(),
            files: 1,
            bytes: 1,
            paths: Vec::new(),
        };
        let exit = |facts: Vec<Fact>, unknown: &[&str]| {
            let unknown = unknown.iter().map(|what| (*what).to_owned()).collect();
            code_of(&Consequence { facts, unknown }).map_or(0, Code::exit_code)
        };
        assert_eq!(exit(Vec::new(), &[]), 0);
        assert_eq!(exit(Vec::new(), &["what make does"]), 26);
        assert_eq!(exit(vec![fact(&[])], &["what make does"]), 20);
        assert_eq!(exit(vec![fact(&[Class::Many]), fact(&[Class::Uncommitted])], &[]), 22);
        assert_eq!(exit(vec![fact(&[Class::Outside, Class::Unset, Class::Many])], &[]), 25);
    }
}
