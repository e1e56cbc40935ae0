//! The role `hook`: what an agent's program reports of its sessions. A prompt of its own becomes a question for the
//! person, as those of programs; the first answer wins, here or there.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::sessions::{AgentClaim, AgentSessions, has_ended};
use crate::agents::{
    AgentHook, AgentProgram, HookEvent, HookReport, PromptAnswering, PromptVerdict, ToolUse, UsedTool,
};
use crate::envelope::Actor;
use crate::link::{self, AnsweredPrompt, Client, Hello, HookLine, HookReply};
use crate::model::calls::SHELL_CALL;
use crate::model::phrases::operator_words;
use crate::model::{
    AgentActivity, AgentPrompt, AgentWork, AlikeAnswers, AnswerValue, AnsweredPrompts, AnsweredWhich,
    CallCost, CallRuling, Evidence, HOOK_PROFILE, NewQuestion, QuestionKind, QuestionOrigin, QuestionOutcome,
    UnrecordedCommand,
};
use crate::process::environment::Environment;
use crate::runtime::Handle;

/// Prompts of agents that may be open at once; the agents alone ask about further ones.
const MOST_PROMPTS: usize = 256;

/// How long a command of an agent's shell may take to come here after its hook has reported it.
const ROUTING: Duration = Duration::from_secs(1);

/// How much earlier than its limit a hook may end because of it.
const MARGIN: Duration = Duration::from_secs(5);

/// Serves one report. A prompt waits here until it is answered, here or in the agent, until no console is open, or until
/// the hook ends. Only a person's answer is sent to the hook.
///
/// # Errors
/// When the hook breaks the protocol.
pub async fn serve(client: Client, runtime: Handle, sessions: AgentSessions) -> Result<(), link::Error> {
    // An agent that a managed command starts is a part of that command.
    if client.task.as_ref().is_some_and(|task| !task.is_agent) {
        return Ok(());
    }
    let (line, report, at) = HookLine::receive(client).await?;
    let Some(label) = label(line.client(), &runtime, &sessions, &report) else { return Ok(()) };
    let begins = matches!(report.event, HookEvent::TurnBegan) && report.subagent.is_none();
    if begins {
        sessions.turn_begins(&label);
    }
    runtime.agent_turns(&label, report.mode.as_deref(), begins);
    runtime.agent_works(&label, |work| activity_after(&report, at, work));
    if let HookEvent::Prompt(call) = &report.event {
        serve_prompt(runtime, &sessions, label, (&report, call), line).await;
        return Ok(());
    }
    if let Some(which) = answered_prompts(&report) {
        let answered = AnsweredPrompts { agent: label.clone(), session: report.session.clone(), which, at };
        runtime.answered_in_agent(answered).await;
    }
    let hook = hook_of(line.client());
    let takes_words = hook.is_some_and(|hook| (hook.takes_words)(&report));
    let is_given =
        matches!(report.event, HookEvent::CallsEnded(_)) || hook.is_some_and(|hook| !hook.reports_batches);
    for used in report.used_tools() {
        let ruling = ruling(&sessions, &label, &report, used);
        let session = Some(report.session.clone()).filter(|_| report.subagent.is_none());
        let is_ours = runtime.told_of_command(&label, session.clone(), (used, ruling), is_given).await;
        if let HookEvent::Used(_) = report.event
            && !is_ours
            && used.has_run()
        {
            tokio::spawn(find_unrouted(
                runtime.clone(),
                label.clone(),
                session,
                used.clone(),
                line.client().hello.cwd.clone(),
            ));
        }
    }
    if takes_words || matches!(report.event, HookEvent::TurnBegan | HookEvent::TurnEnded) {
        runtime.give_up_reading(&label);
    }
    if let HookEvent::Refused(refused) = &report.event {
        let mode = report.mode.as_deref().unwrap_or_default();
        let (tool, input) = recorded_call(&report, &refused.call, shell_tool(line.client()));
        runtime.refused_by_agent(&label, (tool, &input), mode, &refused.reason).await;
    }
    if takes_words {
        hand_over_words(&runtime, &label, line).await;
    }
    Ok(())
}

/// Waits until a command of an agent would have come here, as its hook may be faster, and records that it did not.
async fn find_unrouted(
    runtime: Handle,
    label: String,
    session: Option<String>,
    used: UsedTool,
    workdir: PathBuf,
) {
    tokio::time::sleep(ROUTING).await;
    if runtime.told_of_command(&label, session.clone(), (&used, None), false).await {
        return;
    }
    let mark = UnrecordedCommand {
        at: runtime.clock().now().wall,
        agent: Some(label.clone()),
        session,
        workdir: workdir.to_string_lossy().into_owned(),
        cmd: used.call.input["command"].as_str().unwrap_or_default().to_owned(),
        why: "its hook reports it, and no task ran it".to_owned(),
        caller: Some("another shell".to_owned()),
    };
    runtime.ran_unrouted(&label, mark);
}

