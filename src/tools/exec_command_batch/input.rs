//! The input of a batch: items, each a restricted ExecCommand. A field for interactive use only gets its own item
//! rejected; any other unknown field fails the whole call before anything runs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::ExecCommandBatchTool;
use crate::config::DEFAULT_YIELD_MS;
use crate::envelope::ToolError;
use crate::model::phrases::unusable;
use crate::tools::exec_command::{self, ExecCommandTool, YIELD_MS};
use crate::tools::verb::Verb;
use crate::tools::{input, schema};

/// The maximum number of items in a batch.
const MOST_ITEMS: usize = 12;
/// Fields that ExecCommand has but an item does not.
const INTERACTIVE: [&str; 2] = ["tty", "accepts_input"];

/// The commands to run, in order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct BatchInput {
    /// The commands; fields other than `cmd` beside `items` apply to all.
    #[schemars(length(min = 1, max = 12))]
    pub(super) items: Vec<ItemInput>,
    /// Skip the rest after the first item that is rejected or exits nonzero.
    #[serde(default)]
    pub(super) stop_on_error: bool,
}

/// One command of a batch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct ItemInput {
    /// The command line.
    pub(super) cmd: String,
    /// Working directory.
    pub(super) workdir: Option<String>,
    /// Shell to use.
    pub(super) shell: Option<String>,
    /// Use a login shell.
    #[serde(default)]
    pub(super) login: bool,
    /// End it after this many ms, 250 to 30000.
    #[serde(default = "default_yield")]
    yield_time_ms: u64,
    /// Maximum output in tokens, as of ExecCommand.
    pub(super) max_output_tokens: Option<u64>,
    /// The fields for interaction that the item was given.
    #[serde(skip)]
    pub(super) interactive: Vec<&'static str>,
}

fn default_yield() -> u64 {
    DEFAULT_YIELD_MS
}

impl ItemInput {
    /// Returns its time limit.
    pub(super) fn time(&self) -> Duration {
        Duration::from_millis(self.yield_time_ms.clamp(*YIELD_MS.start(), *YIELD_MS.end()))
    }
}

/// Other agents' names for the fields of an item; only the first is no field of the whole batch.
pub(super) const ALIASES: &[(&str, &str)] =
    &[("command", "cmd"), ("cwd", "workdir"), ("dir_path", "workdir")];

/// Fields of an item that may also stand beside `items`, for every item that has none.
const SHARED: [&str; 5] = ["workdir", "shell", "login", "yield_time_ms", "max_output_tokens"];

/// Returns the fields that stand beside `items`.
fn shared_fields(given: &Value) -> Vec<(&'static str, Value)> {
    let real = |name: &&str| given.get(*name).filter(|value| !value.is_null());
    let alias = |name: &str| {
        let mut aliases = ALIASES.iter().filter(|(_, real)| *real == name);
        aliases.find_map(|(alias, _)| given.get(*alias).filter(|value| !value.is_null()))
    };
    let of = |name: &'static str| Some((name, real(&name).or_else(|| alias(name))?.clone()));
    SHARED.into_iter().filter_map(of).collect()
}

/// Returns a sentence about the fields that stand beside `items`, if any do.
pub(super) fn shared_in_words(given: &Value) -> Option<String> {
    let names: Vec<_> = shared_fields(given).into_iter().map(|(name, _)| format!("`{name}`")).collect();
    let verb = if names.len() == 1 { "counts" } else { "count" };
    (!names.is_empty()).then(|| format!("{} {verb} for each item without its own", names.join(", ")))
}

pub(super) fn parse(mut given: Value) -> Result<BatchInput, ToolError> {
    let known = schema::known_input::<BatchInput>();
    if let Some(fields) = given.as_object_mut() {
        input::rename(fields, &[("commands", "items")]);
    }
    input::normalise(known, &mut given);
    let is_single = given.get("cmd").or_else(|| given.get("command")).is_some();
    let shared = shared_fields(&given);
    if let Some(fields) = given.as_object_mut() {
        input::rename(fields, &ALIASES[1..]);
        SHARED.iter().for_each(|name| drop(fields.shift_remove(*name)));
    }
    for item in given.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(fields) = item.as_object_mut() {
            input::rename(fields, ALIASES);
            // As of ExecCommand; a batch shows none.
            fields.shift_remove("description");
            for (name, value) in &shared {
                if fields.get(*name).is_none_or(Value::is_null) {
                    fields.insert((*name).to_owned(), value.clone());
                }
            }
        }
    }
    let interactive = take_interactive(&mut given);
    let other = Some((ExecCommandTool::NAME, exec_command::takes as fn(&str) -> bool));
    let read = input::read_beside(ExecCommandBatchTool::NAME, known, &[], other, given);
    let mut input: BatchInput = read.map_err(|error| match is_single {
        true => error.with_hint("use ExecCommand to run one command; a batch has its commands in `items`"),
        false => error,
    })?;
    for (item, fields) in input.items.iter_mut().zip(interactive) {
        item.interactive = fields;
    }
    match input.items.len() {
        1..=MOST_ITEMS => Ok(input),
        0 => Err(wrong_number(format!("`items` is empty; a batch takes 1 to {MOST_ITEMS} items"))),
        many => Err(wrong_number(format!("`items` has {many} items; a batch takes 1 to {MOST_ITEMS}"))),
    }
}

