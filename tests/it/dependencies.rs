//! The project's dependencies, checked against `deny.toml`: licences, the source of each crate, duplicate versions.
//! Advisories need the network and are not checked here: `cargo deny check advisories`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toml::Table;

use crate::support::skip;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn table(path: &str) -> Table {
    std::fs::read_to_string(root().join(path)).expect("readable").parse().expect("TOML")
}

/// The strings of a list in `deny.toml`.
fn listed(section: &str, key: &str) -> BTreeSet<String> {
    let rules = table("deny.toml");
    let list = rules[section][key].as_array().expect("a list");
    list.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

/// The packages in the lock file: name, version, source.
fn locked() -> Vec<(String, String, Option<String>)> {
    let lock = table("Cargo.lock");
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let packages = lock["package"].as_array().expect("packages").iter();
    packages
        .map(|package| {
            let of = |key| text(package, key);
            (of("name").expect("a name"), of("version").expect("a version"), of("source"))
        })
        .collect()
}

/// Tells whether some way to satisfy an SPDX expression needs only allowed licences. Understands parentheses, AND,
/// OR, and the slash that old packages use for OR.
fn may_be_used(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let result = any_of(&mut rest, allowed);
    result && rest.is_empty()
}

fn any_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut result = all_of(words, allowed);
    while words.first() == Some(&"OR") {
        *words = &words[1..];
        result |= all_of(words, allowed);
    }
    result
}

fn all_of(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut result = one(words, allowed);
    while words.first() == Some(&"AND") {
        *words = &words[1..];
        result &= one(words, allowed);
    }
    result
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let Some((&word, rest)) = words.split_first() else { return false };
    *words = rest;
    if word == "(" {
        let inner = any_of(words, allowed);
        *words = words.strip_prefix(&[")"]).unwrap_or(&[]);
        return inner;
    }
    if let ["WITH", exception, rest @ ..] = *words {
        *words = rest;
        return allowed.contains(&format!("{word} WITH {exception}"));
    }
    allowed.contains(word)
}

/// Cargo's metadata of the packages for this platform; `None` if cargo cannot produce it, e.g. without a package cache.
fn metadata() -> Option<Value> {
    let asked = Command::new(env!("CARGO")).arg("-vV").output().ok()?;
    let told = String::from_utf8(asked.stdout).ok()?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "))?.to_owned();
    let args = ["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", &host];
    let asked = Command::new(env!("CARGO")).args(args).current_dir(root()).output().ok()?;
    asked.status.success().then(|| serde_json::from_slice(&asked.stdout).expect("JSON"))
}

#[test]
fn every_licence_is_one_that_is_allowed() {
    let Some(metadata) = metadata() else {
        return skip("cargo metadata --locked --offline does not run here");
    };
    let allowed = listed("licenses", "allow");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "{}", packages.len());
    let licence = |package: &Value| package["license"].as_str().unwrap_or("none").to_owned();
    let wrong: Vec<String> = packages
        .iter()
        .filter(|package| !may_be_used(&licence(package), &allowed))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], licence(package)))
        .collect();
    assert!(wrong.is_empty(), "not in deny.toml:\n{}", wrong.join("\n"));
}

#[test]
fn an_expression_of_licences_is_read() {
    let allowed = BTreeSet::from(["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned));
    for usable in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/MIT",
        "(GPL-3.0 OR MIT) AND Zlib",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(may_be_used(usable, &allowed), "{usable}");
    }
    for not in
        ["", "none", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND GPL-3.0", "Apache-2.0", "MIT Zlib"]
    {
        assert!(!may_be_used(not, &allowed), "{not}");
    }
}

#[test]
fn every_crate_comes_from_the_registry_with_its_checksum() {
    let allowed = listed("sources", "allow-registry");
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("readable");
    let mut from_outside = 0;
    for (name, version, source) in locked() {
        match source {
            None => assert!(name.starts_with("pilothouse"), "{name} {version} comes from a folder"),
            Some(source) => {
                let registry = source.strip_prefix("registry+").unwrap_or_default();
                assert!(allowed.contains(registry), "{name} {version} comes from {source}");
                from_outside += 1;
            }
        }
    }
    assert_eq!(lock.matches("\nchecksum = ").count(), from_outside);
}

#[test]
fn a_crate_with_two_versions_is_listed_in_the_deny_file() {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, version, _) in locked() {
        versions.entry(name).or_default().push(version);
    }
    let rules = table("deny.toml");
    let known: BTreeSet<&str> = rules["bans"]["skip"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|skipped| skipped["crate"].as_str().expect("a crate"))
        .collect();
    let twice = versions.iter().filter(|(_, versions)| versions.len() > 1);
    // All versions except the newest are listed: the newest is the one to converge on.
    let old: BTreeSet<String> = twice
        .flat_map(|(name, versions)| {
            versions[..versions.len() - 1].iter().map(move |old| format!("{name}@{old}"))
        })
        .collect();
    let known: BTreeSet<String> = known.into_iter().map(str::to_owned).collect();
    let new: Vec<_> = old.difference(&known).collect();
    let gone: Vec<_> = known.difference(&old).collect();
    assert!(new.is_empty() && gone.is_empty(), "deny.toml, [bans] skip: add {new:?}, remove {gone:?}");
}

#[test]
fn the_fuzz_targets_use_the_versions_of_the_project() {
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/Cargo.toml").exists());
    let manifest = table("tests/fuzz/Cargo.toml");
    assert_eq!(manifest["dependencies"]["pilothouse"]["path"].as_str(), Some("../.."));
}
