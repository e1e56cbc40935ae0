//! The commands of the tools, in the workspace's runtime.

use crate::support::Home;

fn said(output: &std::process::Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_command_runs_without_a_runtime_and_its_exit_code_tells_the_end() {
    let home = Home::new();
    let plain = ["command", "run", "true", "--output", "plain"];
    assert_eq!(said(&home.run(&plain)), (Some(0), "Process exited with code 0\n".to_owned()));
    assert_eq!(said(&home.run(&["command", "run", "exit 3"])).0, Some(79));
    assert_eq!(said(&home.run(&["task", "status", "task_00000000"])).0, Some(5));
}

#[test]
fn commands_share_the_runtime_of_the_workspace() {
    let home = Home::new();
    let mut served = home.serve();
    home.run(&["command", "run", "sleep 60", "--yield-time-ms", "0"]);
    let (code, list) = said(&home.run(&["task", "list"]));
    assert_eq!(code, Some(0));
    assert!(list.contains("\"total\":1"), "{list}");
    // A second runtime is refused as long as the first one lives.
    assert_eq!(home.run(&["serve"]).status.code(), Some(6));
    assert_eq!(said(&home.run(&["serve", "--stop", "--output", "plain"])), (Some(0), "stopped\n".to_owned()));
    served.wait().expect("ends");
    assert_eq!(
        said(&home.run(&["serve", "--stop", "--output", "plain"])).1,
        "no runtime serves this workspace\n"
    );
}

#[test]
fn a_headless_runtime_ends_by_itself_when_nobody_needs_it() {
    let home = Home::new();
    let served = home.command(&["serve", "--idle-seconds", "0"]).output().expect("runs");
    assert!(served.status.success());
    assert!(!home.places().agent_socket().exists());
}

#[test]
fn every_agents_snippet_is_printed() {
    let home = Home::new();
    for agent in pilothouse::dispatch::AGENTS {
        let (code, text) = said(&home.run(&["mcp", "config", agent.as_str()]));
        assert!(code == Some(0) && text.contains("pilothouse"), "{agent:?}: {text}");
    }
    assert_eq!(home.run(&["mcp", "config", "emacs"]).status.code(), Some(2));
}
