//! What different shells do with what is put around a command. A shell that is not installed is left out, and named.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use pilothouse::model::{Exit, Signal};
use pilothouse::process::ShellProfile;
use pilothouse::process::script::{self, LoginPlace, WrappedCommand};
use pilothouse::process::shell_kind::ShellKind;

use super::{Bench, Outcome, PIPES};
use crate::support::{skip, write_program};

const POSIX: [&str; 9] = ["bash", "dash", "busybox", "zsh", "yash", "mksh", "lksh", "ksh93", "posh"];

/// Returns those of the shells that are installed; busybox under the name `sh`.
fn installed(bench: &Bench, names: &[&str]) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").expect("PATH");
    let find = |name: &str| {
        let file = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
        let Some(file) = file else {
            skip(&format!("{name} is not installed"));
            return None;
        };
        if name != "busybox" {
            return Some(file);
        }
        let link = bench.path().join("sh");
        let _ = std::fs::remove_file(&link);
        symlink(file, &link).expect("links");
        Some(link)
    };
    names.iter().filter_map(|name| find(name)).collect()
}

impl Bench {
    /// Runs a wrapped command in a shell.
    async fn run_wrapped(
        &self,
        shell: &Path,
        profile: ShellProfile,
        wrapped: WrappedCommand,
        env: &[(&str, OsString)],
    ) -> Outcome {
        let mut command = self.command("", PIPES);
        command.env.extend(wrapped.variable());
        command.env.extend(env.iter().map(|(name, value)| ((*name).into(), value.clone())));
        (command.cmd, command.text) = (wrapped.cmd, wrapped.text);
        (command.shell, command.profile) = (shell.into(), profile);
        self.finish(command).await
    }
}

#[tokio::test]
async fn a_login_profile_decides_neither_where_a_command_runs_nor_how() {
    let bench = Bench::new();
    let [venv, sub, folder, elsewhere] = ["it's a venv", "sub dir", "task", "elsewhere"].map(|name| {
        std::fs::create_dir(bench.path().join(name)).expect("a folder");
        bench.path().join(name)
    });
    write_program(&venv.join("tool"), "#!/bin/sh\necho mine\n");
    let redirected = elsewhere.join("log");
    let profile = format!(
        "PATH=/usr/bin:/bin; export FROM_PROFILE=yes; cd '{}'; umask 077; set -e; set -u; trap 'echo trapped' EXIT; exec >'{}' 2>&1",
        elsewhere.display(),
        redirected.display()
    );
    for file in [".profile", ".bash_profile", ".zprofile", ".yash_profile"] {
        std::fs::write(bench.path().join(file), format!("{profile}\n")).expect("writes");
    }
    let home = bench.path();
    let elsewhere = elsewhere.display();
    std::fs::create_dir(home.join("fish")).expect("a folder");
    let fish = format!("set -gx PATH /usr/bin /bin; set -gx FROM_PROFILE yes; cd '{elsewhere}'; umask 077\n");
    std::fs::write(home.join("fish/config.fish"), fish).expect("writes");
    let rc = format!("path=(/usr/bin /bin); FROM_PROFILE=yes; cd '{elsewhere}'; umask 077\n");
    std::fs::write(home.join(".rcrc"), rc).expect("writes");
    let path = OsString::from(format!("{}:/usr/bin:/bin", venv.display()));
    let more = [("ZDOTDIR", home.clone().into()), ("XDG_CONFIG_HOME", home.into())];
    let names: Vec<&str> = POSIX.into_iter().chain(["fish", "rc"]).collect();
    for shell in installed(&bench, &names) {
        let _ = std::fs::remove_file(folder.join("begun"));
        let cmd = "tool; echo $FROM_PROFILE; pwd; umask; false; nosuch; echo end".to_owned();
        let place =
            LoginPlace { folder: &folder, workdir: &sub, path: Some(path.as_os_str()), umask: Some(0o027) };
        let wrapped = script::login_command(ShellKind::of(&shell, None), cmd, &place);
        let outcome = bench.run_wrapped(&shell, ShellProfile::Login, wrapped, &more).await;
        let lines: Vec<&str> = outcome.stdout.lines().collect();
        let sub = sub.display().to_string();
        assert_eq!(
            (&lines[..3], lines.get(4)),
            (&["mine", "yes", &*sub][..], Some(&"end")),
            "{shell:?}: {outcome:?}"
        );
        assert_eq!(lines[3].trim_start_matches('0'), "27", "{shell:?}");
        assert!(outcome.stderr.contains("nosuch") && outcome.exit == Exit::Code(0), "{shell:?}: {outcome:?}");
        assert!(script::has_begun(&folder), "{shell:?}");
    }
    let bash = installed(&bench, &["bash"]);
    let long = format!("pwd; : {}", "x".repeat(200_000));
    for shell in bash {
        let place = LoginPlace { folder: &folder, workdir: &sub, path: Some(path.as_os_str()), umask: None };
        let wrapped = script::login_command(ShellKind::of(&shell, None), long.clone(), &place);
        let outcome = bench.run_wrapped(&shell, ShellProfile::Login, wrapped, &more).await;
        assert_eq!(outcome.stdout, format!("{}\n", sub.display()), "a command longer than an argument");
    }
    for other in ["tcsh", "elvish", "rbash", "nologin"] {
        assert!(ShellKind::of(Path::new(other), None).login_obstacle().is_some(), "{other}");
    }
}