/// Asks the person about a prompt, or shows it to them, if a console is open.
async fn serve_prompt(
    runtime: Handle,
    sessions: &AgentSessions,
    label: String,
    (report, call): (&HookReport, &ToolUse),
    mut line: HookLine,
) {
    let hash = report.hash(call);
    sessions.note_ruling(&label, &hash, CallRuling::InAgent);
    let is_full = runtime.questions().iter().filter(|open| !open.is_of_program()).count() >= MOST_PROMPTS;
    if !runtime.is_watched() || is_full {
        return;
    }
    let answering = hook_of(line.client()).and_then(|hook| hook.answering);
    let answering = answering.filter(|answering| !answering.is_on_request || runtime.holds_prompts());
    let asking = |client: &Client, answering: Option<PromptAnswering>| {
        asking(label.clone(), report, (call, hash.clone()), client, answering)
    };
    let Some(answering) = answering else {
        tokio::spawn(show(runtime, asking(line.client(), None), line.client()));
        return;
    };
    let asked = asking(line.client(), Some(answering));
    // What the agent's shell gets is what its hook got, but for what that shell's own files set.
    let environment = Environment::of_process(line.client().peer.pid);
    let since = Instant::now();
    let (verdict, is_over) = tokio::select! {
        outcome = runtime.ask_about(asked, environment) => {
            let is_over = matches!(outcome, Ok(QuestionOutcome::TimedOut { .. }));
            (outcome.ok().and_then(verdict), is_over)
        }
        () = line.wait_for_end() => {
            // An agent that is interrupted ends its hook; at the end of the hook's time, the prompt stands.
            if !answering.is_on_request && since.elapsed() + MARGIN < answering.patience {
                runtime.agent_works(&label, |_| Some(AgentActivity::Idle));
            }
            (None, true)
        }
        () = runtime.wait_until_unwatched() => (None, false),
    };
    if is_over && answering.is_on_request {
        // Now the agent shows it.
        tokio::spawn(show(runtime.clone(), asking(line.client(), None), line.client()));
    }
    if let Some(verdict) = verdict {
        runtime.agent_works(&label, |_| Some(AgentActivity::Working));
        sessions.note_ruling(&label, &hash, CallRuling::AtConsole);
        line.tell(&HookReply::Answered(AnsweredPrompt { hash, verdict })).await;
    }
}

/// Shows a prompt that only its agent can answer, until it is answered there or the agent ends. The hook does not wait for it.
fn show(runtime: Handle, asking: NewQuestion, client: &Client) -> impl Future<Output = ()> + use<> {
    let agent = Some(client.hello.ppid).filter(|agent| client.parents.contains(agent)).unwrap_or_default();
    let ended = has_ended(agent);
    async move {
        let ended = async {
            if !ended.await {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            _ = runtime.ask(asking) => {}
            () = ended => {}
            () = runtime.wait_until_unwatched() => {}
        }
    }
}

/// Hands the person's words to the model that has ended its calls. Words that did not get there are kept.
async fn hand_over_words(runtime: &Handle, label: &str, line: HookLine) {
    let words = runtime.words_for(label);
    let text = words.sentences().join("; ");
    if !text.is_empty() && line.tell(&HookReply::Words(operator_words(text))).await {
        words.mark_delivered();
    }
}

/// Returns who let a call be made that was made; at the end of calls, which come with those refused, that is not known.
fn ruling(sessions: &AgentSessions, label: &str, report: &HookReport, used: &UsedTool) -> Option<CallRuling> {
    let HookEvent::Used(_) = &report.event else { return None };
    let unasked = || CallRuling::from_mode(report.mode.as_deref().unwrap_or_default());
    Some(sessions.take_ruling(label, &report.hash(&used.call)).unwrap_or_else(unasked))
}

/// Returns the name and the input under which a call is recorded that did not come here: as if it had.
fn recorded_call<'a>(report: &HookReport, call: &'a ToolUse, shell_tool: &str) -> (&'a str, Value) {
    let Some(cmd) = call.command(shell_tool) else { return (&call.tool, call.input.clone()) };
    let mut input = json!({ "cmd": cmd, "session": report.session });
    if let Some(description) = call.input.get("description") {
        input["description"] = description.clone();
    }
    (SHELL_CALL, input)
}

/// Returns the agent whose hook it is.
fn agent_of(client: &Client) -> Option<AgentProgram> {
    client.hello.client.as_ref().and_then(|named| named.name.parse().ok())
}

/// Returns the name of its tool that runs commands.
fn shell_tool(client: &Client) -> &'static str {
    hook_of(client).map_or("", |hook| hook.shell_tool)
}

fn hook_of(client: &Client) -> Option<&'static AgentHook> {
    agent_of(client).and_then(AgentProgram::hook)
}

