//! `host install`: installs this version of the program on another machine. Asks first, verifies the checksum of what
//! has arrived, and replaces the program atomically.

mod elf;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::command::{Danger, Example, LocalCommand};
use super::context::CommandContext;
use super::response::Failure;
use super::{Code, link_failure};
use crate::files::{self, Links};
use crate::link::{RemoteHost, RemoteOutput};
use crate::process::SHELL_PROGRAM;
use elf::{Machine, ProgramHeader};

/// The version to install.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How long a login and a query may take, including the time a person needs to answer a prompt.
const LOOK: Duration = Duration::from_secs(120);
/// How long the transfer may take.
const COPY: Duration = Duration::from_secs(1_800);
/// The maximum size of a program file, in bytes.
const MOST_BYTES: u64 = 512 << 20;

/// The script that reports the system, and what is at the destination; `$1` is the version.
const SURVEY: &str = "uname -sm; p=\"$HOME/.local/share/pilothouse/$1/pilothouse\"; echo \"$p\"; \
    if [ -f \"$p\" ]; then sha256sum \"$p\" || shasum -a 256 \"$p\"; fi 2>/dev/null; true";
/// The script that installs a file from standard input; `$1` is the version, `$2` the expected checksum, `$3` its name.
const INSTALL: &str = "set -e; umask 077; d=\"$HOME/.local/share/pilothouse/$1\"; mkdir -p \"$d\"; t=\"$d/.pilothouse.$$\"; \
    trap \"rm -f '$t'\" EXIT; cat > \"$t\"; s=$(sha256sum \"$t\" 2>/dev/null || shasum -a 256 \"$t\"); \
    if [ \"${s%% *}\" != \"$2\" ]; then echo \"what has arrived is not what was sent\" >&2; exit 65; fi; \
    chmod 755 \"$t\"; mv -f \"$t\" \"$d/$3\"";

pub(super) struct HostInstall;

/// What to install, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HostInstallInput {
    /// A host of `~/.ssh/config`, or one in `[hosts]` of config.toml.
    name: String,
    /// A program for that machine. Default: this one, if it is statically linked and built for that kind of machine.
    from: Option<PathBuf>,
    /// Do not ask.
    #[serde(default)]
    yes: bool,
}

/// What was installed where.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HostInstallOutput {
    /// `installed`, or `noop` if the same one is already there.
    effect: &'static str,
    /// The host.
    host: String,
    /// The kind of machine it is.
    machine: String,
    /// The path there.
    path: String,
    /// The size of the program.
    bytes: usize,
    /// Its checksum.
    sha256: String,
    /// The version it reports there.
    answers: String,
}

impl LocalCommand for HostInstall {
    const PATH: &'static str = "host.install";
    const ABOUT: &'static str = "Install this version of pilothouse on another machine or in a container";
    const DANGER: Danger = Danger::Mutating;
    const EXITS: &'static [u8] = &[4, 12];
    const EXAMPLES: &'static [Example] = &[
        Example {
            about: "Install this program on another machine; asks before it writes",
            input: r#"{"name":"box"}"#,
        },
        Example {
            about: "Install one that was built for that machine",
            input: r#"{"name":"box","from":"target/dist/pilothouse-aarch64-linux/pilothouse","yes":true}"#,
        },
    ];

    type Input = HostInstallInput;
    type Output = HostInstallOutput;

    async fn run(cx: &mut CommandContext, input: HostInstallInput) -> Result<HostInstallOutput, Failure> {
        let InstallPlan { host, survey, small, bytes, sha256, is_there } = plan(cx, &input).await?;
        if !is_there {
            if !input.yes {
                let size = (small.len() + bytes.len()) as f64 / f64::from(1 << 20);
                let question = format!("Write {size:.1} MiB to {}:{}?", host.name, survey.path);
                agreed(cx, question).await?;
            }
            // The whole program last: where it is, everything is.
            let small_digest = files::digest(&small);
            let sent = [(SHELL_PROGRAM, &small, &small_digest), ("pilothouse", &bytes, &sha256)];
            for (name, bytes, digest) in sent.into_iter().filter(|(_, bytes, _)| !bytes.is_empty()) {
                let sent = host.run_script(INSTALL, &[VERSION, digest, name], bytes, COPY).await;
                was_put(&sent.map_err(|error| link_failure(&error))?, &host, &survey.path)?;
            }
        }
        let effect = if is_there { "noop" } else { "installed" };
        let (host, path) = (host.name.clone(), survey.path.clone());
        let answers = version(&cx.host.remote_host(&host)?.asking(), &path).await?;
        let machine = survey.system;
        Ok(HostInstallOutput { effect, host, machine, path, bytes: bytes.len(), sha256, answers })
    }

    async fn dry_run(cx: &mut CommandContext, input: HostInstallInput) -> Result<Value, Failure> {
        let InstallPlan { host, survey, bytes, is_there, .. } = plan(cx, &input).await?;
        let effect = if is_there { "would_change_nothing" } else { "would_install" };
        Ok(json!({
            "effect": effect, "host": host.name, "path": survey.path, "bytes": bytes.len(), "version": VERSION,
            "asks": !is_there && !input.yes,
        }))
    }

    fn text(output: &HostInstallOutput) -> String {
        let HostInstallOutput { effect, host, path, answers, .. } = output;
        let what = if *effect == "noop" { "is already installed" } else { "installed" };
        format!("{host}:{path} {what}. It runs there: pilothouse {answers}.")
    }
}

/// What would be installed where.
struct InstallPlan {
    host: RemoteHost,
    survey: HostSurvey,
    /// The program for agents' shells; empty if there is none beside the whole one.
    small: Vec<u8>,
    /// The program.
    bytes: Vec<u8>,
    sha256: String,
    /// Whether the same program is already there.
    is_there: bool,
}

