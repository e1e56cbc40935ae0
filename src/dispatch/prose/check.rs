//! `prose check`: reports problems in programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::files;
use super::sarif;
use crate::dispatch::code::Code;
use crate::dispatch::command::{Example, LocalCommand};
use crate::dispatch::context::CommandContext;
use crate::dispatch::response::Failure;
use crate::envelope::SafeText;
use crate::prose::{self, Diagnostic, Profile, Severity, SourceText};

/// Checks programs.
pub(in crate::dispatch) struct ProseCheck;

/// The programs and the parsing profile.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dispatch) struct CheckInput {
    /// The programs; `-` is standard input.
    #[schemars(length(min = 1))]
    files: Vec<String>,
    /// Parsing profile: `compat` accepts deviations that real programs use, `strict` only the defined language.
    #[serde(default)]
    profile: Profile,
    /// Same as `profile` `strict`.
    #[serde(default)]
    strict: bool,
}

/// The findings.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::dispatch) struct CheckOutput {
    /// The parsing profile of the check.
    profile: Profile,
    /// Number of errors.
    errors: usize,
    /// Number of warnings.
    warnings: usize,
    /// Each program, in the order given.
    files: Vec<FileReport>,
}

/// The findings in one program.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileReport {
    /// The program.
    file: String,
    /// Reason why it cannot be read; null if it can.
    unreadable: Option<String>,
    /// The findings, in source order.
    diagnostics: Vec<CheckFinding>,
    /// Number of further findings that are not listed.
    unlisted: usize,
}

/// One finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckFinding {
    /// Its stable code.
    code: &'static str,
    /// Severity: whether the program can run anyway.
    severity: Severity,
    /// The problem.
    message: String,
    /// The line, from 1.
    line: usize,
    /// The character of the line, from 1.
    column: usize,
    /// The line it ends on.
    end_line: usize,
    /// The character after its last one.
    end_column: usize,
    /// The recommended fix.
    hint: Option<String>,
    /// A related place.
    related: Option<RelatedPlace>,
    /// The whole finding as text for people.
    rendered: String,
}

/// A place related to a finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RelatedPlace {
    /// Description of the place.
    message: String,
    /// The line, from 1.
    line: usize,
    /// The character of the line, from 1.
    column: usize,
}

impl LocalCommand for ProseCheck {
    const PATH: &'static str = "prose.check";
    const ABOUT: &'static str = "Check programs without running them";
    const EXAMPLES: &'static [Example] = &[
        Example { about: "See the problems of a program", input: r#"{"files":["deploy.prose"]}"# },
        Example {
            about: "Check it strictly against the language",
            input: r#"{"files":["deploy.prose"],"profile":"strict"}"#,
        },
    ];
    const FORMS: &'static [&'static str] = &["human", "sarif"];

    type Input = CheckInput;
    type Output = CheckOutput;

    async fn run(cx: &mut CommandContext, input: CheckInput) -> Result<CheckOutput, Failure> {
        let profile = input.profile.or_strict(input.strict);
        let mut files = Vec::new();
        for file in &input.files {
            files.push(match files::read(cx, file).await? {
                Ok(source) => check_file(cx, &source, profile).await?,
                Err(why) => FileReport {
                    file: file.clone(),
                    unreadable: Some(why),
                    diagnostics: Vec::new(),
                    unlisted: 0,
                },
            });
        }
        let output = CheckOutput::of(profile, files);
        let unreadable: Vec<&str> = output.unreadable().map(|file| &*file.file).collect();
        let failure = match (unreadable.first(), output.errors) {
            (None, 0) => return Ok(output),
            (Some(_), _) => {
                Failure::new(Code::InputFileUnreadable, format!("{} cannot be read.", unreadable.join(", ")))
                    .fix("give the path of a program, or - for standard input")
            }
            (None, errors) => {
                let message = format!(
                    "{} in {}.",
                    count_phrase(errors, "error"),
                    count_phrase(output.files.len(), "program")
                );
                Failure::new(Code::ProgramInvalid, message).fix("see `data.files[].diagnostics`")
            }
        };
        Err(failure.with_data(json!(output)).with_text(Self::text(&output)))
    }

    fn text(output: &CheckOutput) -> String {
        let mut text = String::new();
        for file in &output.files {
            if let Some(why) = &file.unreadable {
                text.push_str(&format!("{}: cannot be read: {why}\n\n", file.file));
            }
            for finding in &file.diagnostics {
                text.push_str(&finding.rendered);
                text.push_str("\n\n");
            }
            if file.unlisted > 0 {
                text.push_str(&format!("{}: and {} more\n\n", file.file, file.unlisted));
            }
        }
        text.push_str(&output.summary());
        text
    }

    fn form(name: &str, data: &Value) -> Option<String> {
        match name {
            "sarif" => SafeText::json(&sarif::log(data)).ok().map(|log| log.to_string()),
            _ => None,
        }
    }
}

impl CheckOutput {
    fn of(profile: Profile, files: Vec<FileReport>) -> Self {
        let count = |severity| {
            let findings = files.iter().flat_map(|file| &file.diagnostics);
            findings.filter(|finding| finding.severity == severity).count()
        };
        Self { profile, errors: count(Severity::Error), warnings: count(Severity::Warning), files }
    }

    fn unreadable(&self) -> impl Iterator<Item = &FileReport> {
        self.files.iter().filter(|file| file.unreadable.is_some())
    }

    fn summary(&self) -> String {
        let programs = count_phrase(self.files.len(), "program");
        let unreadable = match self.unreadable().count() {
            0 => String::new(),
            count => format!(", {count} unreadable"),
        };
        if self.errors + self.warnings == 0 {
            return format!("{programs} checked{unreadable}: no findings");
        }
        let (errors, warnings) = (count_phrase(self.errors, "error"), count_phrase(self.warnings, "warning"));
        format!("{programs} checked{unreadable}: {errors}, {warnings}")
    }
}

fn count_phrase(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

async fn check_file(
    cx: &CommandContext,
    source: &SourceText,
    profile: Profile,
) -> Result<FileReport, Failure> {
    let imports = files::imports(cx, source).await?;
    let checked = prose::check_with(source, profile, &imports);
    let diagnostics = findings(source, &checked.diagnostics);
    let file = source.name().to_owned();
    Ok(FileReport { file, unreadable: None, diagnostics, unlisted: checked.unlisted })
}

pub(super) fn findings(source: &SourceText, diagnostics: &[Diagnostic]) -> Vec<CheckFinding> {
    diagnostics.iter().map(|one| CheckFinding::of(source, one)).collect()
}

impl CheckFinding {
    /// Returns the whole report as text for a person.
    pub(super) fn report_text(&self) -> &str {
        &self.rendered
    }

    fn of(source: &SourceText, one: &Diagnostic) -> Self {
        let (start, end) = (source.position(one.span.start()), source.position(one.span.end()));
        let related = one.related.as_ref().map(|related| {
            let place = source.position(related.span.start());
            RelatedPlace { message: related.message.clone(), line: place.line, column: place.column }
        });
        Self {
            code: one.code.as_str(),
            severity: one.severity,
            message: one.message.clone(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            hint: one.hint.clone(),
            related,
            rendered: prose::render(source, one),
        }
    }
}
