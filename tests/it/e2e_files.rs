//! Files that a client, a workspace or a record names, and what may be in their place: nobody waits for them, nothing
//! outside is read or written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::json;

use crate::prose_cases::run_folder;
use crate::support::{Agent, Home, Tag, program_word, wait_until};

/// What a hostile workspace puts in a file's place.
const THINGS: [&str; 5] = ["fifo", "device", "link", "huge", "folder"];

fn put(thing: &str, path: &Path, outside: &Path) {
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir(path);
    match thing {
        "fifo" => {
            let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
            rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).expect("a FIFO");
        }
        "device" => symlink("/dev/zero", path).expect("a link"),
        "link" => symlink(outside, path).expect("a link"),
        "huge" => fs::File::create(path).and_then(|file| file.set_len(8 << 30)).expect("a sparse file"),
        _ => fs::create_dir(path).expect("a folder"),
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a command that must be refused, and which ends by itself.
#[track_caller]
fn refused(home: &Home, args: &[&str]) {
    let output = home.run(args);
    assert!(!output.status.success(), "{args:?}: {}", text(&output));
    assert!(!text(&output).contains("SECRET"), "{args:?}: {}", text(&output));
}

/// The most memory a process has used, in KiB.
fn peak_memory(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
}

/// Begins a run and leaves it interrupted; returns its id.
fn interrupted(home: &Home) -> String {
    fs::write(home.workspace().join("p.prose"), "exec \"true\"\nexec \"false\"\n").expect("written");
    let failed = home.run(&["run", "p.prose", "--plain"]);
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed));
    run_folder(home).file_name().expect("a name").display().to_string()
}

#[test]
fn f47_no_file_that_a_client_or_a_workspace_names_keeps_a_runtime_from_answering() {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    let outside = home.workspace().with_file_name("outside.toml");
    fs::write(&outside, "SECRET = 1\n").expect("written");
    let run = interrupted(&home);
    let answers = home.workspace().join("answers.toml");
    let folder = run_folder(&home);
    let program = program_word();
    for thing in THINGS {
        put(thing, &answers, &outside);
        // From inside a task, as any command can: the calls beside it are answered, and so is the task.
        let cmd = format!("{program} run --plain p.prose --answers answers.toml");
        let answer = agent.call("ExecCommand", &json!({"cmd": cmd, "yield_time_ms": 30_000}));
        assert_eq!(answer.result("/disposition"), "completed", "{thing}: {}", answer.envelope);
        assert_ne!(answer.result("/exit_status"), 0, "{thing}: {}", answer.envelope);
        assert!(!answer.envelope.to_string().contains("SECRET"), "{thing}: {}", answer.envelope);
        for name in ["state.md", "journal.jsonl", "program.prose"] {
            let (path, kept) = (folder.join(name), folder.join("kept"));
            fs::rename(&path, &kept).expect("moved");
            put(thing, &path, &outside);
            refused(&home, &["run", "--plain", "--resume", &run]);
            let _ = fs::remove_dir(&path);
            let _ = fs::remove_file(&path);
            fs::rename(&kept, &path).expect("moved back");
        }
        let lock = home.workspace().join("prose.lock");
        put(thing, &lock, &outside);
        refused(&home, &["run", "--plain", "p.prose"]);
        let _ = fs::remove_file(&lock);
        let _ = fs::remove_dir(&lock);
        let used = home.workspace().join("used.prose");
        put(thing, &used, &outside);
        fs::write(home.workspace().join("q.prose"), "use \"./used.prose\"\nexec \"true\"\n")
            .expect("written");
        refused(&home, &["run", "--plain", "q.prose"]);
    }
    assert!(peak_memory(home.runtime_pid()) < 300 << 10, "{} KiB", peak_memory(home.runtime_pid()));
    assert_eq!(fs::read_to_string(&outside).expect("there"), "SECRET = 1\n");
    let answer = agent.call("ExecCommand", &json!({"cmd": "echo well"}));
    assert_eq!(answer.result("/stdout_preview"), "well\n");
}

#[test]
fn f47_no_log_of_a_record_is_read_through_a_link_or_waited_for() {
    let home = Home::new();
    let agent = Agent::connect(&home, &[]);
    let outside = home.workspace().join("outside");
    fs::write(&outside, "SECRET\n").expect("written");
    let task = agent
        .call("ExecCommand", &json!({"cmd": "echo one; sleep 0.3; echo two >&2", "yield_time_ms": 0}))
        .task();
    agent.call("TaskOutput", &json!({"task_id": task, "wait_for": "completion", "timeout_ms": 30_000}));
    let recordings = home.places().recordings();
    let find = || {
        let all = fs::read_dir(&recordings).expect("listed").flatten();
        all.map(|entry| entry.path().join("tasks").join(&task)).find(|folder| folder.is_dir())
    };
    let folder = find().expect("the task's folder");
    for name in ["output.log", "output.marks"] {
        for thing in THINGS {
            // A huge log is read up to the longest that is written, which takes a debug build too long for this.
            if (name, thing) == ("output.log", "huge") {
                continue;
            }
            let forms: &[&str] = if thing == "huge" { &["text"] } else { &["text", "svg", "cast"] };
            let (path, kept) = (folder.join(name), folder.join("kept"));
            fs::rename(&path, &kept).expect("moved");
            put(thing, &path, &outside);
            for form in forms {
                let output = home.run(&["task", "export", &task, "--as", form]);
                assert!(!text(&output).contains("SECRET"), "{name} {thing} {form}: {}", text(&output));
                let is_read = thing == "huge";
                assert!(is_read || !output.status.success(), "{name} {thing} {form}: {}", text(&output));
            }
            let answer = agent.call("TaskOutput", &json!({"task_id": task}));
            assert!(!answer.envelope.to_string().contains("SECRET"), "{}", answer.envelope);
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir(&path);
            fs::rename(&kept, &path).expect("moved back");
        }
    }
    assert!(peak_memory(home.runtime_pid()) < 300 << 10, "{} KiB", peak_memory(home.runtime_pid()));
}

