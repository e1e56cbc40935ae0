//! Input for the programs to show.

use std::path::Path;
use std::process::Command;

/// A file to edit.
pub(super) const CODE: &str = r#"//! A ship and where it is.

use std::fmt;

#[derive(Debug, Clone)]
pub struct Ship {
    name: String,
    knots: u32,
}

impl fmt::Display for Ship {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} knots: 海 — 🚢", self.name, self.knots)
    }
}

// TODO: a very long line that goes on beyond the right margin of the window, so that it has to be wrapped by the editor
fn main() {
    let ship = Ship { name: String::from("Möwe"), knots: 12 };
	println!("{ship}\tafter a tab");
    let fleet: Vec<Ship> = (0..40).map(|n| Ship { name: n.to_string(), ..ship.clone() }).collect();
    for ship in &fleet {
        println!("{ship}");
    }
}
"#;

/// Creates a repository with merged branches, and more lines of history than fit on a screen.
pub(super) fn repository(folder: &Path) {
    let script = r#"set -e
        git init -q -b main . && echo one > file && git add file && git commit -qm 'first'
        for n in 1 2 3 4 5 6; do
            git checkout -q -b side-$n && echo "side $n" >> other && git add other && git commit -qm "side $n: 港 🚢"
            git checkout -q main && echo "main $n" >> file && git commit -qam "main $n"
            git merge -q --no-edit side-$n
        done"#;
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Ada").env(format!("GIT_{who}_EMAIL"), "ada@example.org");
        command.env(format!("GIT_{who}_DATE"), "2026-01-02T03:04:05Z");
    }
    let made = command.output().expect("sh");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
