//! Asks for approval of a held call in the agent's own client too, if that declares the elicitation capability
//! (docs/decisions/18-held-calls.md).

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotificationParam, ClientResult, CustomRequest, ElicitResult, ElicitationAction, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use serde_json::{Value, json};

use crate::envelope::SafeText;
use crate::model::{Decision, HeldCall, READING, Snapshot};
use crate::process::console_process;
use crate::runtime::Handle;
use crate::tools::CallNumber;

/// The maximum length of a question, in characters: longer ones are decided in the console, where they can be read in
/// full.
const QUESTION_CHARS: usize = 4_000;
/// How many characters of a request's hash an answer includes.
const HASH_CHARS: usize = 8;
/// The answer that denies the call.
const DENY: &str = "deny";

/// How to ask a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionForm {
    /// By a separate request while the call is open: before protocol revision 2026-07-28.
    Request,
    /// By the call's result; the client sends the call again with the answer ([`super::input_required`]).
    Result,
}

/// Returns how to ask this client's user with a form, if it has declared that it can.
pub(super) fn way(context: &RequestContext<RoleServer>) -> Option<QuestionForm> {
    let asks = context.client_capabilities()?.elicitation?;
    if asks.form.is_none() && asks.url.is_some() {
        return None;
    }
    let is_modern = context.protocol_version().is_some_and(|version| !version.has_initialize());
    Some(if is_modern { QuestionForm::Result } else { QuestionForm::Request })
}

/// Waits until the call `begun` is held, and it was computed what it would cost, and returns it; pends forever if it is
/// never held.
pub(super) async fn wait_for_hold(runtime: &Handle, begun: &CallNumber) -> HeldCall {
    let mut snapshots = runtime.snapshot();
    let is_ours = |held: &&HeldCall| begun.get() == Some(&held.call) && !held.cost.is_unknown();
    let held = snapshots.wait_for(|snapshot| snapshot.gate.held.iter().any(|held| is_ours(&held))).await;
    match held.ok().and_then(|snapshot| snapshot.gate.held.iter().find(is_ours).cloned()) {
        Some(held) => held,
        // The runtime is gone.
        None => std::future::pending().await,
    }
}

/// Asks by a separate request and carries out the answer, unless the call is decided elsewhere first. The question
/// stays open after the call has been answered. If the call would cost something else by then, it is asked again.
pub(super) async fn ask(runtime: &Handle, peer: &Peer<RoleServer>, client: u32, mut held: HeldCall) {
    while let Some(()) = ask_once(runtime, peer, client, &held).await {
        let now = runtime.snapshot().borrow().gate.held.iter().find(|now| now.ticket == held.ticket).cloned();
        match now.filter(|now| now.cost.revision != held.cost.revision) {
            Some(now) => held = now,
            None => return,
        }
    }
}

/// Asks once; returns whether an answer came that decided nothing.
async fn ask_once(runtime: &Handle, peer: &Peer<RoleServer>, client: u32, held: &HeldCall) -> Option<()> {
    let params = question(held)?;
    let request = ServerRequest::CustomRequest(CustomRequest::new("elicitation/create", Some(params)));
    let asked = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await.ok()?;
    let (id, clock) = (asked.id.clone(), runtime.clock().clone());
    let at = clock.now().mono;
    let mut snapshots = runtime.snapshot();
    let is_over =
        |snapshot: &Arc<Snapshot>| snapshot.gate.held.iter().all(|other| other.ticket != held.ticket);
    // Also completes when the runtime ends.
    let decided = async { drop(snapshots.wait_for(is_over).await) };
    let answer = tokio::select! {
        answer = asked.await_response() => answer,
        () = decided => {
            let reason = Some("it was decided elsewhere".to_owned());
            // If the client is gone, there is nobody to notify.
            let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
            return None;
        }
    };
    let Ok(ClientResult::ElicitResult(answer)) = answer else { return None };
    (!decide(runtime, client, held, at, answer).await).then_some(())
}

