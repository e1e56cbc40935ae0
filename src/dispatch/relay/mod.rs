//! `relay`: serves other machines: lists the runtimes on this machine, and relays connections to one of them.

mod list;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{CommandReach, Danger, EffectOutput, Example, LocalCommand};
use super::context::CommandContext;
use super::response::Failure;

pub(super) use list::RelayList;

/// `relay operator` and `relay agent`: relays bytes between standard input and output and a runtime's socket.
pub(super) struct RelayTo<const IS_AGENT: bool>;

/// The runtime.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelayInput {
    /// The id of the runtime's workspace, as in `relay list`, or a path in it. For a path, the command starts a runtime
    /// if none is running.
    pub place: String,
}

impl<const IS_AGENT: bool> LocalCommand for RelayTo<IS_AGENT> {
    const PATH: &'static str = if IS_AGENT { "relay.agent" } else { "relay.operator" };
    const ABOUT: &'static str = if IS_AGENT {
        "Carry an agent's bytes to a runtime of this machine (`mcp --host` runs it there)"
    } else {
        "Carry a console's bytes to a runtime of this machine (a console elsewhere runs it there)"
    };
    const EXITS: &'static [u8] = &[4];
    // Whoever it carries bytes for decides what is run.
    const DANGER: Danger = Danger::Destructive;
    const EXAMPLES: &'static [Example] = &[Example {
        about: "The command that a console or agent elsewhere runs here",
        input: r#"{"place":"~/project"}"#,
    }];
    const REACH: CommandReach = CommandReach::Alone("standard input and output");

    type Input = RelayInput;
    type Output = EffectOutput;

    async fn dry_run(_cx: &mut CommandContext, input: RelayInput) -> Result<Value, Failure> {
        Ok(json!({ "effect": "would_connect", "place": input.place }))
    }
}
