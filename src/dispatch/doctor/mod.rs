//! `doctor`: checks what the console, the runtime and the agents need from this machine, and says how to get what is
//! missing. It changes nothing; with a flag it starts agents.

mod agents;
mod finding;
mod folders;
mod lanes;
mod routing;
mod system;
mod terminal;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::finding::{DoctorFinding, FindingState};
use super::command::{Danger, Example, LocalCommand};
use super::context::CommandContext;
use super::response::Failure;

pub(super) struct Doctor;

/// The scope of the checks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DoctorInput {
    /// Start each connected agent's server as that agent does, and report the runtime it reaches, the variables of its
    /// commands, and the cuts, deferrals and prompts of the agent. Then start each agent with a scripted model, and
    /// report the destination of a command of its own shell.
    #[serde(default)]
    agents: bool,
}

/// The findings.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DoctorOutput {
    /// Number of findings that need attention.
    problems: usize,
    /// All findings, always in this order.
    findings: Vec<DoctorFinding>,
}

impl DoctorOutput {
    fn of(findings: Vec<DoctorFinding>) -> Self {
        let problems = findings.iter().filter(|finding| finding.state == FindingState::Problem).count();
        Self { problems, findings }
    }
}

impl LocalCommand for Doctor {
    const PATH: &'static str = "doctor";
    const ABOUT: &'static str =
        "Check the terminal, the system, folders and agents, and report a fix for each problem";
    const EXAMPLES: &'static [Example] = &[
        Example { about: "Check everything", input: "{}" },
        Example { about: "Start each agent's server as that agent does", input: r#"{"agents":true}"# },
    ];
    // With a flag it starts agents.
    const DANGER: Danger = Danger::Mutating;

    type Input = DoctorInput;
    type Output = DoctorOutput;

    async fn run(cx: &mut CommandContext, input: DoctorInput) -> Result<DoctorOutput, Failure> {
        if input.agents {
            let mut findings = agents::probe(&*cx.host).await;
            findings.extend(routing::prove(&*cx.host).await);
            return Ok(DoctorOutput::of(findings));
        }
        let mut findings = terminal::findings(&terminal::TerminalFacts::gather(&*cx.host).await);
        findings.extend(system::findings(&system::SystemFacts::gather(&*cx.host)));
        if let Ok(places) = cx.host.places() {
            findings.extend(lanes::look(&places).await);
        }
        findings.extend(folders::look(&*cx.host).await);
        findings.extend(agents::findings(&agents::installed_agents(&*cx.host)));
        Ok(DoctorOutput::of(findings))
    }

    async fn dry_run(_: &mut CommandContext, input: DoctorInput) -> Result<Value, Failure> {
        let effect = if input.agents { "would_start" } else { "would_check" };
        Ok(json!({ "effect": effect, "agents": input.agents }))
    }

    fn text(output: &DoctorOutput) -> String {
        let mut lines = Vec::new();
        let mut area = None;
        for finding in &output.findings {
            if area.replace(finding.area) != Some(finding.area) {
                lines.push(format!("{}{:?}", if lines.is_empty() { "" } else { "\n" }, finding.area));
            }
            let mark = match finding.state {
                FindingState::Ok => "ok     ",
                FindingState::Note => "note   ",
                FindingState::Problem => "PROBLEM",
            };
            lines.push(format!("  {mark}  {:<18} {}", finding.check, finding.found));
            lines.extend(finding.fix.iter().map(|fix| format!("{:<30} fix: {fix}", "")));
        }
        let sum = match output.problems {
            0 => "Nothing to fix.".to_owned(),
            1 => "One problem.".to_owned(),
            count => format!("{count} problems."),
        };
        lines.push(format!("\n{sum}"));
        lines.join("\n")
    }
}
