//! Import cycles between files, what the rooms of the console and of prose import, and types that share their name.

use std::collections::{BTreeMap, BTreeSet};

use super::rooms::{Modules, absolute, cycles, expand, modules, paths};

/// Files by module path, and the files that each imports.
type FileImports = BTreeMap<String, BTreeSet<String>>;

/// The names that each module passes on from another one, with their full paths.
type PassedOn = BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>;

fn passed_on(modules: &Modules) -> PassedOn {
    let passes = |(own, code): (&Vec<String>, &String)| {
        let statements = code.split(';').filter_map(|statement| {
            let (_, list) = ["pub use ", "pub(crate) use ", "pub(super) use "]
                .iter()
                .find_map(|begin| statement.split_once(*begin))?;
            Some(list)
        });
        let mut names = BTreeMap::new();
        for list in statements {
            let mut found = Vec::new();
            expand(list, &[], &mut found);
            for path in found {
                let full = absolute(own, &path);
                names.extend(path.last().filter(|_| full.len() > 1).map(|name| (name.clone(), full)));
            }
        }
        (own.clone(), names)
    };
    modules.iter().map(passes).collect()
}

/// Returns the module whose file defines what stands at `path`.
fn definer(path: &[String], modules: &Modules, passed: &PassedOn) -> Option<Vec<String>> {
    let mut path = path.to_vec();
    // A name is passed on a few times at most.
    for _ in 0..8 {
        let own =
            (1..=path.len()).rev().map(|length| &path[..length]).find(|own| modules.contains_key(*own))?;
        let further = path.get(own.len()).and_then(|name| passed.get(own)?.get(name));
        let Some(further) = further.filter(|further| further[..] != path[..]) else {
            return Some(own.to_vec());
        };
        path = further.iter().chain(&path[own.len() + 1..]).cloned().collect();
    }
    None
}

/// The paths that begin with the name of a module below this one.
fn paths_below(own: &[String], code: &str, modules: &Modules) -> Vec<Vec<String>> {
    let children = modules.keys().filter(|path| path.len() == own.len() + 1 && path.starts_with(own));
    let mut found = Vec::new();
    for child in children.filter_map(|path| path.last()) {
        for (at, _) in code.match_indices(&format!("{child}::")) {
            let before = code[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                expand(&code[at..], &[], &mut found);
            }
        }
    }
    found
}

fn file_imports(modules: &Modules) -> FileImports {
    let passed = passed_on(modules);
    let imported = |(own, code): (&Vec<String>, &String)| {
        let used = paths(code).into_iter().chain(paths_below(own, code, modules));
        let files = used.filter_map(|path| definer(&absolute(own, &path), modules, &passed));
        (own.join("/"), files.filter(|file| file != own).map(|file| file.join("/")).collect())
    };
    modules.iter().map(imported).collect()
}

/// Returns the files of the largest import cycle, each with those of them that it imports.
pub(super) fn largest_cycle() -> FileImports {
    let imports = file_imports(&modules());
    let largest = cycles(&imports).into_iter().max_by_key(BTreeSet::len).unwrap_or_default();
    let inside = |file: &String| (file.clone(), imports[file].intersection(&largest).cloned().collect());
    largest.iter().map(inside).collect()
}

/// The rooms of the console that hold its decisions and its drawing; each knows only those before it.
const CONSOLE_ROOMS: [&str; 4] = ["state", "widgets", "features", "app"];

/// The room of the console that a file belongs to, by its position, and the feature that it is part of.
fn console_room(file: &str) -> Option<(usize, Option<&str>)> {
    let mut parts = file.strip_prefix("console/")?.split('/');
    let room = parts.next()?;
    let at = CONSOLE_ROOMS.iter().position(|name| *name == room)?;
    Some((at, parts.next().filter(|_| room == "features")))
}

