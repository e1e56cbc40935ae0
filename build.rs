//! Links the program so that it starts faster: every command of an agent's own shell starts it
//! (docs/decisions/12-command-line.md). Where the system lacks something for that, it is linked as usual.

use std::env;
use std::path::Path;
use std::process::Command;

/// The first version of glibc that can load packed relocations.
const PACKED_SINCE: (u32, u32) = (2, 36);

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_static = target("FEATURE").split(',').any(|feature| feature == "crt-static");
    let is_for_this_system = env::var("TARGET").ok() == env::var("HOST").ok();
    if target("OS") != "linux" || target("ENV") != "gnu" || is_static || !is_for_this_system {
        return;
    }
    if glibc().is_some_and(|version| version >= PACKED_SINCE) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if has_static_unwinder() {
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Returns the version of this system's glibc.
fn glibc() -> Option<(u32, u32)> {
    let told = output("getconf", "GNU_LIBC_VERSION")?;
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

/// Tells whether the unwinder can be part of the program. The compiler answers with a path if it has the library.
fn has_static_unwinder() -> bool {
    output("cc", "-print-file-name=libgcc_eh.a").is_some_and(|path| Path::new(path.trim()).is_absolute())
}

fn output(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    String::from_utf8(output.stdout).ok()
}
