//! Loading of settings: the defaults, the user's file, and a workspace's file, which may only lower limits and add
//! approval rules. Only reads files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Table, Value as Toml};

use super::approval::{ApprovalRule, RuleFault};
use super::ceilings::CeilingRule;
use super::lanes::Lane;
use super::settings::{Settings, schema_of};
use super::source::{Fault, Faults, Node, Source, SourceEntry};
use crate::envelope::units::{Bytes, Ceiling, Period};
use crate::files::{self, FileAccess, Links, OWN};

/// The user's file, in the config folder.
pub const FILE: &str = "config.toml";
/// The workspace's file, in its root folder.
pub const WORKSPACE_FILE: &str = ".pilothouse.toml";
/// The user's key bindings, in the config folder.
pub const KEYS_FILE: &str = "keys.toml";
/// The user's own themes, in the config folder.
pub const THEMES_FOLDER: &str = "themes";

/// Returns what is to be watched for changes of the settings: the config folder, its files, and the folder above it in
/// case it does not exist yet.
pub fn watched_places(config: &Path) -> Vec<PathBuf> {
    let own = ["", FILE, KEYS_FILE, THEMES_FOLDER].map(|name| config.join(name));
    config.parent().map(Path::to_owned).into_iter().chain(own).collect()
}
/// The maximum number of approval rules in one file.
const MAX_RULES: usize = 100;
/// The maximum size of a file, in bytes.
const MAX_BYTES: u64 = 256 << 10;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The default: no file sets it.
    Default,
    /// A file, and the line in it.
    File(PathBuf, usize),
}

/// Settings and their origins.
#[derive(Debug, Clone)]
pub struct LoadedSettings {
    pub settings: Settings,
    /// The origin of each value that is set, by its full key with dots between tables.
    pub origins: BTreeMap<String, Origin>,
    /// The faults of the workspace's file, which is then ignored.
    pub aside: Vec<Fault>,
    /// The approval rules added by the workspace; the settings contain them too.
    pub added: Vec<ApprovalRule>,
}

/// The settings of a workspace. They come with any cloned repository, so they can only lower a runtime's limits and
/// have you asked more often.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct WorkspaceSettings {
    limits: LowerLimits,
    approvals: Vec<ApprovalRule>,
}

/// Limits that a workspace may lower.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct LowerLimits {
    /// Maximum number of live tasks.
    tasks: Option<usize>,
    /// Time during which a batch may start items.
    batch_deadline: Option<Period>,
    /// Maximum output of a task in bytes. Exceeding it ends the task.
    output_bytes: Option<Ceiling>,
}

impl LoadedSettings {
    /// Reads a user's settings for a workspace.
    ///
    /// # Errors
    /// When the user's file cannot be read or used: returns every fault in it. Faults in a workspace's file are
    /// reported in `aside`.
    pub fn read(config: &Path, workspace: &Path) -> Result<Self, Faults> {
        let path = config.join(FILE);
        let own = read_own(&path).map_err(|fault| Faults(vec![fault]))?;
        let mut loaded = Self::of(own.as_ref(), &path)?;
        let path = workspace.join(WORKSPACE_FILE);
        match read_hostile(&path) {
            Ok(None) => {}
            Ok(Some(source)) => loaded.lower(&source, &path),
            Err(fault) => loaded.aside.push(fault),
        }
        Ok(loaded)
    }

