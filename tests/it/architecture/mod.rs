//! The code keeps its structure: imports go downwards only, files stay small, no test is forgotten.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

mod budget;
mod measures;
mod purity;
mod rooms;

/// The layers from top to bottom. A layer imports only from those below it; layers in the same row never import
/// each other.
const LAYERS: [&[&str]; 14] = [
    &["cli", "fuzz"],
    &["console", "agent", "dispatch"],
    &["link"],
    &["prose", "tools"],
    &["runtime"],
    &["ledger"],
    &["journal"],
    &["process"],
    &["agents"],
    &["model"],
    &["terminal"],
    &["config", "clock", "paths"],
    &["consequence", "envelope"],
    &["files"],
];

/// Crates that only one layer may use.
const AT_HOME: [(&str, &str); 4] =
    [("ratatui", "console"), ("crossterm", "console"), ("rmcp", "agent"), ("clap", "cli")];

/// The maximum number of lines in a file before its tests.
const LINES: usize = 400;

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn files_below(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("a readable folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|own| own == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The folders of source files: that of the program, and those of the members of the workspace, each with the name under
/// which the program knows it.
const SOURCE_ROOTS: [(&str, &str); 6] = [
    ("src", ""),
    ("crates/consequence/src", "consequence"),
    ("crates/envelope/src", "envelope"),
    ("crates/model/src", "model"),
    ("crates/prose-syntax/src", "prose/syntax"),
    ("crates/terminal/src", "terminal"),
];

/// Source files by their path below `src`, each with the part before its tests. A member of the workspace is read as
/// the module as which the program knows it.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (folder, name) in SOURCE_ROOTS {
        let folder = root().join(folder);
        for path in files_below(&folder, "rs") {
            let text = fs::read_to_string(&path).expect("a source file");
            let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let below = path.strip_prefix(&folder).expect("below its folder").display().to_string();
            if name.is_empty() {
                found.insert(below, code.to_owned());
            } else {
                let below = if below == "lib.rs" { "mod.rs" } else { &below };
                let own = format!("crate::{}::", name.replace('/', "::"));
                let code = SOURCE_ROOTS.iter().fold(code.replace("crate::", &own), |code, (_, other)| {
                    let name = other.replace('/', "::");
                    code.replace(
                        &format!("pilothouse_{}::", name.replace("::", "_")),
                        &format!("crate::{name}::"),
                    )
                });
                found.insert(format!("{name}/{below}"), code);
            }
        }
    }
    found
}

/// The files of a member that is not listed would be read by no test here.
#[test]
fn no_member_of_the_workspace_is_forgotten() {
    for entry in fs::read_dir(root().join("crates")).expect("crates").flatten() {
        let folder = format!("crates/{}/src", entry.file_name().display());
        assert!(
            SOURCE_ROOTS.iter().any(|(known, _)| *known == folder),
            "{folder} stands in no list of sources"
        );
    }
}

fn layer(file: &str) -> Option<&str> {
    let top = file.split(['/', '.']).next()?;
    (!matches!(top, "lib" | "main" | "bin")).then_some(top)
}

fn rank(layer: &str) -> usize {
    LAYERS
        .iter()
        .position(|row| row.contains(&layer))
        .unwrap_or_else(|| panic!("the layer `{layer}` stands in no row: name it here and in the docs"))
}

/// The layers named after `crate::` in a text, ignoring comments.
fn imports(code: &str) -> Vec<String> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let after = |line: &str| -> Vec<String> {
        line.split("crate::")
            .skip(1)
            .filter(|rest| !rest.starts_with('{'))
            .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
            .collect()
    };
    lines.flat_map(after).collect()
}

#[test]
fn imports_go_downwards_only() {
    let mut wrong = Vec::new();
    for (file, code) in sources() {
        let Some(own) = layer(&file) else { continue };
        for import in imports(&code) {
            if import != own && rank(&import) <= rank(own) {
                wrong.push(format!("{file} ({own}) imports {import}"));
            }
        }
        assert!(!code.contains("crate::{"), "{file}: write one `use crate::layer` for each layer");
    }
    assert!(wrong.is_empty(), "imports against the order of the layers:\n{}", wrong.join("\n"));
}

#[test]
fn a_path_climbs_one_step_or_begins_at_the_crate() {
    let climbs = |(file, code): (String, String)| code.contains("super::super::").then_some(file);
    let found: Vec<String> = sources().into_iter().filter_map(climbs).collect();
    assert!(found.is_empty(), "`super::super::`, where a path from `crate::` says more: {found:?}");
}

