//! `status`: how much runs and how much waits, for a person and for the status line of a shell or tmux.

use std::fmt::Write as _;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::code::Code;
use super::command::{Example, LocalCommand};
use super::context::CommandContext;
use super::forms::PlainDefault;
use super::response::Failure;
use crate::model::StatusCounts;
use crate::runtime::untold;

pub(super) struct Status;

/// The form of the output.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusInput {
    /// Print a few characters for a status line, and nothing if no runtime serves the workspace.
    #[serde(default)]
    short: bool,
}

/// The state of a workspace's runtime.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatusOutput {
    /// The workspace.
    workspace: PathBuf,
    /// Numbers of running and waiting items.
    #[serde(flatten)]
    standing: StatusCounts,
    /// The same numbers in a few characters.
    short: String,
    /// Number of commands of agents' own shells that ran without a runtime, until a console has reported them.
    outside: u64,
    #[serde(skip)]
    is_short: bool,
}

impl LocalCommand for Status {
    const PATH: &'static str = "status";
    const ABOUT: &'static str =
        "Print the numbers of running and waiting tasks; with --short, for a status line";
    const EXITS: &'static [u8] = &[4, 12];
    const EXAMPLES: &'static [Example] = &[
        Example { about: "See the running and waiting tasks", input: "{}" },
        Example { about: "For the status line of tmux or a shell", input: r#"{"short":true}"# },
    ];
    const PASTED: PlainDefault = PlainDefault::With("short");

    type Input = StatusInput;
    type Output = StatusOutput;

    async fn run(cx: &mut CommandContext, input: StatusInput) -> Result<StatusOutput, Failure> {
        let places = cx.host.places()?;
        let (workspace, outside) = (&places.workspace, untold(&places.outside()));
        let Some(standing) = cx.status_counts().await? else {
            let text = format!("No runtime serves {}.{}", workspace.display(), outside_sentence(outside));
            // In plain text, a status line shows nothing, not even an error.
            let said = if input.short { String::new() } else { text.clone() };
            let data = json!({ "workspace": workspace, "outside": outside });
            return Err(Failure::new(Code::Precondition, text).with_data(data).with_text(said));
        };
        Ok(StatusOutput {
            workspace: workspace.clone(),
            short: standing.short(),
            standing,
            outside,
            is_short: input.short,
        })
    }

    fn text(output: &StatusOutput) -> String {
        if output.is_short {
            return output.short.clone();
        }
        let StatusCounts { running, waiting, held, questions, agents, ref needs_you } = output.standing;
        let rows = [
            ("running", running),
            ("waiting for input", waiting),
            ("calls awaiting approval", held),
            ("questions", questions),
            ("agents connected", agents),
        ];
        let mut text = format!("workspace               {}", output.workspace.display());
        for (what, count) in rows {
            let _ = write!(text, "\n{what:<24}{count}");
        }
        for label in needs_you {
            let _ = write!(text, "\n{:<24}{label}", "needs you");
        }
        if output.outside > 0 {
            let _ = write!(text, "\nran without a runtime   {}", output.outside);
        }
        text
    }
}

/// Says how many commands ran without a runtime.
fn outside_sentence(outside: u64) -> String {
    match outside {
        0 => String::new(),
        1 => " 1 command ran without one.".to_owned(),
        many => format!(" {many} commands ran without one."),
    }
}