#[tokio::test]
async fn what_reports_the_directory_of_a_step_shows_in_no_output_and_changes_no_exit() {
    let bench = Bench::new();
    let folder = bench.path().join("task");
    std::fs::create_dir(&folder).expect("a folder");
    let cases = [
        ("set -x; cd /usr; echo one; (exit 3)", Some("/usr")),
        ("cd /usr; echo )", None),
        ("cd /usr\nnosuch; cat <<END\ntext\nEND", Some("/usr")),
        ("cd /usr; sh -c 'kill -TERM $$'", Some("/usr")),
        ("trap 'echo bye' EXIT; cd /usr; false", Some("/usr")),
        ("cd /usr; kill -TERM $$; sleep 100", None),
        ("# only a comment", None),
    ];
    for shell in installed(&bench, &POSIX) {
        let kind = ShellKind::of(&shell, None);
        for (cmd, ends_in) in cases {
            let _ = std::fs::remove_file(folder.join("cwd"));
            let plain = WrappedCommand::bare(format!("{cmd}\n"));
            let plain = bench.run_wrapped(&shell, ShellProfile::Nothing, plain, &[]).await;
            let wrapped = script::step_command(&folder, kind, cmd);
            let wrapped = bench.run_wrapped(&shell, ShellProfile::Nothing, wrapped, &[]).await;
            assert_eq!(wrapped.stdout, plain.stdout, "{shell:?}: {cmd}");
            // A shell with a trap does not become its last command, and so says that a signal ended that.
            let is_killed = cmd.contains("kill -TERM");
            assert!(is_killed || wrapped.stderr == plain.stderr, "{shell:?}: {cmd}: {wrapped:?} {plain:?}");
            if is_killed {
                assert!(
                    [Exit::Code(143), Exit::Signal(Signal::TERM)].contains(&wrapped.exit),
                    "{shell:?}: {wrapped:?}"
                );
            } else {
                assert_eq!(wrapped.exit, plain.exit, "{shell:?}: {cmd}");
            }
            let reported = script::final_directory(&folder);
            let is_known = ends_in.is_some() && kind != ShellKind::Posix;
            let may_be_known = reported.as_deref() == ends_in.map(Path::new);
            assert!(may_be_known || !is_known, "{shell:?}: {cmd}: {reported:?}");
        }
    }
}