fn wrong_number(reason: String) -> ToolError {
    unusable(ExecCommandBatchTool::NAME, "items", reason)
}

/// Removes interactive fields from the items, so that they fail only their own item. Null counts as absent, as
/// everywhere.
fn take_interactive(given: &mut Value) -> Vec<Vec<&'static str>> {
    let items = given.get_mut("items").and_then(Value::as_array_mut);
    let mut take = |item: &mut Value| {
        let Some(fields) = item.as_object_mut() else { return Vec::new() };
        let named =
            INTERACTIVE.into_iter().filter(|name| fields.get(*name).is_some_and(|value| !value.is_null()));
        let named: Vec<_> = named.collect();
        INTERACTIVE.iter().for_each(|name| drop(fields.shift_remove(*name)));
        named
    };
    items.into_iter().flatten().map(&mut take).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::envelope::ErrorKind;

    fn refusal(given: Value) -> (Value, String) {
        let Err(error) = parse(given.clone()) else { panic!("accepted {given}") };
        assert_eq!(error.kind, ErrorKind::InvalidToolInput);
        (*error.details.unwrap(), error.recovery_hint.unwrap())
    }

    #[test]
    fn fields_beside_the_items_count_for_items_without_their_own() {
        let given = json!({"items": [{"cmd": "ls"}, {"cmd": "pwd", "cwd": "b", "yield_time_ms": 300}],
            "yield_time_ms": 500, "cwd": "a", "max_output_tokens": 2000, "login": null});
        let told = "`workdir`, `yield_time_ms`, `max_output_tokens` count for each item without its own";
        assert_eq!(shared_in_words(&given).as_deref(), Some(told));
        let items = parse(given).unwrap().items;
        let dirs: Vec<_> = items.iter().map(|item| item.workdir.as_deref()).collect();
        assert_eq!(dirs, [Some("a"), Some("b")]);
        let times: Vec<_> = items.iter().map(ItemInput::time).collect();
        assert_eq!(times, [500, 300].map(Duration::from_millis));
        assert!(items.iter().all(|item| item.max_output_tokens == Some(2000) && !item.login));
        assert_eq!(shared_in_words(&json!({"items": []})), None);
    }

    #[test]
    fn an_item_gets_the_documented_defaults() {
        let input =
            parse(json!({"items": [{"cmd": "ls", "workdir": null, "yield_time_ms": "500"}, {"cmd": "pwd"}]}));
        let input = input.unwrap();
        assert!(!input.stop_on_error);
        assert!(input.items.iter().all(|item| !item.login && item.interactive.is_empty()));
        assert_eq!(
            input.items.iter().map(ItemInput::time).collect::<Vec<_>>(),
            [500, 10_000].map(Duration::from_millis)
        );
    }

    #[test]
    fn the_time_of_an_item_is_clamped() {
        for (asked, given) in [(0, 250), (1, 250), (9_000, 9_000), (90_000, 30_000)] {
            let input = parse(json!({"items": [{"cmd": "ls", "yield_time_ms": asked}]})).unwrap();
            assert_eq!(input.items[0].time(), Duration::from_millis(given));
        }
    }

    #[test]
    fn a_field_for_interaction_stays_with_its_item_whatever_its_value() {
        for value in [json!(true), json!(false), json!("yes"), json!(5), json!({})] {
            let items = json!([{"cmd": "a", "tty": value, "accepts_input": value}, {"cmd": "b"}, {"cmd": "c", "tty": null}]);
            let input = parse(json!({"items": items})).unwrap();
            let interactive: Vec<_> = input.items.iter().map(|item| item.interactive.clone()).collect();
            assert_eq!(interactive, [vec!["tty", "accepts_input"], vec![], vec![]], "{value}");
        }
    }

    #[test]
    fn other_ways_to_write_items_are_read() {
        for given in [
            json!({"items": ["ls", "pwd"]}),
            json!({"commands": ["ls", {"command": "pwd", "description": "where"}]}),
            json!({"items": "[{\"cmd\":\"ls\"},\"pwd\"]"}),
            json!({"commands": "[\"ls\",\"pwd\"]", "stop_on_error": "false"}),
        ] {
            let read = parse(given.clone()).unwrap_or_else(|error| panic!("{given}: {error:?}"));
            let cmds: Vec<_> = read.items.iter().map(|item| item.cmd.as_str()).collect();
            assert_eq!((cmds, read.stop_on_error), (vec!["ls", "pwd"], false), "{given}");
        }
        for given in [json!({"items": "ls -l"}), json!({"items": {"cmd": "ls -l"}})] {
            assert_eq!(parse(given).expect("reads").items[0].cmd, "ls -l");
        }
    }

    #[test]
    fn any_other_invalid_field_fails_the_call_and_is_named() {
        let cases = [
            (
                json!({"items": [{"cmd": "ls"}, {"comand": "ls"}]}),
                "items.comand",
                "unknown field `items.comand`; missing field `items.cmd`",
            ),
            (
                json!({"items": [{"cmd": "a", "x": 1}, {"cmd": "b", "x": 1}]}),
                "items.x",
                "unknown field `items.x`",
            ),
            (
                json!({"items": [{"cmd": "ls", "timeout_ms": 5}]}),
                "items.timeout_ms",
                "unknown field `items.timeout_ms`",
            ),
            (json!({"items": [{"cmd": 5}]}), "items.cmd", "`items.cmd` must be a string, not a number"),
            (json!({"items": [5]}), "items", "each of `items` must be an object, not a number"),
            (json!({"items": [{"cmd": "ls"}], "tty": true}), "tty", "unknown field `tty`"),
            (json!({}), "items", "missing field `items`"),
        ];
        for (given, field, problem) in cases {
            let (details, _) = refusal(given.clone());
            let expected = json!({"tool_name": "ExecCommandBatch", "field": field, "parse_error": problem});
            assert_eq!(details, expected, "{given}");
        }
        assert!(
            refusal(json!({"items": [5]})).1.starts_with("each of `items` is an object: {\"cmd\":\"…\"};")
        );
        for name in ["timeout_ms", "timeout"] {
            let (_, hint) = refusal(json!({"items": [{"cmd": "ls", name: 5}]}));
            assert!(hint.starts_with("`yield_time_ms` is the time limit of one of `items`;"), "{hint}");
        }
        for name in ["run_in_background", "cols"] {
            let (_, hint) = refusal(json!({"items": [{"cmd": "ls", name: 5}, {"cmd": "ls"}]}));
            assert!(hint.starts_with(&format!("`{name}` is a field of ExecCommand;")), "{hint}");
        }
        let (_, hint) =
            refusal(json!({"items": [{"cmd": "ls", "stop_on_error": true, "timeout_ms": 5}], "tty": true}));
        let places = "`stop_on_error` belongs beside `items`, not in it; `yield_time_ms` is the time limit of one of `items`; \
                      `tty` is a field of ExecCommand; ";
        assert!(hint.starts_with(places), "{hint}");
        let (_, hint) = refusal(json!({"items": [{"cmdd": "ls"}]}));
        assert!(hint.starts_with("use `cmd` instead of `cmdd`"), "{hint}");
    }

    #[test]
    fn none_and_thirteen_items_are_refused_with_the_limits() {
        let thirteen = vec![json!({"cmd": "ls"}); 13];
        let cases = [
            (json!({"items": []}), "`items` is empty; a batch takes 1 to 12 items"),
            (json!({"items": thirteen}), "`items` has 13 items; a batch takes 1 to 12"),
        ];
        for (given, reason) in cases {
            let (details, _) = refusal(given);
            assert_eq!(
                details,
                json!({"tool_name": "ExecCommandBatch", "field": "items", "validation_error": reason})
            );
        }
        assert!(parse(json!({"items": vec![json!({"cmd": "ls"}); 12]})).is_ok());
    }

    #[test]
    fn a_batch_call_with_a_single_command_is_referred_to_exec_command() {
        for given in [json!({"cmd": "ls"}), json!({"cmd": "ls", "items": [{"cmd": "pwd"}]})] {
            let (details, hint) = refusal(given);
            assert_eq!(details["field"], "cmd");
            assert!(hint.starts_with("use ExecCommand to run one command"), "{hint}");
        }
    }
}
