//! `prose fmt`: formats programs in canonical form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check::{CheckFinding, findings};
use super::files;
use crate::dispatch::code::Code;
use crate::dispatch::command::{Danger, Example, LocalCommand};
use crate::dispatch::context::CommandContext;
use crate::dispatch::response::Failure;
use crate::envelope::SafeText;
use crate::prose::engine::run::program_file::replace_text;
use crate::prose::{self, SourceText};

/// Formats programs.
pub(in crate::dispatch) struct ProseFmt;

/// The programs, and whether they may be changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dispatch) struct FmtInput {
    /// The programs; `-` is standard input, and its canonical form goes to standard output.
    #[schemars(length(min = 1))]
    files: Vec<String>,
    /// Change nothing; fail if a program is not in its canonical form.
    #[serde(default)]
    check: bool,
}

/// The results for the programs.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::dispatch) struct FmtOutput {
    /// Whether the command only checked the programs.
    check: bool,
    /// Each program, in the order given.
    files: Vec<FormattedFile>,
}

/// The result for one program.
#[derive(Debug, Serialize, JsonSchema)]
struct FormattedFile {
    /// The program.
    file: String,
    /// The result for the program.
    effect: FmtEffect,
    /// The canonical form of standard input.
    text: Option<String>,
    /// The problem of a program that cannot be read or has no form of the language.
    problem: Option<String>,
    /// The places of the problem.
    diagnostics: Vec<CheckFinding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FmtEffect {
    /// It is in its canonical form.
    Unchanged,
    /// It is now in its canonical form.
    Formatted,
    /// It is not in its canonical form.
    WouldFormat,
    /// Nothing: it could not be read or written.
    Unreadable,
    /// Nothing: it has no canonical form.
    Invalid,
}

impl LocalCommand for ProseFmt {
    const PATH: &'static str = "prose.fmt";
    const IS_DATA: bool = true;
    const ABOUT: &'static str = "Rewrite programs in their canonical form";
    const DANGER: Danger = Danger::Mutating;
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Format a program in place", input: r#"{"files":["deploy.prose"]}"# },
        Example {
            about: "See whether programs are formatted",
            input: r#"{"files":["deploy.prose"],"check":true}"#,
        },
        Example { about: "As an editor does", input: r#"{"files":["-"]}"# },
    ];

    type Input = FmtInput;
    type Output = FmtOutput;

    async fn run(cx: &mut CommandContext, input: FmtInput) -> Result<FmtOutput, Failure> {
        format_files(cx, input, true).await
    }

    async fn dry_run(cx: &mut CommandContext, input: FmtInput) -> Result<Value, Failure> {
        let output = format_files(cx, input, false).await?;
        Ok(json!({ "effect": "would_format", "files": output.files }))
    }

    fn text(output: &FmtOutput) -> String {
        let mut text = String::new();
        for FormattedFile { file, effect, text: own, problem, diagnostics } in &output.files {
            if let Some(problem) = problem {
                text.push_str(&format!("{}\n", SafeText::line(&format!("{file}: {problem}"))));
            }
            for finding in diagnostics {
                text.push_str(&format!("{}\n\n", finding.report_text()));
            }
            match (own, effect) {
                (Some(own), _) if !output.check => text.push_str(own),
                (_, FmtEffect::Formatted) => text.push_str(&format!("formatted {file}\n")),
                (_, FmtEffect::WouldFormat) => text.push_str(&format!("not formatted: {file}\n")),
                _ => {}
            }
        }
        text
    }
}

/// Formats programs, and writes them back if `write` is set and they are not only checked.
async fn format_files(cx: &CommandContext, input: FmtInput, write: bool) -> Result<FmtOutput, Failure> {
    let mut files = Vec::new();
    for file in &input.files {
        files.push(one(cx, file, write && !input.check).await?);
    }
    let output = FmtOutput { check: input.check, files };
    let named = |effect| {
        let those = output.files.iter().filter(|file| file.effect == effect);
        those.map(|file| &*file.file).collect::<Vec<_>>().join(", ")
    };
    let (unreadable, invalid, would) =
        (named(FmtEffect::Unreadable), named(FmtEffect::Invalid), named(FmtEffect::WouldFormat));
    let failure = if !unreadable.is_empty() {
        Failure::new(Code::InputFileUnreadable, format!("{unreadable} cannot be read or written."))
    } else if !invalid.is_empty() {
        Failure::new(Code::ProgramInvalid, format!("{invalid} cannot be formatted as it stands."))
            .fix(format!("see what `pilothouse prose check {}` says", invalid.replace(", ", " ")))
    } else if !would.is_empty() && input.check {
        Failure::new(Code::NotFormatted, format!("{would} is not in its canonical form."))
            .fix(format!("run `pilothouse prose fmt {}`", would.replace(", ", " ")))
    } else {
        return Ok(output);
    };
    Err(failure.with_data(json!(output)).with_text(ProseFmt::text(&output)))
}

/// Formats one program, and writes it back if `write` is set.
async fn one(cx: &CommandContext, file: &str, write: bool) -> Result<FormattedFile, Failure> {
    let nothing = |effect, problem| FormattedFile {
        file: file.to_owned(),
        effect,
        text: None,
        problem,
        diagnostics: Vec::new(),
    };
    let source: SourceText = match files::read(cx, file).await? {
        Ok(source) => source,
        Err(why) => return Ok(nothing(FmtEffect::Unreadable, Some(format!("cannot be read: {why}")))),
    };
    let formatted = match prose::format(&source) {
        Ok(formatted) => formatted,
        Err(errors) => {
            let diagnostics = findings(&source, &errors);
            return Ok(FormattedFile { diagnostics, ..nothing(FmtEffect::Invalid, None) });
        }
    };
    let changed = formatted != source.text();
    if file == "-" {
        let effect = if changed { FmtEffect::WouldFormat } else { FmtEffect::Unchanged };
        return Ok(FormattedFile { text: Some(formatted), ..nothing(effect, None) });
    }
    if !changed || !write {
        return Ok(nothing(if changed { FmtEffect::WouldFormat } else { FmtEffect::Unchanged }, None));
    }
    let path = cx.host.cwd()?.join(file);
    let writing = tokio::task::spawn_blocking(move || replace_text(&path, &formatted)).await;
    match writing.map_err(|error| Failure::internal(&error))? {
        Ok(()) => Ok(nothing(FmtEffect::Formatted, None)),
        Err(error) => Ok(nothing(FmtEffect::Unreadable, Some(format!("cannot be written: {error}")))),
    }
}
