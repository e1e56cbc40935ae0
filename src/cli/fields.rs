//! The arguments of a command, derived from the schema of its input: required fields are positional, the others are
//! flags, and the whole input can be given as JSON instead. Reads no files itself.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value, json};

use crate::dispatch::exec::LINE_FLAGS;
use crate::dispatch::positional;
use crate::tools::quantity;

/// The flag that only prints the schemas: with it, a command needs no input.
pub(super) const SCHEMA: &str = "schema";
/// The flag that takes the whole input.
pub(super) const WHOLE: &str = "input";

/// Where JSON input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InputSource {
    /// Standard input: `-`.
    Stdin,
    /// A file: `@path`.
    File(String),
}

/// Why a command line does not yield an input.
#[derive(Debug, thiserror::Error)]
pub(super) enum FieldsError {
    /// The JSON could not be read.
    #[error("read the input from {from}")]
    Read {
        /// Where it was to be read from.
        from: String,
        /// The cause.
        source: std::io::Error,
    },
    /// It is not JSON.
    #[error("{what} is not JSON: {source}")]
    Json {
        /// The flag.
        what: String,
        /// The cause.
        source: serde_json::Error,
    },
    /// It is no object, which fields could be added to.
    #[error("--{WHOLE} has to be an object")]
    NoObject,
    /// A field is in the whole input and an argument as well.
    #[error("`{field}` is given twice: in --{WHOLE} and as an argument; leave one out")]
    Twice {
        /// The field's name.
        field: String,
    },
}

/// Adds the arguments for an input to a command.
pub(super) fn declare(schema: &Value, command: Command) -> Command {
    let whole = Arg::new("whole")
        .long(WHOLE)
        .visible_alias("raw-payload")
        .value_name("JSON|-|@FILE")
        .help("The whole input as JSON: inline, from stdin, or from a file");
    let fields = fields(schema);
    let about = LINE_FLAGS.iter().find(|flag| flag.name == SCHEMA).map_or("", |flag| flag.about);
    let schema = Arg::new(SCHEMA).long(SCHEMA).action(ArgAction::SetTrue).help(about);
    fields.iter().flat_map(Field::args).fold(command, Command::arg).arg(whole).arg(schema)
}

/// Returns the command-line words that express an input, the inverse of [`input`].
pub(super) fn words(schema: &Value, given: &Map<String, Value>) -> Vec<String> {
    let (positional, flags): (Vec<Field>, Vec<Field>) =
        fields(schema).into_iter().partition(|field| field.is_positional);
    let of = |field: &Field| given.get(&field.name).map(|value| field.words(value)).unwrap_or_default();
    positional.iter().chain(&flags).flat_map(of).collect()
}

/// Builds an input from its parsed arguments. `fetch` reads the contents of a source.
///
/// # Errors
/// When what should be JSON cannot be read or parsed.
pub(super) fn input(
    schema: &Value,
    matches: &ArgMatches,
    fetch: impl FnOnce(&InputSource) -> std::io::Result<String>,
) -> Result<Value, FieldsError> {
    let whole = matches.get_one::<String>("whole").map(|whole| whole_input(whole, fetch)).transpose()?;
    let mut given = Map::new();
    for field in fields(schema) {
        if let Some(value) = field.value(matches)? {
            given.insert(field.name, value);
        }
    }
    match whole {
        Some(Value::Object(mut input)) => {
            if let Some(field) = given.keys().find(|field| input.contains_key(*field)) {
                return Err(FieldsError::Twice { field: field.clone() });
            }
            input.extend(given);
            Ok(Value::Object(input))
        }
        // What is no object is refused for that by who reads it.
        Some(other) if given.is_empty() => Ok(other),
        Some(_) => Err(FieldsError::NoObject),
        None => Ok(Value::Object(given)),
    }
}

fn whole_input(
    given: &str,
    fetch: impl FnOnce(&InputSource) -> std::io::Result<String>,
) -> Result<Value, FieldsError> {
    let source = match (given, given.strip_prefix('@')) {
        ("-", _) => Some(InputSource::Stdin),
        (_, Some(path)) => Some(InputSource::File(path.to_owned())),
        _ => None,
    };
    let text = match source {
        None => given.to_owned(),
        Some(source) => {
            fetch(&source).map_err(|error| FieldsError::Read { from: given.to_owned(), source: error })?
        }
    };
    serde_json::from_str(&text).map_err(|source| FieldsError::Json { what: format!("--{WHOLE}"), source })
}

/// One field of an input, as described by its schema.
struct Field {
    name: String,
    schema: Value,
    required: bool,
    is_positional: bool,
}

fn fields(schema: &Value) -> Vec<Field> {
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, field)| Field {
            name: name.clone(),
            schema: field.clone(),
            required: required(name),
            is_positional: positional(schema).any(|one| one == name),
        })
        .collect()
}

