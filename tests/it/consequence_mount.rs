//! What a command would cost whose files are in a mount that hangs: said in time, and said to be unknown.

use std::process::Command;

use serde_json::Value;

use crate::support::{Home, program, skip};

/// Mounts a file system at `$1` whose server, this shell, answers nothing, and runs the rest of its arguments. Both end
/// with it.
const HANGS: &str = "exec 3<>/dev/fuse || exit 99
    mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 hangs \"$1\" || exit 99
    shift; \"$@\" 3<&-";

#[test]
fn a_mount_that_hangs_holds_nobody_and_is_said() {
    let home = Home::new();
    let mount = home.workspace().join("mount");
    std::fs::create_dir(&mount).expect("a folder");
    for line in ["rm -rf mount/x", "echo x > mount/x", "ls mount && rm mount/*"] {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", HANGS, "sh"]).arg(&mount).arg(program());
        command.args(["consequence", line, "--output", "json"]);
        home.settle(&mut command);
        let Ok(ended) = command.output() else { return skip("unshare is not installed") };
        // 1 is its own refusal.
        if let Some(1 | 99) = ended.status.code() {
            return skip("a file system in user space cannot be mounted here");
        }
        let answer: Value = serde_json::from_slice(&ended.stdout).expect("JSON");
        assert_eq!(answer["data"]["unknown"][0], "any of it: looking took too long", "{line}: {answer}");
        assert_eq!(answer["meta"]["exit_code"], 26);
        let took = answer["meta"]["duration_ms"].as_u64().expect("a number");
        assert!((300..5_000).contains(&took), "{line}: {took} ms");
    }
}