    /// Parses the text of the user's settings file.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn of(own: Option<&Source>, path: &Path) -> Result<Self, Faults> {
        let (mut settings, mut origins) = (Settings::default(), BTreeMap::new());
        if let Some(source) = own {
            settings = source.read::<Settings>(&Settings::schema())?;
            let entries = source.entries().map_err(|fault| Faults(vec![fault]))?;
            mark(&entries, "", path, &mut origins);
            sensible(&settings.approvals, &entries, source)?;
            sensible_ceilings(&settings.limits.by_prefix, &entries, source)?;
            sensible_lanes(&settings.lanes, &entries, source)?;
        }
        Ok(Self { settings, origins, aside: Vec::new(), added: Vec::new() })
    }

    fn lower(&mut self, source: &Source, path: &Path) {
        let (asked, entries) =
            match (source.read::<WorkspaceSettings>(&schema_of::<WorkspaceSettings>()), source.entries()) {
                (Ok(asked), Ok(entries)) => (asked, entries),
                (Err(Faults(faults)), _) => return self.aside.extend(faults),
                (_, Err(fault)) => return self.aside.push(fault),
            };
        let WorkspaceSettings { limits: asked, approvals } = asked;
        if let Err(Faults(faults)) = sensible(&approvals, &entries, source) {
            return self.aside.extend(faults);
        }
        let limits = &mut self.settings.limits;
        let mut lowered = BTreeMap::new();
        mark(&entries, "", path, &mut lowered);
        let mut took = Vec::new();
        if let Some(tasks) = asked.tasks.filter(|tasks| (1..limits.tasks).contains(tasks)) {
            limits.tasks = tasks;
            took.push("limits.tasks");
        }
        if let Some(Period(deadline)) =
            asked.batch_deadline.filter(|deadline| deadline.0 < limits.batch_deadline)
        {
            limits.batch_deadline = deadline;
            took.push("limits.batch_deadline");
        }
        if let Some(Ceiling(Some(bytes))) = asked.output_bytes
            && limits.output_bytes.is_none_or(|own| bytes < own)
        {
            limits.output_bytes = Some(bytes);
            took.push("limits.output_bytes");
        }
        for at in 0..approvals.len() {
            let line = lowered.get(&rule_key(at)).cloned().unwrap_or(Origin::Default);
            self.origins.insert(rule_key(self.settings.approvals.len() + at), line);
        }
        self.settings.approvals.extend(approvals.iter().cloned());
        self.added = approvals;
        self.origins.extend(lowered.into_iter().filter(|(key, _)| took.contains(&key.as_str())));
    }

    /// Returns every value formatted as TOML, by key, with its origin.
    pub fn values(&self) -> Vec<(String, String, Origin)> {
        let mut values = Vec::new();
        let table = Table::try_from(&self.settings).unwrap_or_default();
        leaves(&table, "", &mut |key, value| {
            let origin = self.origins.get(&key).cloned().unwrap_or(Origin::Default);
            values.push((key, value.to_string(), origin));
        });
        values
    }
}

/// Returns the key of a rule by its index, which starts at 0; keys count from 1, as people do.
fn rule_key(at: usize) -> String {
    format!("approvals[{}]", at + 1)
}

/// Reports approval rules that exceed the limit or would never match: such a rule must not go unnoticed.
fn sensible(rules: &[ApprovalRule], entries: &[SourceEntry], source: &Source) -> Result<(), Faults> {
    let list = entries.iter().find(|entry| entry.key == "approvals");
    let mut faults = rule_faults(list, "approvals", rules.iter().map(ApprovalRule::senseless), source);
    if rules.len() > MAX_RULES {
        let line = list.map(|entry| entry.line);
        faults.push(source.fault(line, "approvals", format!("it must be {MAX_RULES} rules or fewer")));
    }
    if faults.is_empty() { Ok(()) } else { Err(Faults(faults)) }
}

/// The same for rules about ceilings.
fn sensible_ceilings(rules: &[CeilingRule], entries: &[SourceEntry], source: &Source) -> Result<(), Faults> {
    let limits = entries.iter().find(|entry| entry.key == "limits").map(|entry| &entry.node);
    let list = match limits {
        Some(Node::Table(inner)) => inner.iter().find(|entry| entry.key == "for"),
        _ => None,
    };
    let faults = rule_faults(list, "limits.for", rules.iter().map(CeilingRule::senseless), source);
    if faults.is_empty() { Ok(()) } else { Err(Faults(faults)) }
}

/// The same for lanes.
fn sensible_lanes(lanes: &[Lane], entries: &[SourceEntry], source: &Source) -> Result<(), Faults> {
    let list = entries.iter().find(|entry| entry.key == "lanes");
    let found = lanes.iter().enumerate().map(|(at, lane)| lane.senseless(&lanes[..at]));
    let faults = rule_faults(list, "lanes", found, source);
    if faults.is_empty() { Ok(()) } else { Err(Faults(faults)) }
}

/// Returns what is wrong with the rules of a list, each at its line.
fn rule_faults(
    list: Option<&SourceEntry>,
    path: &str,
    rules: impl Iterator<Item = Option<RuleFault>>,
    source: &Source,
) -> Vec<Fault> {
    let items = match list.map(|entry| &entry.node) {
        Some(Node::List(items)) => items.as_slice(),
        _ => &[],
    };
    let mut faults = Vec::new();
    for (at, fault) in rules.enumerate() {
        let Some(RuleFault { key, what, near }) = fault else { continue };
        let item = items.get(at);
        let inner = item.and_then(|(_, node)| match node {
            Node::Table(inner) => inner.iter().find(|entry| entry.key == key),
            _ => None,
        });
        let line = inner.map(|entry| entry.line).or(item.map(|(line, _)| *line));
        faults.push(Fault { near, ..source.fault(line, &format!("{path}[{}].{key}", at + 1), what) });
    }
    faults
}

