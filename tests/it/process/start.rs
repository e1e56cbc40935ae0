//! How a command starts: what it finds, and what is reported if it cannot start.

use std::os::fd::AsRawFd as _;
use std::path::Path;

use pilothouse::envelope::TaskId;
use pilothouse::model::{Exit, Signal};
use pilothouse::process::{ShellProfile, SpawnError, Spawner, StartStage};
use rustix::io::{Errno, FdFlags, fcntl_setfd};

use super::{Bench, PIPES, Task, pty};
use crate::support::{children, parent, program_word, state, wait_until, write_program};

#[tokio::test]
async fn streams_and_exit_code_come_back() {
    let outcome = Bench::new().run("echo out; echo err >&2; exit 3", PIPES).await;
    assert_eq!(outcome.exit, Exit::Code(3));
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("out\n", "err\n"));
    assert!(outcome.leftovers.is_empty() && outcome.survivors.is_empty());
}

#[tokio::test]
async fn a_host_without_a_command_waits_and_leaves_when_it_is_dropped() {
    let bench = Bench::new();
    let id = TaskId::random();
    let prepared = bench.spawner.prepare(Some(id.as_str())).await.expect("starts");
    let host = next_host_of(&id, None);
    assert_eq!(parent(host), std::process::id(), "a host is a child of the runtime, not of the fork server");
    // It writes its arguments after the mark by which it was found.
    let words = || std::fs::read_to_string(format!("/proc/{host}/cmdline")).expect("a host");
    wait_until("it names its task", || words() == format!("pilothouse\0__host\0{id}\0"));
    let order = bench.spawner.order(bench.command("echo $PPID > ran", PIPES)).await.expect("ordered");
    assert!(children(host).is_empty(), "nothing of a command that is not handed over");
    let running = bench.spawner.start(prepared, order).await.expect("starts");
    Task::of(running).outcome().await;
    let ran = std::fs::read_to_string(bench.path().join("ran")).expect("it has run");
    assert_eq!(ran.trim(), host.to_string());

    let unused = bench.spawner.prepare(Some(id.as_str())).await.expect("starts");
    let host = next_host_of(&id, Some(host));
    drop(unused);
    wait_until("it is gone", || matches!(state(host), None | Some('Z')));
}

/// Waits for a host of a task that is not `last`. What is found is kept: a list of children that is read while another
/// one ends may lack some of them.
#[track_caller]
fn next_host_of(id: &TaskId, last: Option<u32>) -> u32 {
    let mut found = None;
    wait_until("the host has its mark", || {
        found = host_of(id).filter(|host| Some(*host) != last);
        found.is_some()
    });
    found.expect("a host")
}