#[test]
fn f47_a_client_reads_only_regular_files_and_fifos_that_stream() {
    let home = Home::new();
    let outside = home.workspace().with_file_name("outside");
    fs::write(&outside, "SECRET\n").expect("written");
    for thing in THINGS {
        let path = home.workspace().join("file");
        put(thing, &path, &outside);
        refused(&home, &["receipt", "render", "file"]);
        refused(&home, &["prose", "check", "file"]);
        refused(&home, &["prose", "fmt", "file"]);
        refused(&home, &["task", "list", "--input", "@file"]);
        if ["device", "folder"].contains(&thing) {
            refused(&home, &["exec", "--input-file", "file"]);
        }
    }
    // A FIFO as the file of a stream gives its lines as they come, also when its writer comes late.
    let fifo = home.fifo("lines");
    let answers = home.workspace().join("answers");
    let to = fs::File::create(&answers).expect("a file");
    let mut stream: Child = home
        .command(&["exec", "--input-file", "lines"])
        .stdout(to)
        .stderr(Stdio::null())
        .spawn()
        .expect("starts");
    let mut writer = Command::new("sh")
        .arg("-c")
        .arg("exec 3> \"$1\"; echo '{\"_cmd\":\"version\"}' >&3; read -r go; echo '{\"_cmd\":\"version\"}' >&3")
        .arg("sh")
        .arg(&fifo)
        .stdin(Stdio::piped())
        .spawn()
        .expect("starts");
    let lines = || fs::read_to_string(&answers).unwrap_or_default().lines().count();
    wait_until("the first line is answered before the second is written", || lines() > 0);
    let before = lines();
    drop(writer.stdin.take());
    writer.wait().expect("ends");
    assert!(stream.wait().expect("ends").success());
    assert!(lines() > before);
}

#[test]
fn f46_nothing_is_written_through_links_that_a_workspace_has_planted() {
    let (home, tag) = (Home::new(), Tag::new());
    let outside = home.workspace().with_file_name("outside");
    fs::create_dir_all(&outside).expect("made");
    let untouched = || fs::read_dir(&outside).expect("listed").count() == 0;
    let program = home.workspace().join("p.prose");
    fs::write(&program, format!("exec \"echo {}\"\n", tag.0)).expect("written");
    for (link, to) in [(".prose", &outside), (".prose/runs", &outside)] {
        let link = home.workspace().join(link);
        fs::create_dir_all(link.parent().expect("a folder")).expect("made");
        symlink(to, &link).expect("a link");
        for way in [&["run", "p.prose", "--plain"][..], &["run", "p.prose", "--plain", "--private"]] {
            let output = home.run(way);
            assert!(!output.status.success(), "{}", text(&output));
            assert!(text(&output).contains("link"), "{}", text(&output));
        }
        assert!(untouched(), "{}", link.display());
        fs::remove_file(&link).expect("removed");
    }
    // A program that is to be formatted, with links at the names that its replacement might have.
    let victim = outside.with_file_name("victim");
    fs::write(&victim, "mine").expect("written");
    let own = std::process::id();
    for pid in own..own + 3_000 {
        symlink(&victim, home.workspace().join(format!(".p.prose.{pid}"))).expect("a link");
    }
    fs::write(&program, "exec    \"true\"\n").expect("written");
    let output = home.run(&["prose", "fmt", "p.prose"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(fs::read_to_string(&program).expect("there"), "exec \"true\"\n");
    assert_eq!(fs::read_to_string(&victim).expect("there"), "mine");
}

#[test]
fn f45_recordings_that_are_a_link_are_refused_with_the_reason() {
    let home = Home::new();
    let there = home.workspace().with_file_name("there");
    for number in 0..320 {
        fs::create_dir_all(there.join(format!("photos-{number:03}"))).expect("made");
    }
    // The program makes its own folders first.
    assert!(home.run(&["command", "run", "true", "--private"]).status.success());
    fs::rename(home.places().recordings(), home.workspace().with_file_name("before")).expect("moved");
    symlink(&there, home.places().recordings()).expect("a link");
    let output = home.run(&["command", "run", "true", "--private"]);
    assert!(!output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("link"), "{}", text(&output));
    assert_eq!(fs::read_dir(&there).expect("listed").count(), 320);
    fs::remove_file(home.places().recordings()).expect("removed");
    fs::rename(&there, home.places().recordings()).expect("moved");
    let output = home.run(&["command", "run", "true", "--private"]);
    assert!(output.status.success(), "{}", text(&output));
    let photos = fs::read_dir(home.places().recordings()).expect("listed").flatten();
    assert_eq!(
        photos.filter(|entry| entry.file_name().display().to_string().starts_with("photos-")).count(),
        320
    );
}
