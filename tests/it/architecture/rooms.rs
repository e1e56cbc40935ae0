//! Inside a layer: its rooms are the direct children of its folder, and at most three of them may form an import cycle.

use std::collections::{BTreeMap, BTreeSet};

use super::sources;

/// The maximum number of rooms that may import each other in a cycle.
const CYCLE: usize = 3;

/// The layer's own file, `mod.rs`, when it holds more than a list of rooms.
const ITSELF: &str = "mod";

/// Modules by path, each with its code.
pub(super) type Modules = BTreeMap<Vec<String>, String>;

/// The rooms of one layer, and the rooms that each imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

fn module_path(file: &str) -> Vec<String> {
    let stem = file.trim_end_matches(".rs");
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    stem.split('/').map(str::to_owned).collect()
}

pub(super) fn modules() -> Modules {
    let of_tests = |path: &[String]| path.iter().any(|name| name == "tests");
    let named = sources().into_iter().map(|(file, code)| (module_path(&file), without_comments(&code)));
    named.filter(|(path, _)| !of_tests(path)).collect()
}

fn without_comments(code: &str) -> String {
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    // How far something can be seen is no import.
    lines.collect::<Vec<_>>().join("\n").replace("pub(in crate::", "pub(in ")
}

/// Every path in a text that begins with `crate`, `super` or `self`, with groups in braces expanded.
pub(super) fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            // Not the middle of a longer path or word.
            if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                expand(&code[at..], &[], &mut found);
            }
        }
    }
    found
}

/// Reads one path of segments from the beginning of `text`; returns what follows it.
pub(super) fn expand<'a>(text: &'a str, prefix: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = prefix.to_vec();
    let mut rest = text.trim_start();
    loop {
        if let Some(inner) = rest.strip_prefix('{') {
            rest = inner;
            while !rest.trim_start().starts_with('}') && !rest.trim_start().is_empty() {
                rest = expand(rest, &path, found).trim_start().trim_start_matches(',');
            }
            return rest.trim_start().strip_prefix('}').unwrap_or_default();
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end > 0 {
            path.push(rest[..end].to_owned());
        }
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(after) => rest = after.trim_start(),
            None => break,
        }
    }
    found.push(path);
    let next = rest.find([',', '}', ';', ')', '\n']).unwrap_or(rest.len());
    // `as Name` and the like.
    if next == 0 && !rest.starts_with([',', '}']) { rest.get(1..).unwrap_or_default() } else { &rest[next..] }
}

/// Resolves a path relative to the crate root.
pub(super) fn absolute(own: &[String], path: &[String]) -> Vec<String> {
    let mut base = own.to_vec();
    let mut rest = path;
    match path.first().map(String::as_str) {
        Some("crate") => return path[1..].to_vec(),
        Some("self") => rest = &path[1..],
        _ => {}
    }
    while rest.first().is_some_and(|name| name == "super") {
        base.pop();
        rest = &rest[1..];
    }
    base.extend_from_slice(rest);
    base
}

/// What the layer's own `mod.rs` re-exports from its rooms: name -> room.
fn re_exports(layer: &str, modules: &Modules) -> BTreeMap<String, String> {
    let Some(code) = modules.get([layer.to_owned()].as_slice()) else { return BTreeMap::new() };
    let mut passed = BTreeMap::new();
    for statement in code.split(';') {
        let Some((_, list)) = statement.split_once("pub use ").or_else(|| {
            statement.split_once("pub(crate) use ").or_else(|| statement.split_once("pub(super) use "))
        }) else {
            continue;
        };
        let mut found = Vec::new();
        expand(list, &[], &mut found);
        for path in found {
            let path = if path[0] == "self" { &path[1..] } else { &path[..] };
            if let [room, .., name] = path {
                passed.insert(name.clone(), room.clone());
            }
        }
    }
    passed
}

fn imports(layer: &str, modules: &Modules) -> Imports {
    let inside = || modules.iter().filter(|(path, _)| path[0] == layer && path.len() > 1);
    let mut graph: Imports = inside().map(|(path, _)| (path[1].clone(), BTreeSet::new())).collect();
    let passed = re_exports(layer, modules);
    let rooms: BTreeSet<String> = graph.keys().cloned().collect();
    // Anything that is neither a room nor re-exported from one is defined in the layer's own file.
    let own_file = || ITSELF.to_owned();
    for (own, code) in inside() {
        for path in paths(code) {
            let path = absolute(own, &path);
            let (Some(top), Some(name)) = (path.first(), path.get(1)) else { continue };
            let room = rooms.get(name).or_else(|| passed.get(name)).cloned().unwrap_or_else(own_file);
            if top == layer && room != own[1] {
                graph.entry(own[1].clone()).or_default().insert(room);
            }
        }
    }
    let code = modules.get([layer.to_owned()].as_slice()).map(String::as_str).unwrap_or_default();
    let used = code.lines().filter_map(|line| line.strip_prefix("use ")?.split([':', ';']).next());
    let used = used.filter_map(|name| rooms.get(name).cloned()).collect();
    graph.insert(own_file(), used);
    graph
}

fn reached(graph: &Imports, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(room) = open.pop() {
        let next = graph.get(&room).into_iter().flatten();
        open.extend(next.filter(|room| seen.insert((*room).clone())).cloned());
    }
    seen
}

/// The sets of rooms that import each other in a cycle.
pub(super) fn cycles(graph: &Imports) -> BTreeSet<BTreeSet<String>> {
    let reach: BTreeMap<&String, _> = graph.keys().map(|room| (room, reached(graph, room))).collect();
    let around = |room: &String| -> BTreeSet<String> {
        reach[room]
            .iter()
            .filter(|other| reach.get(other).is_some_and(|r| r.contains(room)))
            .cloned()
            .collect()
    };
    graph.keys().map(around).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn at_most_three_rooms_of_a_layer_import_each_other() {
    let modules = modules();
    let layers: BTreeSet<&String> = modules.keys().map(|path| &path[0]).collect();
    let mut wrong = Vec::new();
    for layer in layers {
        let graph = imports(layer, &modules);
        let most = cycles(&graph).into_iter().max_by_key(BTreeSet::len).unwrap_or_default();
        if most.len() > CYCLE {
            let arrows = |room: &String| {
                let to: Vec<&str> = graph[room].intersection(&most).map(String::as_str).collect();
                format!("  {room} -> {}", to.join(", "))
            };
            let arrows: Vec<String> = most.iter().map(arrows).collect();
            wrong.push(format!("{layer}: a cycle of {} rooms\n{}", most.len(), arrows.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_imports_reads_them() {
    let code = "use crate::{a};\nuse super::{b::{C, D as E}, self::f, G};\nlet x = super::super::h::i();\n";
    let found: BTreeSet<String> = paths(code).iter().map(|path| path.join("::")).collect();
    let wanted =
        ["crate::a", "super::b::C", "super::b::D", "super::self::f", "super::G", "super::super::h::i"];
    assert!(wanted.iter().all(|path| found.contains(*path)), "{found:?}");
    let own: Vec<String> = ["x", "y", "z"].map(str::to_owned).to_vec();
    let path = ["super", "super", "h"].map(str::to_owned);
    assert_eq!(absolute(&own, &path), ["x", "h"]);
}