/// The host of a task, found the way a later runtime would find it.
fn host_of(id: &TaskId) -> Option<u32> {
    let mark = format!("PILOTHOUSE_TASK_ID={id}");
    children(std::process::id()).into_iter().find(|pid| {
        let environment = std::fs::read_to_string(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split('\0').any(|variable| variable == mark)
    })
}

#[tokio::test]
async fn a_fork_server_is_replaced_when_it_was_killed_and_leaves_with_its_runtime() {
    let bench = Bench::new();
    let (named, wrapper) = (bench.path().join("server"), bench.path().join("wrapper"));
    let text = format!("#!/bin/sh\necho $$ > {}\nexec {} \"$@\"\n", named.display(), program_word());
    write_program(&wrapper, &text);
    let bench = Bench { spawner: Spawner::with_program(wrapper), ..bench };
    let server = || std::fs::read_to_string(&named).expect("named").trim().parse::<u32>().expect("a pid");
    assert_eq!(bench.run("kill -TERM $(cat server); exit 4", PIPES).await.exit, Exit::Code(4));
    let first = server();
    assert_eq!(std::fs::read_to_string(format!("/proc/{first}/comm")).expect("there"), "pilothouse-fork\n");
    assert_eq!(bench.run("kill -KILL $(cat server); exit 5", PIPES).await.exit, Exit::Code(5));
    assert_eq!(bench.run("kill -KILL $(cat server)", PIPES).await.exit, Exit::Code(0));
    assert_ne!(server(), first);
    bench.run("true", PIPES).await;
    bench.spawner.drain().await;
    assert_eq!(state(server()), None);
}

#[tokio::test]
async fn the_signal_that_ended_a_command_is_known() {
    let bench = Bench::new();
    assert_eq!(bench.run("kill -KILL $$", PIPES).await.exit, Exit::Signal(Signal::KILL));
    assert_eq!(bench.run("kill -TERM $$", pty()).await.exit, Exit::Signal(Signal::TERM));
    assert_eq!(bench.run("kill -34 $$", PIPES).await.exit, Exit::Signal("SIG34".parse().expect("signal")));
}

#[tokio::test]
async fn codes_126_and_127_of_a_command_are_ordinary_exits() {
    let bench = Bench::new();
    assert_eq!(bench.run("/no/such/program", PIPES).await.exit, Exit::Code(127));
    assert_eq!(bench.run("/", PIPES).await.exit, Exit::Code(126));
}

#[tokio::test]
async fn f15_f43_a_shell_that_cannot_be_executed_is_named_with_the_reason() {
    let bench = Bench::new();
    let at = |name: &str| bench.path().join(name);
    write_program(&at("no-interpreter"), "#!/no/such/interpreter\n");
    std::fs::write(at("no-permission"), "#!/bin/sh\n").expect("writes");
    write_program(&at("no-format"), "echo this is no program\n");
    let cases = [
        (at("missing"), Errno::NOENT),
        (at("no-interpreter"), Errno::NOENT),
        (at("no-permission"), Errno::ACCESS),
        (at("no-format"), Errno::NOEXEC),
        (at("no-format/below"), Errno::NOTDIR),
        (bench.path(), Errno::ACCESS),
        ("no-such-name".into(), Errno::NOENT),
    ];
    for (shell, errno) in cases {
        for stdio in [PIPES, pty()] {
            let mut command = bench.command("true", stdio);
            command.shell.clone_from(&shell);
            // Names are searched only in world-readable folders: another one would change which error is reported.
            command.env.retain(|(name, _)| name != "PATH");
            command.env.push(("PATH".into(), "/usr/bin:/bin".into()));
            let refusal = bench.refusal(command).await;
            assert_eq!(refusal, (StartStage::Exec, shell.clone(), Some(errno.raw_os_error())));
        }
    }
}

#[tokio::test]
async fn f15_an_environment_that_is_too_large_is_said() {
    let bench = Bench::new();
    let mut command = bench.command("true", PIPES);
    command.env.push(("LARGE".into(), "x".repeat(200_000).into()));
    let refusal = bench.refusal(command).await;
    assert_eq!(refusal, (StartStage::Exec, "/bin/sh".into(), Some(Errno::TOOBIG.raw_os_error())));
}

#[tokio::test]
async fn a_command_may_begin_as_an_option_does() {
    let bench = Bench::new();
    let shells = ["/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh", "/bin/mksh"];
    for shell in shells.map(Path::new).into_iter().filter(|shell| shell.exists()) {
        for profile in [ShellProfile::Login, ShellProfile::Usual, ShellProfile::Nothing] {
            for word in ["-x", "+x", "--", "--help", "-c"] {
                let cmd = format!("{word} 2>&1; echo went on after $?");
                let mut command = bench.command(&cmd, PIPES);
                (command.shell, command.profile) = (shell.into(), profile);
                let outcome = bench.finish(command).await;
                let said =
                    format!("{} {profile:?} {word}: {}{}", shell.display(), outcome.stdout, outcome.stderr);
                assert_eq!(outcome.exit, Exit::Code(0), "{said}");
                assert!(
                    outcome.stdout.ends_with("went on after 127\n") && outcome.stdout.contains(word),
                    "{said}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_shell_may_be_a_name_in_the_commands_path() {
    let bench = Bench::new();
    let mut command = bench.command("echo $0 ${BASH_VERSION:+is bash}", PIPES);
    command.shell = "bash".into();
    assert_eq!(bench.finish(command).await.stdout, "bash is bash\n");
}

#[tokio::test]
async fn f16_a_workdir_deleted_before_the_start_is_an_error_and_never_another_place() {
    let bench = Bench::new();
    let gone = bench.path().join("gone");
    std::fs::create_dir(&gone).expect("dir");
    let mut command = bench.command("pwd", PIPES);
    command.workdir = pilothouse::process::workdir::resolve(&bench.path(), &gone, None).expect("workdir");
    std::fs::remove_dir(&gone).expect("remove");
    let (stage, _, errno) = bench.refusal(command).await;
    assert_eq!((stage, errno), (StartStage::Workdir, Some(Errno::NOENT.raw_os_error())));
}

#[tokio::test]
async fn f16_a_workdir_that_moves_is_followed_and_a_link_in_its_old_path_is_not() {
    let bench = Bench::new();
    let (meant, moved) = (bench.path().join("meant"), bench.path().join("moved"));
    std::fs::create_dir(&meant).expect("dir");
    let mut command = bench.command("pwd", PIPES);
    command.workdir = pilothouse::process::workdir::resolve(&bench.path(), &meant, None).expect("workdir");
    std::fs::rename(&meant, &moved).expect("rename");
    std::os::unix::fs::symlink("/", &meant).expect("link");
    assert_eq!(bench.finish(command).await.stdout, format!("{}\n", moved.display()));
}

#[tokio::test]
async fn a_nul_in_a_command_is_refused() {
    let bench = Bench::new();
    let (stage, _, errno) = bench.refusal(bench.command("echo a\0b", PIPES)).await;
    assert_eq!((stage, errno), (StartStage::Exec, Some(Errno::INVAL.raw_os_error())));
}

#[tokio::test]
async fn a_missing_program_is_an_error_of_the_host() {
    let bench = Bench { spawner: Spawner::with_program("/no/such/pilothouse".into()), ..Bench::new() };
    let error = bench.spawner.spawn(bench.command("true", pty())).await.expect_err("refused");
    assert!(
        matches!(error, SpawnError::Host { .. }) && error.to_string() == "start the task host",
        "{error}"
    );
    let silent = Spawner::with_program("/bin/true".into());
    let error = silent.spawn(bench.command("true", PIPES)).await.expect_err("refused");
    assert!(matches!(error, SpawnError::Host { .. }), "{error}");
}

#[tokio::test]
async fn a_command_inherits_three_streams_and_no_other_descriptor() {
    let leaked = std::fs::File::open("/dev/zero").expect("opens");
    fcntl_setfd(&leaked, FdFlags::empty()).expect("leaks");
    assert!(leaked.as_raw_fd() > 2);
    let bench = Bench::new();
    // `ls` itself opens the folder it lists.
    let outcome = bench.run("exec ls /proc/self/fd", PIPES).await;
    assert_eq!(outcome.stdout, "0\n1\n2\n3\n");
    let outcome = bench.run("exec ls /proc/self/fd", pty()).await;
    assert_eq!(outcome.stdout.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
}

#[tokio::test]
async fn a_command_starts_with_default_signals_and_leads_its_own_session() {
    let report = "cat /proc/self/status | grep -E '^Sig(Blk|Ign|Cgt)'; cut -d' ' -f1,5,6 /proc/$$/stat";
    let bench = Bench::new();
    let mut command = bench.command(&format!("{report}; echo $$"), PIPES);
    command.shell = "bash".into();
    let outcome = bench.finish(command).await;
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let [blocked, ignored, caught, ids, pid] = lines[..] else { panic!("{lines:?}") };
    for (line, name) in [(blocked, "SigBlk"), (ignored, "SigIgn"), (caught, "SigCgt")] {
        assert_eq!(line, format!("{name}:\t{:016x}", 0));
    }
    assert_eq!(ids, format!("{pid} {pid} {pid}"));
}

#[tokio::test]
async fn a_command_dumps_no_core_and_dies_before_the_console_when_memory_runs_out() {
    let outcome = Bench::new().run("ulimit -c; cat /proc/self/oom_score_adj", PIPES).await;
    assert_eq!(outcome.stdout, "0\n500\n");
}

#[tokio::test]
async fn a_command_gets_the_descriptor_limit_the_runtime_was_started_with() {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    pilothouse::process::raise_descriptor_limit().expect("raises");
    let outcome = Bench::new().run("ulimit -n", PIPES).await;
    assert_eq!(outcome.stdout.trim().parse().ok(), limit.current);
}

#[tokio::test]
async fn the_environment_is_exactly_what_was_given() {
    let bench = Bench::new();
    let mut command = bench.command("/usr/bin/env -0", PIPES);
    command.env.push(("PLAIN".into(), "a=b c\n".into()));
    let value = std::os::unix::ffi::OsStringExt::from_vec(vec![0xff, b'x']);
    command.env.push(("RAW".into(), value));
    let outcome = bench.finish(command).await;
    let path = std::env::var("PATH").expect("PATH");
    let mut variables: Vec<&str> = outcome.stdout.split_terminator('\0').collect();
    variables.retain(|variable| !variable.starts_with("PWD="));
    variables.sort_unstable();
    let home = format!("HOME={}", bench.path().display());
    assert_eq!(variables, [home.as_str(), format!("PATH={path}").as_str(), "PLAIN=a=b c\n", "RAW=\u{fffd}x"]);
}

#[tokio::test]
async fn new_files_get_the_mode_that_the_callers_umask_leaves() {
    let bench = Bench::new();
    for (umask, expected) in [(Some(0o077), "0077\n"), (Some(0o002), "0002\n")] {
        let mut command = bench.command("umask", PIPES);
        command.umask = umask;
        assert_eq!(bench.finish(command).await.stdout, expected);
    }
    let own = pilothouse::process::own_umask().expect("the kernel says");
    assert_eq!(bench.run("umask", PIPES).await.stdout, format!("{own:04o}\n"));
}

#[tokio::test]
async fn a_host_has_no_variables_of_the_process_that_started_it() {
    let bench = Bench::new();
    let task_id = pilothouse::envelope::TaskId::random();
    let mut command = bench.command("tr '\\0' '\\n' < /proc/$PPID/environ", PIPES);
    command.env.push(("PILOTHOUSE_TASK_ID".into(), task_id.as_str().into()));
    let outcome = bench.finish(command).await;
    let left: Vec<&str> = outcome.stdout.lines().filter(|line| !line.starts_with("LD_")).collect();
    assert_eq!(left, [format!("PILOTHOUSE_TASK_ID={task_id}")]);
}

#[tokio::test]
async fn twenty_commands_start_at_once() {
    let bench = Bench::new();
    let runs = (0..20).map(|number| {
        let stdio = if number % 2 == 0 { PIPES } else { pty() };
        let bench = &bench;
        async move { (number, bench.run(&format!("exit {number}"), stdio).await.exit) }
    });
    for (number, exit) in futures_util::future::join_all(runs).await {
        assert_eq!(exit, Exit::Code(number));
    }
}

mod long {
    //! Commands longer than the kernel's limit for one argument.

    use super::*;

    /// 300 KB of comments between the two lines.
    fn long(first: &str, last: &str) -> String {
        format!("{first}\n{}{last}", format!("# {}\n", "x".repeat(997)).repeat(300))
    }

    async fn run(shell: &str, login: bool, cmd: String) -> super::super::Outcome {
        let bench = Bench::new();
        let mut command = bench.command(&cmd, PIPES);
        command.shell = shell.into();
        command.profile = if login { ShellProfile::Login } else { ShellProfile::Usual };
        bench.finish(command).await
    }

    #[tokio::test]
    async fn a_long_command_runs_like_a_short_one() {
        for (shell, login) in
            [("/bin/sh", false), ("/bin/sh", true), ("/bin/bash", false), ("/bin/bash", true)]
        {
            let outcome = run(shell, login, long("echo $0 $#", "cat; echo end >&2; exit 7")).await;
            assert_eq!(outcome.exit, Exit::Code(7), "{shell}");
            assert_eq!(outcome.stdout, format!("{shell} 0\n"));
            assert_eq!(outcome.stderr, "end\n");
        }
    }

    #[tokio::test]
    async fn the_status_of_a_long_command_is_that_of_its_last_part() {
        for shell in ["/bin/sh", "/bin/bash"] {
            assert_eq!(run(shell, false, long("true", "false")).await.exit, Exit::Code(1));
            let signalled = run(shell, false, long("true", "kill -KILL $$")).await;
            assert_eq!(signalled.exit, Exit::Signal(Signal::KILL));
        }
    }

    #[tokio::test]
    async fn a_long_command_leaves_no_descriptor_behind() {
        for shell in ["/bin/sh", "/bin/bash"] {
            let outcome = run(shell, false, long("ls /proc/self/fd", "ls /proc/self/fd")).await;
            assert_eq!(outcome.stdout, "0\n1\n2\n3\n0\n1\n2\n3\n", "{shell}");
        }
    }

    #[tokio::test]
    async fn commands_around_the_argument_limit_of_the_kernel_all_run() {
        for length in [(128 << 10) - 2, (128 << 10) - 1, 128 << 10, (128 << 10) + 1] {
            let head = "exit 9 #";
            let cmd = format!("{head}{}", "x".repeat(length - head.len()));
            assert_eq!(run("/bin/sh", false, cmd).await.exit, Exit::Code(9), "{length} bytes");
        }
    }
}
