//! A real podman container with nothing but busybox in it: attached to, typed into, stopped and
//! started again. PILOTHOUSE_STATIC names a statically linked program, which `.ci/long containers` builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Agent, Console, Home, skip};

const BUSYBOX: &str = "/bin/busybox";

/// A container, and the podman command line with this test's own storage.
struct Container {
    podman: Vec<String>,
}

impl Container {
    /// Starts one; returns the reason if that is not possible.
    fn start(folder: &Path) -> Result<Self, String> {
        let at = |name: &str| folder.join(name).display().to_string();
        let storage = ["--root", &at("store"), "--runroot", &at("run"), "--storage-driver", "vfs"];
        // The default OCI runtime, then others: they differ in the control groups that they support.
        let mut said = String::new();
        for runtime in [&[][..], &["--runtime", "crun"], &["--runtime", "runc"]] {
            let podman = [&["podman"], &storage[..], runtime].concat();
            let container = Self { podman: podman.into_iter().map(str::to_owned).collect() };
            container.try_podman(&["import", &at("tree.tar"), "tools"])?;
            let run = ["run", "--detach", "--name", "web", "--network=none"];
            // No more than a process here may have: not every user may raise a limit.
            let limits = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"];
            let ran = container.try_podman(&[&run[..], &limits, &["tools", "sleep", "100000"]].concat());
            match ran.and_then(|_| container.try_podman(&["exec", "web", "true"])) {
                Ok(_) => return Ok(container),
                Err(error) => said = error,
            }
        }
        Err(said)
    }

    fn try_podman(&self, words: &[&str]) -> Result<Output, String> {
        let (program, folders) = self.podman.split_first().expect("words");
        let ran = Command::new(program).args(folders).args(words).output();
        let output = ran.map_err(|error| format!("podman cannot be run: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if output.status.success() { Ok(output) } else { Err(said) }
    }

    #[track_caller]
    fn podman(&self, words: &[&str]) {
        if let Err(said) = self.try_podman(words) {
            panic!("podman {words:?}: {said}");
        }
    }

    fn via(&self) -> Vec<String> {
        [&self.podman[..], &["exec", "-i", "web"].map(str::to_owned)].concat()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.try_podman(&["rm", "--force", "--time", "0", "web"]);
        let _ = self.try_podman(&["rmi", "--force", "--all"]);
    }
}

/// Writes an image that contains busybox under each of its names.
fn image(folder: &Path) {
    let tree = folder.join("tree");
    for name in ["bin", "dev", "etc", "proc", "root", "srv", "sys", "tmp"] {
        fs::create_dir_all(tree.join(name)).expect("a folder");
    }
    fs::copy(BUSYBOX, tree.join("bin/busybox")).expect("copied");
    fs::write(tree.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n").expect("written");
    let names = Command::new(BUSYBOX).arg("--list").output().expect("busybox runs").stdout;
    for name in String::from_utf8_lossy(&names).lines().filter(|name| *name != "busybox") {
        std::os::unix::fs::symlink("busybox", tree.join("bin").join(name)).expect("a link");
    }
    let tar =
        Command::new("tar").arg("-C").arg(tree).arg("-cf").arg(folder.join("tree.tar")).arg(".").status();
    assert!(tar.expect("tar runs").success());
}

fn answer(home: &Home, args: &[&str]) -> Value {
    let output = home.run(&[args, &["--output", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
#[ignore = "needs podman and a program that needs no library; .ci/long runs it"]
fn long_a_container_is_attached_stopped_and_started_again() {
    let Some(program) = std::env::var_os("PILOTHOUSE_STATIC").map(PathBuf::from) else {
        return skip("PILOTHOUSE_STATIC names no program that needs no library");
    };
    if !Path::new(BUSYBOX).exists() {
        return skip("there is no /bin/busybox to make an image of (busybox-static)");
    }
    let home = Home::new();
    let folder = home.workspace().join("../container");
    fs::create_dir(&folder).expect("a folder");
    let folder = folder.canonicalize().expect("a path");
    image(&folder);
    let container = match Container::start(&folder) {
        Ok(container) => container,
        Err(said) => return skip(&format!("podman starts no container here: {said}")),
    };
    home.configure("config.toml", &format!("[hosts.web]\nvia = {}\n", json!(container.via())));

    let missing = answer(&home, &["relay", "list", "--host", "web"]);
    assert!(missing["error"]["message"].to_string().contains("pilothouse is not there"), "{missing}");
    container.podman(&["cp", &program.display().to_string(), "web:/bin/pilothouse"]);

    let agent = Agent::connect(&home, &["--host", "web:/srv"]);
    let ran = agent.call("ExecCommand", &json!({"cmd": "pwd; cat /proc/1/comm"}));
    assert!(ran.receipt.contains("/srv\nsleep"), "{}", ran.receipt);
    let task = agent.task("while read -r line; do echo \"there <$line>\"; done");
    let console = Console::open(&home, &["fleet", "web"], (120, 40));
    console.shows(" web:srv  2 tasks");
    console.keys(b"\r");
    console.shows(" INPUT web:srv/t02");
    console.keys(b"hello\r");
    console.shows("there <hello>");
    console.keys(b"\x1d");
    console.shows(" OBSERVE ");
    console.keys(b"1");

    container.podman(&["stop", "--time", "0", "web"]);
    console.shows(" web:srv  lost");
    console.shows("only create exec sessions on running containers");
    container.podman(&["start", "web"]);
    console.shows("web:srv: its runtime has ended");
    let status = agent.call("TaskStatus", &json!({"task_id": task}));
    assert!(status.receipt.contains("interrupted"), "{}", status.receipt);
    assert_eq!(
        answer(&home, &["relay", "list", "--host", "web"])["data"]["runtimes"][0]["workspace"],
        "/srv"
    );
}