/// Looks at the host, and reads the program for it. Changes nothing.
async fn plan(cx: &CommandContext, input: &HostInstallInput) -> Result<InstallPlan, Failure> {
    let host = cx.host.remote_host(&input.name)?.asking();
    let survey = survey(&host).await?;
    let machine = machine(&survey.system, &host)?;
    let own = cx.host.program().unwrap_or_default();
    let bytes = program(input.from.as_deref(), &own, machine).await?;
    let beside = input.from.as_ref().unwrap_or(&own).with_file_name(SHELL_PROGRAM);
    let small = if beside.is_file() { program(Some(&beside), &own, machine).await? } else { Vec::new() };
    let sha256 = files::digest(&bytes);
    let is_there = survey.sha256.as_deref() == Some(&sha256);
    Ok(InstallPlan { host, survey, small, bytes, sha256, is_there })
}

/// The remote system, and what is at the destination.
struct HostSurvey {
    system: String,
    path: String,
    sha256: Option<String>,
}

async fn survey(host: &RemoteHost) -> Result<HostSurvey, Failure> {
    let output =
        host.run_script(SURVEY, &[VERSION], &[], LOOK).await.map_err(|error| link_failure(&error))?;
    if output.code != Some(0) || output.stdout.trim_ascii().is_empty() {
        return Err(link_failure(&output.error(host)));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The login may have printed a greeting first.
    let mut lines =
        text.lines().skip_while(|line| !line.starts_with("Linux ") && !line.starts_with("Darwin "));
    let system = lines.next().unwrap_or_else(|| text.lines().next().unwrap_or("unknown")).to_owned();
    let path = lines.next().unwrap_or("~/.local/share/pilothouse").to_owned();
    let sha256 = lines.next().and_then(|line| line.split(' ').next()).map(str::to_owned);
    Ok(HostSurvey { system, path, sha256 })
}

fn done(output: &RemoteOutput, host: &RemoteHost) -> Result<(), Failure> {
    if output.code == Some(0) { Ok(()) } else { Err(link_failure(&output.error(host))) }
}

/// Evaluates how the installation script ended: what it printed is the reason it failed.
fn was_put(output: &RemoteOutput, host: &RemoteHost, path: &str) -> Result<(), Failure> {
    match output {
        RemoteOutput { code: Some(1..=124), said, .. } if !said.is_empty() => {
            let text = format!("It could not be installed as {}:{path}: {said}.", host.name);
            Err(Failure::new(Code::Unavailable, text))
        }
        output => done(output, host),
    }
}

fn machine(system: &str, host: &RemoteHost) -> Result<Machine, Failure> {
    Machine::of(system).ok_or_else(|| {
        let text = format!("{} is {system}; pilothouse runs on Linux on x86_64 and aarch64.", host.name);
        Failure::new(Code::Precondition, text)
    })
}

/// Reads the program for a machine: the given file, or else this program.
async fn program(from: Option<&Path>, own: &Path, machine: Machine) -> Result<Vec<u8>, Failure> {
    let path = from.unwrap_or(own).to_owned();
    let unreadable = |why: String| {
        Failure::new(Code::InputFileUnreadable, format!("{} cannot be read.", path.display())).detail(why)
    };
    let named = path.clone();
    let read = tokio::task::spawn_blocking(move || files::read(&named, Links::Followed, MOST_BYTES)).await;
    let bytes = read.map_err(io::Error::other).flatten().map_err(|error| unreadable(error.to_string()))?;
    let build = format!("`.ci/release {}`, then `--from` with the program that it names", machine.target());
    match ProgramHeader::of(&bytes) {
        None => Err(Failure::new(Code::Precondition, format!("{} is not a Linux program.", path.display()))),
        Some(program) if program.machine != Some(machine) => {
            let text = format!("{} is not built for {}.", path.display(), machine.name());
            Err(Failure::new(Code::Precondition, text).fix(build))
        }
        Some(program) if !program.is_static && from.is_none() => {
            let text =
                "This program is not statically linked, and needs libraries that may be missing there.";
            Err(Failure::new(Code::Precondition, text).fix(build))
        }
        Some(_) => Ok(bytes),
    }
}

/// Asks the person for confirmation.
async fn agreed(cx: &CommandContext, question: String) -> Result<(), Failure> {
    let outside = cx.host.clone();
    let asked = tokio::task::spawn_blocking({
        let question = question.clone();
        move || outside.confirm(&question)
    });
    match asked.await.ok().flatten() {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::new(Code::Precondition, "Nothing was written.")),
        None => Err(Failure::new(Code::Precondition, "There is no terminal to ask at; nothing was written.")
            .detail(question)
            .fix("add --yes")),
    }
}

/// Asks the installed program for its version.
async fn version(host: &RemoteHost, path: &str) -> Result<String, Failure> {
    let asked = host.run_script("exec \"$1\" version --output jsonl", &[path], &[], LOOK).await;
    let output = asked.map_err(|error| link_failure(&error))?;
    reported(&output).ok_or_else(|| {
        let text = match output.code {
            Some(126) => "is there, but cannot be executed: is the file system there mounted noexec?",
            _ => "is there, but does not run: is it built for that machine, and statically linked?",
        };
        Failure::new(Code::Unavailable, format!("{}:{path} {text}", host.name))
            .detail(output.said.clone())
            .fix(format!("put one where it runs, and name it: `program` in [hosts.{}]", host.name))
    })
}

/// Returns the version in an answer.
fn reported(output: &RemoteOutput) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer: Value = text.lines().rev().find_map(|line| serde_json::from_str(line).ok())?;
    answer["data"]["version"].as_str().map(str::to_owned)
}
