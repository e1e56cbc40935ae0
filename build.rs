//! Links the program to a fixed address (docs/decisions/63-a-program-at-a-fixed-address.md).

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PILOTHOUSE_PIE");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // A statically linked program needs other start files, too: that is up to `-C relocation-model`.
    let is_static = target("FEATURE").split(',').any(|feature| feature == "crt-static");
    let is_gnu_linux = target("OS") == "linux" && target("ENV") == "gnu";
    if is_gnu_linux && !is_static && env::var_os("PILOTHOUSE_PIE").is_none() {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