/// Calls `take` with every value that is not a table, and with empty tables.
fn leaves(table: &Table, path: &str, take: &mut impl FnMut(String, &Toml)) {
    for (key, value) in table {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Toml::Table(inner) if !inner.is_empty() => leaves(inner, &path, take),
            Toml::Array(items) if items.iter().any(Toml::is_table) => {
                items.iter().enumerate().for_each(|(at, item)| take(format!("{path}[{}]", at + 1), item));
            }
            value => take(path, value),
        }
    }
}

fn mark(entries: &[SourceEntry], path: &str, file: &Path, origins: &mut BTreeMap<String, Origin>) {
    for entry in entries {
        let path = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
        match &entry.node {
            Node::Table(inner) if !inner.is_empty() => mark(inner, &path, file, origins),
            Node::List(items) if items.iter().any(|(_, item)| matches!(item, Node::Table(_))) => {
                for (at, (line, _)) in items.iter().enumerate() {
                    origins.insert(format!("{path}[{}]", at + 1), Origin::File(file.to_owned(), *line));
                }
            }
            _ => drop(origins.insert(path, Origin::File(file.to_owned(), entry.line))),
        }
    }
}

/// Reads a file of the user's; `None` if it does not exist, as below a home that is no folder.
///
/// # Errors
/// When it cannot be read, is too large, or is writable by others: it names programs to run.
pub fn read_own(path: &Path) -> Result<Option<Source>, Fault> {
    let file = match files::open(path, Links::Followed, FileAccess::Read) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(source_fault(path, format!("it cannot be read: {error}"))),
    };
    let facts = file.metadata().map_err(|error| source_fault(path, error.to_string()))?;
    let me = rustix::process::geteuid().as_raw();
    if facts.uid() != me && facts.uid() != 0 {
        return Err(source_fault(path, "it belongs to another user, so it is not read: own it"));
    }
    if facts.mode() & 0o002 != 0 {
        return Err(source_fault(path, "others can write to it, so it is not read: chmod go-w"));
    }
    read_text(&file, path)
}

/// Reads a file that anybody may have created; `None` if it does not exist.
fn read_hostile(path: &Path) -> Result<Option<Source>, Fault> {
    match files::open(path, OWN, FileAccess::Read) {
        Ok(file) => read_text(&file, path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(source_fault(path, format!("it cannot be read: {error}"))),
    }
}

fn read_text(file: &File, path: &Path) -> Result<Option<Source>, Fault> {
    let bytes = files::read_whole(file, MAX_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => source_fault(path, format!("it is larger than {}", Bytes(MAX_BYTES))),
        _ => source_fault(path, error.to_string()),
    })?;
    let text = String::from_utf8(bytes).map_err(|_| source_fault(path, "it is not UTF-8"))?;
    Ok(Some(Source { name: path.display().to_string(), text }))
}