/// Carries out the answer to a question asked `at`; returns whether it decided anything.
pub(super) async fn decide(
    runtime: &Handle,
    client: u32,
    held: &HeldCall,
    at: Duration,
    answer: ElicitResult,
) -> bool {
    // Nobody can have read the question in that time.
    let is_early = runtime.clock().now().mono.saturating_sub(at) < READING;
    let Some(decision) = decision(held, answer).filter(|_| !is_early) else { return false };
    let from = console_process(client);
    let shown = held.shown_call(Some(held.cost.revision));
    let decided = runtime.decide(shown, decision, Some(&from)).await;
    decided
        .inspect_err(|error| tracing::info!(%error, "an answer in the agent's program did not count"))
        .is_ok()
}

/// Returns the answer that approves exactly this request: an answer made for another request does not count.
fn run_word(held: &HeldCall) -> String {
    format!("run it ({})", held.hash.chars().take(HASH_CHARS).collect::<String>())
}

/// Returns the question: everything that would run, where, and what it would cost. The first choice, which a client
/// preselects, is to deny. `None` if that is too long for a form.
pub(super) fn question(held: &HeldCall) -> Option<Value> {
    let commands = held.commands.iter().enumerate().map(|(at, command)| {
        let place = SafeText::line(&command.workdir.to_string_lossy());
        let cost = held.cost.commands.get(at).into_iter().flatten();
        let cost: String = cost.map(|sentence| format!("\n- {}", SafeText::line(sentence))).collect();
        format!("{}\nin {place}{cost}", SafeText::lines(&command.cmd))
    });
    let commands = commands.collect::<Vec<_>>().join("\n\n");
    let message = format!("Pilothouse holds a call. It would run, with your rights:\n\n{commands}");
    (message.chars().count() <= QUESTION_CHARS).then(|| {
        json!({
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "decision": { "type": "string", "title": "Decision", "enum": [DENY, run_word(held)] },
                },
                "required": ["decision"],
            },
        })
    })
}

/// Parses the answer. A dismissed or declined form decides nothing: a client running unattended declines
/// automatically.
fn decision(held: &HeldCall, ElicitResult { action, content, .. }: ElicitResult) -> Option<Decision> {
    let content = content.filter(|_| action == ElicitationAction::Accept)?;
    match content.get("decision")?.as_str()? {
        DENY => Some(Decision::Deny { note: String::new() }),
        word => (word == run_word(held)).then_some(Decision::Once),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::envelope::Actor;
    use crate::model::{HeldCommand, HoldReason};

    fn held(cmd: &str) -> HeldCall {
        let command =
            HeldCommand { cmd: cmd.into(), workdir: "/w".into(), shell: None, login: false, tty: false };
        HeldCall {
            ticket: 1,
            call: 2,
            actor: Actor::Agent("claude-code".into()),
            behind: None,
            tool: "ExecCommand".into(),
            task: None,
            commands: vec![command],
            description: None,
            reason: HoldReason::Paused,
            since: Timestamp::UNIX_EPOCH,
            hash: "6a02f08abcd6".into(),
            cost: crate::model::CallCost::default(),
        }
    }

    fn read(action: &str, said: &Value) -> Option<Decision> {
        let answer = serde_json::from_value(json!({"action": action, "content": said})).expect("a result");
        decision(&held("rm x"), answer)
    }

    #[test]
    fn a_form_approves_a_call_only_with_the_word_for_this_very_request() {
        assert_eq!(read("accept", &json!({"decision": "run it (6a02f08a)"})), Some(Decision::Once));
        let denied = Some(Decision::Deny { note: String::new() });
        assert_eq!(read("accept", &json!({"decision": "deny"})), denied);
        for said in
            [json!({"decision": "run it (00000000)"}), json!({"decision": "run it"}), json!({}), json!(true)]
        {
            assert_eq!(read("accept", &said), None, "{said}");
        }
        for action in ["decline", "cancel"] {
            assert_eq!(read(action, &json!({"decision": "run it (6a02f08a)"})), None, "{action}");
        }
    }

    #[test]
    fn a_command_too_long_for_a_form_is_not_asked_about_in_the_client() {
        let text =
            question(&held("rm \u{1b}[2Kx")).map(|asked| asked["message"].to_string()).unwrap_or_default();
        assert!(text.contains("rm ") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(question(&held(&"x".repeat(QUESTION_CHARS))), None);
    }
}