#[test]
fn the_rooms_of_the_console_import_downwards_and_no_feature_names_another() {
    let mut wrong = Vec::new();
    for (file, imported) in file_imports(&modules()) {
        let Some((room, feature)) = console_room(&file) else { continue };
        for other in imported {
            let is_wrong = match console_room(&other) {
                Some((at, named)) if at == room => feature.is_some() && named != feature,
                Some((at, _)) => at > room,
                None => ["console/io", "console/plain"].iter().any(|above| other.starts_with(above)),
            };
            if is_wrong {
                wrong.push(format!("{file} names {other}"));
            }
        }
    }
    // A method would let features call each other without naming each other. Those of `app` are seen by `app` alone.
    let is_above = |file: &str| file.starts_with("console/") && !file.starts_with("console/state/");
    let is_wide = |methods: &str| {
        let methods = methods.split("\n}\n").next().unwrap_or_default();
        ["\n    pub fn", "\n    pub(crate)", "\n    pub(in"].iter().any(|wide| methods.contains(wide))
    };
    let extends = |(file, code): &(&String, &String)| {
        let mut blocks = code.split("\nimpl State {").skip(1);
        is_above(file) && blocks.any(|methods| !file.starts_with("console/app/") || is_wide(methods))
    };
    let sources = super::sources();
    wrong.extend(sources.iter().filter(extends).map(|(file, _)| format!("{file} adds methods to the state")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rooms of prose; each knows only those before it.
const PROSE_ROOMS: [&str; 8] = [
    "prose/syntax",
    "prose/engine/value",
    "prose/engine/record",
    "prose/engine/answers",
    "prose/engine/session",
    "prose/engine/survey",
    "prose/engine/vm",
    "prose/engine/run",
];

#[test]
fn the_rooms_of_prose_import_downwards_and_the_language_only_how_durations_are_written() {
    let room = |file: &str| PROSE_ROOMS.iter().position(|room| file.starts_with(room));
    let mut wrong = Vec::new();
    for (file, imported) in file_imports(&modules()) {
        let Some(own) = room(&file) else { continue };
        let is_duration = |other: &str| other.starts_with("envelope/units");
        let is_wrong = |other: &&String| room(other).map_or(own == 0 && !is_duration(other), |at| at > own);
        wrong.extend(imported.iter().filter(is_wrong).map(|other| format!("{file} names {other}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names of the types that a text declares.
fn declared(code: &str) -> Vec<&str> {
    let name = |line: &'_ str| -> Option<(usize, usize)> {
        let begin = line.len() - line.trim_start().len();
        let mut rest = line.trim_start();
        for visibility in ["pub(crate) ", "pub(super) ", "pub "] {
            rest = rest.strip_prefix(visibility).unwrap_or(rest);
        }
        let rest =
            ["struct ", "enum ", "trait ", "union "].iter().find_map(|word| rest.strip_prefix(word))?;
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let at = line.len() - rest.len();
        (length > 0 && at >= begin).then_some((at, at + length))
    };
    code.lines().filter_map(|line| name(line).map(|(from, to)| &line[from..to])).collect()
}

/// Returns how many of a thousand types share their name with another.
pub(super) fn shared_names<'a>(product: impl Iterator<Item = &'a str>) -> usize {
    let mut types: BTreeMap<&str, usize> = BTreeMap::new();
    product.flat_map(declared).for_each(|name| *types.entry(name).or_default() += 1);
    let all: usize = types.values().sum();
    types.values().filter(|number| **number > 1).sum::<usize>() * 1_000 / all.max(1)
}

#[test]
fn an_import_is_followed_to_the_file_that_defines_it() {
    let path = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
    let modules: Modules = [
        ("a", "pub use b::{Thing, deep::Other as Renamed};\nfn f() { b::g(); }"),
        ("a::b", "pub struct Thing; pub use deep::Other;"),
        ("a::b::deep", "pub struct Other;"),
        ("c", "use crate::a::Thing;\nuse crate::a::b::Other;\n"),
    ]
    .into_iter()
    .map(|(own, code)| (path(own), code.to_owned()))
    .collect();
    let imports = file_imports(&modules);
    assert_eq!(imports["c"], BTreeSet::from(["a/b".to_owned(), "a/b/deep".to_owned()]));
    assert!(imports["a"].contains("a/b"), "{imports:?}");
    assert_eq!(declared("pub struct A;\n    enum B<T> {\npub(crate) trait C {\nlet d = 1;"), ["A", "B", "C"]);
}