#[test]
fn a_crate_stays_in_its_layer() {
    let mut wrong = Vec::new();
    for (file, code) in sources() {
        for (name, home) in AT_HOME {
            let named = code.contains(&format!("{name}::"));
            if named && layer(&file) != Some(home) {
                wrong.push(format!("{file} uses {name}, which belongs to {home}"));
            }
        }
        let reads_process = code.contains("env::var") || code.contains("env::args");
        if reads_process && !matches!(layer(&file), Some("cli") | None) {
            wrong.push(format!("{file} reads the environment, which is the business of cli"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_has_one_noun_and_says_what_it_owns() {
    let mut wrong = Vec::new();
    for (file, code) in sources() {
        let lines = code.lines().count();
        if lines > LINES {
            wrong.push(format!("{file} has {lines} lines before its tests: which noun wants its own room?"));
        }
        let own_words = code.lines().find(|line| !line.starts_with("#!") && !line.is_empty());
        if !own_words.is_some_and(|line| line.starts_with("//!")) {
            wrong.push(format!("{file} does not open with `//!`"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files that write to standard output, standard error or a terminal. Each takes safe text, the frames of the console,
/// or sequences of its own; see docs/decisions/20-persons-terminal.md.
const SINKS: [&str; 10] = [
    "agent/shim/join.rs",
    "cli/gate.rs",
    "cli/print.rs",
    "cli/probe.rs",
    // It writes nothing there: it passes the descriptors to the command.
    "cli/shell/run.rs",
    // Nor does this: it asks which terminal they are.
    "cli/shell/terminal.rs",
    "cli/stdout.rs",
    "console/io/output.rs",
    "console/io/tty.rs",
    // Its standard output is a pipe to the process that asked.
    "ledger/cost.rs",
];

#[test]
fn only_the_known_sinks_write_to_a_terminal() {
    let ways = [
        "io::stdout()",
        "io::stderr()",
        "stdio::stdout",
        "stdio::stderr",
        "print!(",
        "println!(",
        "\"/dev/tty\"",
    ];
    let writes = |code: &str| {
        // A terminal opened with `File::open` is only read.
        let reads = |line: &str| line.contains("File::open(\"/dev/tty\")");
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//") && !reads(line));
        lines.flat_map(|line| ways.iter().filter_map(move |way| line.split_once(way))).any(|(_, rest)| {
            // Asking whether it is a terminal, or whether it exists, writes nothing.
            !rest.starts_with(".is_terminal()") && !rest.starts_with(").is_ok()")
        })
    };
    let found: Vec<String> =
        sources().into_iter().filter(|(_, code)| writes(code)).map(|(file, _)| file).collect();
    assert_eq!(found, SINKS);
}

#[test]
fn characters_reach_a_frame_in_one_place() {
    let ways = [
        ".set_symbol(",
        ".set_char(",
        ".set_string(",
        ".set_stringn(",
        ".set_line(",
        ".set_span(",
        "Paragraph",
    ];
    let found: Vec<String> = sources()
        .into_iter()
        .filter(|(_, code)| ways.iter().any(|way| code.contains(way)))
        .map(|(file, _)| file)
        .collect();
    assert_eq!(found, ["console/text/cell.rs"]);
}

/// Files that open a path by hand, and why that path is none that a client, a workspace or a record names. Everything
/// else is opened through `files`, which waits for nothing and follows no link out of a folder.
const OPENERS: [(&str, &str); 27] = [
    ("agent/codex/start_request.rs", "devices, and a directory by its path alone"),
    ("cli/codex_mirror.rs", "the pipes of the process it stands for"),
    ("cli/demo.rs", "files of a folder it has just made"),
    ("cli/gate.rs", "the terminal"),
    ("cli/mod.rs", "the terminal"),
    ("cli/probe.rs", "the terminal"),
    ("cli/remote.rs", "/proc"),
    ("cli/run.rs", "standard input"),
    ("cli/shell/run.rs", "its own directory, by its path alone"),
    ("cli/surroundings.rs", "the password file"),
    ("console/io/keyboard.rs", "the terminal"),
    ("console/io/tty.rs", "the terminal"),
    ("dispatch/doctor/system.rs", "/proc"),
    ("dispatch/exec/source.rs", "a FIFO whose lines are run as they come, without waiting for its writer"),
    ("dispatch/relay/list.rs", "/proc"),
    ("files/mod.rs", "the module that this is about"),
    ("files/named.rs", "the module that this is about"),
    ("journal/disk.rs", "a new file"),
    ("ledger/program.rs", "/proc"),
    ("link/background.rs", "a pipe of its own"),
    ("link/socket.rs", "a directory by its path alone"),
    ("process/", "/proc, /dev and control groups; new files"),
    ("runtime/bytes/outlet.rs", "a descriptor that it was given"),
    ("runtime/driver/terminal_reads.rs", "/proc"),
    ("runtime/driver/polling.rs", "/proc"),
    ("runtime/log.rs", "a new file"),
    ("runtime/tail.rs", "a new file"),
];

#[test]
fn only_the_known_files_open_a_path_by_hand() {
    let ways = [
        "File::open(",
        "File::create(",
        "File::options(",
        "OpenOptions::new(",
        "fs::read(",
        "fs::read_to_string(",
        ".read_to_string(",
        "fs::write(",
        "fs::copy(",
        "files::private(",
        "fs::open(",
        "openat(",
        "openat2(",
    ];
    let opens = |code: &str| {
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.flat_map(|line| ways.iter().map(move |way| line.contains(way))).any(|found| found)
    };
    let found: Vec<String> =
        sources().into_iter().filter(|(_, code)| opens(code)).map(|(file, _)| file).collect();
    let is_known = |file: &String| OPENERS.iter().any(|(known, _)| file.starts_with(known));
    let unknown: Vec<&String> =
        found.iter().filter(|file| !is_known(file) && !file.contains("tests")).collect();
    assert!(unknown.is_empty(), "opened by hand; use `crate::files::open`, `read` or `replace`: {unknown:?}");
    let is_used = |known: &str| found.iter().any(|file| file.starts_with(known));
    let unused: Vec<&str> = OPENERS.iter().map(|(known, _)| *known).filter(|known| !is_used(known)).collect();
    assert!(unused.is_empty(), "these open nothing by hand any more: {unused:?}");
}

/// Git starts what a repository names. Only its private folder has a configuration that nobody else writes.
#[test]
fn git_is_run_in_one_place() {
    let ways = ["Command::new(\"git\")", "join(\"git\")", "git='git", "\ngit "];
    let runs = |(file, code): (String, String)| ways.iter().any(|way| code.contains(way)).then_some(file);
    let found: Vec<String> = sources().into_iter().filter_map(runs).collect();
    assert_eq!(found, ["ledger/program.rs"]);
}

/// Whole folders are removed only by those who have just made them; all others remove what they know, name by name.
#[test]
fn no_folder_is_removed_whatever_is_in_it() {
    let removes = |(file, code): (String, String)| {
        (code.contains("remove_dir_all") && !file.contains("tests")).then_some(file)
    };
    let found: Vec<String> = sources().into_iter().filter_map(removes).collect();
    assert_eq!(found, ["cli/demo.rs"]);
}

#[test]
fn unsafe_code_stands_in_one_module() {
    let named = |code: &str| code.contains("unsafe {") || code.contains("unsafe fn");
    let found: Vec<String> =
        sources().into_iter().filter(|(_, code)| named(code)).map(|(file, _)| file).collect();
    assert_eq!(
        found,
        ["process/sys.rs", "process/sys/handed_on.rs", "process/sys/lease.rs", "process/sys/memory.rs"]
    );
}

/// A test that skipped itself in some other way would be counted as passed and listed nowhere.
#[test]
fn a_skipped_test_says_so_in_one_way() {
    let word = ["SKIP", "PED"].concat();
    for path in files_below(&root().join("tests/it"), "rs") {
        let text = fs::read_to_string(&path).expect("a test file");
        let spoken = text.contains(&word) && !path.ends_with("support/skip.rs");
        assert!(!spoken, "{}: a test that cannot run here calls support::skip", path.display());
    }
}

#[test]
fn no_test_file_is_forgotten() {
    let it = root().join("tests/it");
    let main = fs::read_to_string(it.join("main.rs")).expect("main.rs");
    for entry in fs::read_dir(&it).expect("tests/it").flatten() {
        let path = entry.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let holds_code =
            path.is_dir() && path.join("mod.rs").exists() || path.extension().is_some_and(|e| e == "rs");
        if holds_code && name != "main" {
            assert!(main.contains(&format!("mod {name};")), "tests/it/main.rs does not name {name}");
        }
    }
}
