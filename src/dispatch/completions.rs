//! `completions` and `man`: documents generated from the command tree.

use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::code::Code;
use super::command::{Danger, Example, LocalCommand};
use super::context::CommandContext;
use super::forms::PlainDefault;
use super::host::Shell;
use super::response::Failure;
use crate::envelope::SafeText;
use crate::files;

pub(super) struct Completions;

/// The shell.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompletionsInput {
    /// The shell to write the script for.
    shell: Shell,
}

/// A completion script.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CompletionsOutput {
    /// The shell it is for.
    shell: Shell,
    /// The script.
    script: String,
}

impl LocalCommand for Completions {
    const PATH: &'static str = "completions";
    const IS_DATA: bool = true;
    const PASTED: PlainDefault = PlainDefault::Always;
    const ABOUT: &'static str = "Print the completion script of a shell";
    const EXAMPLES: &'static [Example] =
        &[Example { about: "The script for bash", input: r#"{"shell":"bash"}"# }];

    type Input = CompletionsInput;
    type Output = CompletionsOutput;

    async fn run(cx: &mut CommandContext, input: CompletionsInput) -> Result<CompletionsOutput, Failure> {
        Ok(CompletionsOutput { shell: input.shell, script: cx.host.completions(input.shell) })
    }

    fn text(output: &CompletionsOutput) -> String {
        output.script.clone()
    }
}

pub(super) struct Man;

/// The destination of the pages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ManInput {
    /// Write a page for each command into this folder, instead of printing the first one.
    folder: Option<PathBuf>,
}

/// The manual.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ManOutput {
    /// The page of the program in roff.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    /// The folder that holds the pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// The pages that were written.
    files: Vec<String>,
}

impl LocalCommand for Man {
    const PATH: &'static str = "man";
    const IS_DATA: bool = true;
    const PASTED: PlainDefault = PlainDefault::Always;
    const ABOUT: &'static str = "Print the manual page, or write them all";
    const DANGER: Danger = Danger::Mutating;
    const EXAMPLES: &'static [Example] = &[
        Example { about: "The page of the program", input: "{}" },
        Example {
            about: "One for each command, for `man pilothouse-task-list`",
            input: r#"{"folder":"man1"}"#,
        },
    ];

    type Input = ManInput;
    type Output = ManOutput;

    async fn run(cx: &mut CommandContext, input: ManInput) -> Result<ManOutput, Failure> {
        let mut pages = cx.host.man_pages();
        let Some(folder) = input.folder else {
            return Ok(ManOutput {
                page: pages.pop().map(|(_, page)| page),
                folder: None,
                files: Vec::new(),
            });
        };
        let written = std::fs::create_dir_all(&folder)
            .and_then(|()| pages.iter().try_for_each(|(name, page)| put(&folder.join(name), page)));
        written.map_err(|error| unwritable(&folder, &error))?;
        Ok(ManOutput {
            page: None,
            folder: Some(SafeText::line(&folder.to_string_lossy()).to_string()),
            files: pages.into_iter().map(|(name, _)| name).collect(),
        })
    }

    async fn dry_run(cx: &mut CommandContext, input: ManInput) -> Result<Value, Failure> {
        let files: Vec<String> = cx.host.man_pages().into_iter().map(|(name, _)| name).collect();
        Ok(match input.folder {
            Some(folder) => {
                can_write(&folder).map_err(|error| unwritable(&folder, &error))?;
                json!({ "effect": "would_write", "folder": folder, "files": files })
            }
            None => json!({ "effect": "would_print" }),
        })
    }

    fn text(output: &ManOutput) -> String {
        match (&output.page, &output.folder) {
            (Some(page), _) => page.clone(),
            (None, folder) => {
                format!("{} pages in {}\n", output.files.len(), folder.as_deref().unwrap_or_default())
            }
        }
    }
}

fn unwritable(folder: &Path, error: &io::Error) -> Failure {
    let told = SafeText::line(&folder.to_string_lossy()).to_string();
    Failure::new(Code::ArgError, format!("The manual cannot be written to {told}."))
        .detail(error.to_string())
        .fix("name a folder you can write to")
}

/// Checks that files can be created in a folder, which may not be there yet.
fn can_write(folder: &Path) -> io::Result<()> {
    let there = folder.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(Path::new("."));
    if !there.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(rustix::fs::access(there, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?)
}

/// Writes a page for everybody to read, in place of an earlier one; through no link.
fn put(path: &Path, page: &str) -> io::Result<()> {
    files::replace(path, |file| {
        file.write_all(page.as_bytes())?;
        file.set_permissions(Permissions::from_mode(0o644))
    })
}