impl Field {
    /// Returns the command-line words that give it this value.
    fn words(&self, value: &Value) -> Vec<String> {
        let flag = format!("--{}", self.flag());
        let one = |value: &Value| match (value, value.as_object().map(|item| item.iter().collect::<Vec<_>>()))
        {
            (Value::String(text), _) => text.clone(),
            // An item's only required field may be given by itself.
            (_, Some(item)) if item.len() == 1 && self.schema["items"]["required"] == json!([item[0].0]) => {
                item[0].1.as_str().map_or_else(|| value.to_string(), str::to_owned)
            }
            _ => value.to_string(),
        };
        match value {
            Value::Bool(true) => vec![flag],
            Value::Bool(false) => vec![format!("{flag}=false")],
            Value::Array(items) if self.is_positional => items.iter().map(one).collect(),
            Value::Array(items) => items.iter().flat_map(|item| [flag.clone(), one(item)]).collect(),
            value if self.is_positional => vec![one(value)],
            value => vec![flag, one(value)],
        }
    }

    fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Returns the id of the flag for a field that needs none.
    fn flag_id(&self) -> String {
        format!("--{}", self.flag())
    }

    /// Returns its argument. A positional one may be given by its name as well, as the manifest calls it, unless the
    /// name is that of the flag for the whole input.
    fn args(&self) -> Vec<Arg> {
        let arg = Arg::new(self.name.clone());
        if !self.is_positional {
            return vec![self.typed_arg(arg.long(self.flag()), false)];
        }
        let arg = self.typed_arg(arg, true);
        if self.name == WHOLE {
            return vec![arg];
        }
        let named = Arg::new(self.flag_id()).long(self.flag()).hide(true).conflicts_with(&self.name);
        let instead = ["whole".to_owned(), SCHEMA.to_owned(), self.flag_id()];
        let arg = if self.required { arg.required_unless_present_any(instead) } else { arg };
        vec![arg, self.typed_arg(named, false)]
    }

    fn typed_arg(&self, arg: Arg, is_positional: bool) -> Arg {
        let help = self.schema["description"].as_str().unwrap_or_default().replace('\n', " ");
        let arg = arg.help(help).value_name(self.name.to_uppercase());
        match self.schema["type"].as_str() {
            Some("boolean") => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("BOOL")
                .value_parser(clap::value_parser!(bool)),
            Some("integer") => {
                let name = self.name.clone();
                arg.value_parser(move |text: &str| quantity(&name, text).ok_or("it is not a number"))
            }
            Some("array") if is_positional => arg.num_args(1..).action(ArgAction::Append),
            Some("array") => arg.action(ArgAction::Append).allow_hyphen_values(true),
            Some("object") => arg.value_name("JSON"),
            _ => match self.schema["enum"].as_array() {
                Some(words) => arg.value_parser(PossibleValuesParser::new(
                    words.iter().filter_map(|word| word.as_str().map(str::to_owned)),
                )),
                None => arg.allow_hyphen_values(!is_positional),
            },
        }
    }

    /// Parses one item of a list: a string as it is, anything else as JSON. In a list of objects, text that is not
    /// JSON becomes the value of their only required field.
    fn item(&self, text: &str) -> Result<Value, FieldsError> {
        let schema = &self.schema["items"];
        if schema["type"] == "string" {
            return Ok(json!(text));
        }
        match (serde_json::from_str(text), schema["required"].as_array().map(Vec::as_slice)) {
            (Ok(value), _) => Ok(value),
            (Err(_), Some([Value::String(only)])) if !text.trim_start().starts_with('{') => {
                Ok(json!({ only: text }))
            }
            (Err(source), _) => Err(FieldsError::Json { what: format!("--{}", self.flag()), source }),
        }
    }