/// Returns the label of the agent whose hook it is.
fn label(client: &Client, runtime: &Handle, sessions: &AgentSessions, report: &HookReport) -> Option<String> {
    let hello = &client.hello;
    let agent = agent_of(client)?;
    let said = AgentClaim {
        agent: Some(agent),
        program: None,
        session: Some(&report.session),
        pid: Some(hello.ppid),
        label: hello.label.as_deref(),
    };
    Some(sessions.join(runtime, &client.parents, client.peer.uid, said, HOOK_PROFILE).label)
}

/// Returns what an agent does after a report, whose hook began at a moment. Some reports come late: only what the user writes
/// begins a turn, and no turn that runs is older than its session.
fn activity_after(report: &HookReport, at: Timestamp, work: Option<AgentWork>) -> Option<AgentActivity> {
    use AgentActivity::{Ended, Idle, NeedsYou, Working};
    let before = work.map(|work| work.activity);
    let is_late = work.is_some_and(|work| work.since > at && work.activity != Ended);
    match report.event {
        HookEvent::Prompt(_) | HookEvent::OwnDialog => Some(NeedsYou),
        HookEvent::TurnBegan => Some(Working),
        HookEvent::Used(_) | HookEvent::CallsEnded(_) | HookEvent::PromptAnswered(_)
            if before == Some(NeedsYou) =>
        {
            Some(Working)
        }
        HookEvent::TurnEnded if report.subagent.is_none() => Some(Idle),
        HookEvent::Began if !is_late => Some(Idle),
        HookEvent::Ended => Some(Ended),
        HookEvent::Used(_)
        | HookEvent::CallsEnded(_)
        | HookEvent::PromptAnswered(_)
        | HookEvent::Refused(_)
        | HookEvent::TurnEnded
        | HookEvent::Began => before,
    }
}

/// Returns which prompts were answered in the agent, as a report shows.
fn answered_prompts(report: &HookReport) -> Option<AnsweredWhich> {
    match &report.event {
        HookEvent::Prompt(_) | HookEvent::OwnDialog => None,
        HookEvent::PromptAnswered(call) => Some(AnsweredWhich::Calls(vec![report.hash(call)])),
        HookEvent::Refused(refused) => Some(AnsweredWhich::Calls(vec![report.hash(&refused.call)])),
        HookEvent::Used(_) | HookEvent::CallsEnded(_) => Some(AnsweredWhich::Calls(
            report.used_tools().iter().map(|used| report.hash(&used.call)).collect(),
        )),
        HookEvent::TurnBegan | HookEvent::TurnEnded => Some(AnsweredWhich::Of(report.subagent.clone())),
        HookEvent::Began | HookEvent::Ended => Some(AnsweredWhich::All),
    }
}

fn asking(
    label: String,
    report: &HookReport,
    (call, hash): (&ToolUse, String),
    client: &Client,
    answering: Option<PromptAnswering>,
) -> NewQuestion {
    let Hello { cwd: workdir, ppid, .. } = &client.hello;
    NewQuestion {
        origin: QuestionOrigin { name: Some(call.tool.clone()), ..QuestionOrigin::default() },
        asked_by: Actor::Agent(label),
        kind: QuestionKind::AgentPrompt(AgentPrompt {
            session: report.session.clone(),
            subagent: report.subagent.clone(),
            hash,
            alike: report.likeness(call, shell_tool(client), workdir, *ppid),
            before: AlikeAnswers::default(),
            rule: None,
            command: call.command(shell_tool(client)).map(str::to_owned),
            is_shown_only: answering.is_none(),
            cost: CallCost::default(),
        }),
        text: call.text(),
        evidence: Evidence { workdir: Some(workdir.clone()), ..Evidence::default() },
        // Else, the agent ends the hook when it waits no longer.
        within: answering.filter(|answering| answering.is_on_request).map(|answering| answering.patience),
        agents: false,
        expected: None,
    }
}

/// Returns what to send to a hook: a person's own answer. A time limit or an end sends nothing.
fn verdict(outcome: QuestionOutcome) -> Option<PromptVerdict> {
    let QuestionOutcome::Answered(answer) = outcome else { return None };
    match answer.value {
        AnswerValue::Approve | AnswerValue::ApproveTurn | AnswerValue::ApproveAlike => {
            Some(PromptVerdict::Allow)
        }
        AnswerValue::Reject => Some(PromptVerdict::Deny { note: answer.note.unwrap_or_default() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_told_of_late_ends_no_turn() {
        let began = HookReport { session: "s".into(), subagent: None, mode: None, event: HookEvent::Began };
        let (early, late) =
            (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(1));
        let after = |at, activity, since| activity_after(&began, at, Some(AgentWork { activity, since }));
        assert_eq!(after(early, AgentActivity::Working, late), Some(AgentActivity::Working));
        assert_eq!(after(late, AgentActivity::Working, early), Some(AgentActivity::Idle));
        assert_eq!(after(early, AgentActivity::Ended, late), Some(AgentActivity::Idle));
        assert_eq!(activity_after(&began, early, None), Some(AgentActivity::Idle));
    }
}