fn source_fault(path: &Path, what: impl Into<String>) -> Fault {
    Source { name: path.display().to_string(), text: String::new() }.fault(None, "", what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> Result<LoadedSettings, String> {
        let source = Source { name: "config.toml".into(), text: text.into() };
        LoadedSettings::of(Some(&source), Path::new("config.toml")).map_err(|faults| faults.to_string())
    }

    #[test]
    fn a_workspace_may_ask_by_consequence_and_has_no_other_say_in_it() {
        let home = tempfile::tempdir().expect("temp dir");
        let path = home.path().join(WORKSPACE_FILE);
        std::fs::write(&path, "[[approvals]]\nconsequence = \"unset\"\n").expect("written");
        let loaded = LoadedSettings::read(home.path(), home.path()).expect("read");
        assert_eq!(loaded.aside, []);
        assert_eq!(
            loaded.added.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["consequence \"unset\""]
        );
        for other in ["ledger = \"on\"", "[[approvals]]\nconsequence = \"none\"", "consequence = \"off\""] {
            std::fs::write(&path, other).expect("written");
            let loaded = LoadedSettings::read(home.path(), home.path()).expect("read");
            assert!(loaded.added.is_empty() && !loaded.aside.is_empty(), "{other}");
        }
    }

    #[test]
    fn below_a_home_that_is_no_folder_there_are_no_settings() {
        assert!(matches!(read_own(Path::new("/dev/null/config.toml")), Ok(None)));
    }

    #[test]
    fn a_file_says_what_differs_and_the_rest_stays() {
        let loaded =
            own("runtime = \"background\"\n\n[limits]\nlease = \"30 s\"\n[env]\nset = { CI = \"1\" }\n")
                .expect("reads");
        assert_eq!(loaded.settings.limits().lease.as_secs(), 30);
        assert_eq!(loaded.settings.limits().tasks, 256);
        assert_eq!(loaded.origins["limits.lease"], Origin::File("config.toml".into(), 4));
        assert!(!loaded.origins.contains_key("limits.tasks"), "nobody has said it");
        assert_eq!(loaded.origins["env.set.CI"], Origin::File("config.toml".into(), 6));
        let values = loaded.values();
        let lease = values.iter().find(|(key, ..)| key == "limits.lease").expect("listed");
        assert_eq!(lease.1, "\"30 s\"");
    }

    #[test]
    fn an_error_names_the_file_the_line_the_key_and_the_nearest_one() {
        let cases = [
            (
                "[limits]\n# how many\ntaks = 3\n",
                "config.toml:3: limits.taks: there is no such key; did you mean `tasks`?",
            ),
            ("[consol]\n", "config.toml:1: consol: there is no such key; did you mean `console`?"),
            (
                "[limits]\nlease = \"soon\"\n",
                "config.toml:2: limits.lease: invalid value: string \"soon\", expected a time such as \"10 s\" (ms, s, min, h, d)",
            ),
            (
                "[console]\nmouse = \"weel\"\n",
                "config.toml:2: console.mouse: unknown variant `weel`, expected one of `off`, `wheel`, `full`",
            ),
            ("[limits]\n\ntasks = 0\n", "config.toml:3: limits.tasks: it must be from 1 to 1000"),
            (
                "[[approvals]]\nprefix = \"git push\"\n[[approvals]]\nprefx = \"ls\"\n",
                "config.toml:4: approvals.prefx: there is no such key; did you mean `prefix`?",
            ),
            (
                "[[approvals]]\nprefix = \"git push\"\n[[approvals]]\ntool = \"ExecComand\"\n",
                "config.toml:4: approvals[2].tool: no tool `ExecComand` can wait for approval; did you mean `ExecCommand`?",
            ),
            (
                "approvals = [\n  { prefix = \"ls\" },\n  { actor = \"claude\" },\n]\n",
                "config.toml:3: approvals[2].actor: `claude` is not an actor: use `agent`, `agent:NAME` or `cli`; did you mean `agent:claude`?",
            ),
            (
                "[limits]\nprocesses = 0\n",
                "config.toml:2: limits.processes: invalid value: integer `0`, expected a number of at least 1, or \"none\"",
            ),
            (
                "[[limits.for]]\nprefix = \"make; ls\"\nmemory = \"1 GiB\"\n",
                "config.toml:2: limits.for[1].prefix: it must be the first words of one command",
            ),
            (
                "[[lanes]]\nname = \"build\"\nslots = 0\nprefix = [\"make\"]\n",
                "config.toml:3: lanes.slots: it must be from 1 to 32",
            ),
            (
                "[[lanes]]\nname = \"a b\"\nslots = 2\nprefix = [\"make\"]\n",
                "config.toml:2: lanes[1].name: it must be 1 to 32 letters, digits, `-` or `_`",
            ),
            (
                "[approvals]\nprefix = \"ls\"\n",
                "config.toml:1: approvals: invalid type: map, expected a sequence",
            ),
            ("[limits\n", "config.toml:1: unclosed table, expected `]`"),
            (
                "zebra = 1\n[record]\nkeep_bytez = \"1 GiB\"\n",
                "config.toml:1: zebra: there is no such key\n\
                 config.toml:3: record.keep_bytez: there is no such key; did you mean `keep_bytes`?",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(own(text).err().as_deref(), Some(expected), "{text}");
        }
    }

    fn with_workspace(text: &str) -> LoadedSettings {
        let home = tempfile::tempdir().expect("temp dir");
        std::fs::write(home.path().join(WORKSPACE_FILE), text).expect("written");
        LoadedSettings::read(&home.path().join("none"), home.path()).expect("reads")
    }

    #[test]
    fn a_workspace_may_lower_limits_and_nothing_else() {
        let loaded = with_workspace("[limits]\ntasks = 3\nbatch_deadline = \"1 h\"\n");
        assert_eq!((loaded.settings.limits.tasks, loaded.aside.len()), (3, 0));
        assert_eq!(loaded.settings.limits().batch_deadline.as_secs(), 110, "it would be raised");
        assert!(
            matches!(&loaded.origins["limits.tasks"], Origin::File(file, 2) if file.ends_with(WORKSPACE_FILE))
        );
        for hostile in [
            "[limits]\ntasks = 0\n",
            "[env]\nset = { PATH = \"/tmp\" }\n",
            "[console]\nnotify = [\"/bin/true\"]\n",
            "[record]\naudit = \"best_effort\"\n",
            "[limits]\nlease = \"1 d\"\n",
            "[limits]\nmemory = \"1 MiB\"\n",
            "[limits]\nprocesses = 1\n",
            "[limits]\nrequire = true\n",
            "[limits]\ncpu_weight = 1\n",
            "[[limits.for]]\nprefix = \"make\"\nmemory = \"1 MiB\"\n",
            "[[lanes]]\nname = \"build\"\nslots = 1\nprefix = [\"make\"]\n",
            "\0",
        ] {
            let loaded = with_workspace(hostile);
            assert_eq!(loaded.settings, Settings::default(), "{hostile:?}");
        }
        assert!(with_workspace("[env]\n").aside[0].to_string().contains("there is no such key"));
    }

    #[test]
    fn a_workspace_adds_rules_and_takes_none_away() {
        let home = tempfile::tempdir().expect("temp dir");
        let rule = |prefix: &str| ApprovalRule { prefix: Some(prefix.into()), ..ApprovalRule::default() };
        std::fs::write(home.path().join(FILE), "[[approvals]]\nprefix = \"git push\"\n").expect("written");
        let theirs = home.path().join(WORKSPACE_FILE);
        std::fs::write(&theirs, "[[approvals]]\nprefix = \"make deploy\"\n").expect("written");
        let loaded = LoadedSettings::read(home.path(), home.path()).expect("reads");
        assert_eq!(loaded.settings.limits().approvals, [rule("git push"), rule("make deploy")]);
        assert_eq!(loaded.added, [rule("make deploy")]);
        let values = loaded.values();
        let rows: Vec<_> = values.iter().filter(|(key, ..)| key.starts_with("approvals")).collect();
        assert_eq!(rows[1].0, "approvals[2]");
        assert_eq!(rows[1].1, r#"{ prefix = "make deploy" }"#);
        assert_eq!(rows[1].2, Origin::File(theirs.clone(), 1));
        std::fs::write(&theirs, "approvals = []\n").expect("written");
        let loaded = LoadedSettings::read(home.path(), home.path()).expect("reads");
        assert_eq!(loaded.settings.approvals, [rule("git push")]);
        std::fs::write(&theirs, "[[approvals]]\nprefix = \"\"\n").expect("written");
        let loaded = LoadedSettings::read(home.path(), home.path()).expect("reads");
        assert_eq!((loaded.settings.approvals, loaded.aside.len()), (vec![rule("git push")], 1));
    }

    #[test]
    fn a_workspaces_link_or_pipe_is_left_aside() {
        let home = tempfile::tempdir().expect("temp dir");
        let path = home.path().join(WORKSPACE_FILE);
        std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
        let loaded = LoadedSettings::read(&home.path().join("none"), home.path()).expect("reads");
        assert_eq!(loaded.aside.len(), 1);
        std::fs::remove_file(&path).expect("removed");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).expect("a named pipe");
        let loaded = LoadedSettings::read(&home.path().join("none"), home.path()).expect("reads");
        assert!(loaded.aside[0].to_string().ends_with("it is not a regular file"), "{:?}", loaded.aside);
    }

    #[test]
    fn a_file_that_others_can_write_is_not_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().expect("temp dir");
        let path = home.path().join(FILE);
        std::fs::write(&path, "[limits]\ntasks = 3\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).expect("set");
        let refused = LoadedSettings::read(home.path(), home.path()).expect_err("refused");
        assert!(refused.to_string().contains("others can write to it"), "{refused}");
    }
}