    fn value(&self, matches: &ArgMatches) -> Result<Option<Value>, FieldsError> {
        let named = self.flag_id();
        let is_named = matches.try_contains_id(&named).unwrap_or_default();
        let id = if is_named { &named } else { &self.name };
        Ok(match self.schema["type"].as_str() {
            Some("boolean") => matches.get_one::<bool>(id).map(|value| json!(value)),
            Some("integer") => matches.get_one::<u64>(id).map(|value| json!(value)),
            Some("array") => match matches.get_many::<String>(id) {
                Some(values) => {
                    Some(Value::Array(values.map(|text| self.item(text)).collect::<Result<_, _>>()?))
                }
                None => None,
            },
            Some("object") => {
                let given = matches.get_one::<String>(id);
                let parse = |text: &String| serde_json::from_str(text);
                given
                    .map(parse)
                    .transpose()
                    .map_err(|source| FieldsError::Json { what: format!("--{}", self.flag()), source })?
            }
            _ => matches.get_one::<String>(id).map(|value| json!(value)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{TOOLS, find};

    fn read(tool: &str, args: &[&str]) -> Result<Value, String> {
        let schema = (find(tool).unwrap().input_schema)();
        let command = declare(&schema, Command::new("x").no_binary_name(true));
        let matches = command.try_get_matches_from(args).map_err(|error| error.to_string())?;
        let fetch = |source: &InputSource| match source {
            InputSource::Stdin => Ok(r#"{"from":"stdin"}"#.to_owned()),
            InputSource::File(path) => Ok(json!({ "from": path }).to_string()),
        };
        input(&schema, &matches, fetch).map_err(|error| error.to_string())
    }

    #[test]
    fn every_tool_has_a_sound_command_line() {
        for tool in &TOOLS {
            declare(&(tool.input_schema)(), Command::new("x")).debug_assert();
        }
    }

    #[test]
    fn flags_become_the_input_they_name() {
        let cases = [
            ("ExecCommand", vec!["cargo test"], json!({"cmd": "cargo test"})),
            (
                "ExecCommand",
                vec!["vi", "--tty", "--cols", "80", "--login=false", "--leftovers", "keep"],
                json!({"cmd": "vi", "login": false, "tty": true, "cols": 80, "leftovers": "keep"}),
            ),
            (
                "ExecCommandBatch",
                vec!["git status", r#"{"cmd":"ls","workdir":"src"}"#, "--stop-on-error"],
                json!({"items": [{"cmd": "git status"}, {"cmd": "ls", "workdir": "src"}], "stop_on_error": true}),
            ),
            ("ExecCommand", vec!["--cmd", "-x", "--tty"], json!({"cmd": "-x", "tty": true})),
            (
                "ExecCommandBatch",
                vec!["--items", "ls", "--items", "pwd"],
                json!({"items": [{"cmd": "ls"}, {"cmd": "pwd"}]}),
            ),
            ("TaskList", vec![], json!({})),
            (
                "TaskOutput",
                vec!["task_x", "--block=false", "--since", "c1f"],
                json!({"task_id": "task_x", "block": false, "since": "c1f"}),
            ),
            ("TaskInput", vec!["task_x", "hello\n"], json!({"task_id": "task_x", "input": "hello\n"})),
            (
                "TaskInput",
                vec!["task_x", "--keys", "C-c", "--keys", "-"],
                json!({"task_id": "task_x", "keys": ["C-c", "-"]}),
            ),
            (
                "TaskInput",
                vec!["task_x", "--resize", r#"{"cols":80,"rows":24}"#],
                json!({"task_id": "task_x", "resize": {"cols": 80, "rows": 24}}),
            ),
        ];
        for (tool, args, input) in cases {
            assert_eq!(read(tool, &args), Ok(input), "{args:?}");
        }
    }

    #[test]
    fn every_example_is_typed_as_words_that_are_read_as_it() {
        for command in crate::dispatch::COMMANDS.iter() {
            let schema = command.input_schema();
            for example in &command.examples {
                let given: Map<String, Value> = serde_json::from_str(example.input).expect("an input");
                let words = words(schema, &given);
                let clap = declare(schema, Command::new("x").no_binary_name(true));
                let matches =
                    clap.try_get_matches_from(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
                let read = input(schema, &matches, |_| unreachable!()).expect("an input");
                assert_eq!(read, Value::Object(given), "{words:?}");
            }
        }
    }

    #[test]
    fn the_whole_input_is_taken_as_json_from_anywhere() {
        assert_eq!(read("ExecCommand", &["--input", r#"{"cmd":"ls"}"#]), Ok(json!({"cmd": "ls"})));
        assert_eq!(read("ExecCommand", &["--input", "-"]), Ok(json!({"from": "stdin"})));
        assert_eq!(read("ExecCommand", &["--input", "@in.json"]), Ok(json!({"from": "in.json"})));
        let both = ["--workdir=.", "--input", r#"{"cmd":"pwd"}"#];
        assert_eq!(read("ExecCommand", &both), Ok(json!({"cmd": "pwd", "workdir": "."})));
    }

    #[test]
    fn arguments_that_make_no_valid_input_are_refused_with_the_reason() {
        for (args, reason) in [
            (vec![], "<CMD>"),
            (vec!["ls", "--input", r#"{"cmd":"pwd"}"#], "`cmd` is given twice"),
            (vec!["--workdir", ".", "--input", "[]"], "has to be an object"),
            (vec!["ls", "--cmd", "pwd"], "cannot be used with"),
            (vec!["--input", "{"], "--input is not JSON"),
            (vec!["ls", "--leftovers", "kill"], "possible values: end, keep"),
            (vec!["ls", "--cols", "many"], "invalid value"),
            (vec!["ls", "--bogus"], "unexpected argument"),
        ] {
            let refused = read("ExecCommand", &args).unwrap_err();
            assert!(refused.contains(reason), "{args:?}: {refused}");
        }
    }
}
