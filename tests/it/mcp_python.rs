//! An independent MCP client: the Python SDK in all its modes, over the real shim.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{Home, program, skip};

/// Returns a Python interpreter that has the SDK.
fn python() -> Option<PathBuf> {
    let asked = std::env::var_os("PILOTHOUSE_PYTHON").map(PathBuf::from);
    asked.into_iter().chain([PathBuf::from("python3")]).find(|python| {
        let imported = Command::new(python).args(["-c", "import mcp, anyio; mcp.Client"]).output();
        imported.is_ok_and(|imported| imported.status.success())
    })
}

fn drive(mode: &str, profile: &str) {
    let Some(python) = python() else {
        return skip("no Python with the package `mcp` 2.3.0; set PILOTHOUSE_PYTHON to one");
    };
    let home = Home::new();
    let mut client = Command::new(python);
    home.settle(&mut client);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/mcp_client.py");
    let driven = client.arg(script).arg(program()).args([mode, profile]).output().expect("python runs");
    let said = String::from_utf8_lossy(&driven.stdout);
    assert!(
        driven.status.success() && said.starts_with(&format!("ok {mode} {profile}")),
        "{said}{}",
        String::from_utf8_lossy(&driven.stderr)
    );
}

#[test]
fn the_python_sdk_works_in_its_legacy_mode() {
    drive("legacy", "receipt");
}

#[test]
fn the_python_sdk_works_in_its_auto_mode_with_structured_results() {
    drive("auto", "structured");
}

#[test]
fn the_python_sdk_works_in_the_modern_era() {
    drive("2026-07-28", "receipt");
}
