//! `prose ast`: prints a program as a syntax tree.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::check::{CheckFinding, findings};
use super::files;
use crate::dispatch::code::Code;
use crate::dispatch::command::{Example, LocalCommand};
use crate::dispatch::context::CommandContext;
use crate::dispatch::response::Failure;
use crate::envelope::SafeText;
use crate::prose::{self, Profile};

/// Shows the tree of a program.
pub(in crate::dispatch) struct ProseAst;

/// The program and the parsing profile.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::dispatch) struct AstInput {
    /// The program; `-` is standard input.
    file: String,
    /// Parsing profile: `compat` accepts deviations that real programs use, `strict` only the defined language.
    #[serde(default)]
    profile: Profile,
    /// Same as `profile` `strict`.
    #[serde(default)]
    strict: bool,
}

/// A program as a tree.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::dispatch) struct AstOutput {
    /// The program.
    file: String,
    /// The tree. Each `span` is the byte range of a node: its first byte, and the byte after its last.
    program: Value,
    /// The findings. With errors, the tree holds the parts that could be read.
    diagnostics: Vec<CheckFinding>,
}

impl LocalCommand for ProseAst {
    const PATH: &'static str = "prose.ast";
    const ABOUT: &'static str = "Print a program as a tree";
    const EXAMPLES: &'static [Example] =
        &[Example { about: "See how a program is understood", input: r#"{"file":"deploy.prose"}"# }];

    type Input = AstInput;
    type Output = AstOutput;

    async fn run(cx: &mut CommandContext, input: AstInput) -> Result<AstOutput, Failure> {
        let source = files::read(cx, &input.file).await?.map_err(|why| {
            Failure::new(Code::InputFileUnreadable, format!("{} cannot be read.", input.file))
                .detail(why)
                .fix("give the path of a program, or - for standard input")
        })?;
        let checked = prose::check(&source, input.profile.or_strict(input.strict));
        let program = serde_json::to_value(&checked.program).map_err(|error| Failure::internal(&error))?;
        let diagnostics = findings(&source, &checked.diagnostics);
        let output = AstOutput { file: input.file, program, diagnostics };
        if !checked.has_errors() {
            return Ok(output);
        }
        let message = format!("{} has errors: its tree is incomplete.", output.file);
        let text = Self::text(&output);
        Err(Failure::new(Code::ProgramInvalid, message).with_data(json!(output)).with_text(text))
    }

    fn text(output: &AstOutput) -> String {
        SafeText::json_lines(&output.program).unwrap_or_default().to_string()
    }
}
