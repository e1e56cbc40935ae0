//! The MCP service: the tool table for one agent's connection, in both protocol revisions.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, InitializeRequestParams,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::elicitation::QuestionForm;
use super::input_required::{PendingQuestion, PendingQuestions};
use super::opening::{self, LABEL_METHOD};
use super::progress::CallProgress;
use super::sessions::AgentSessions;
use super::transport::{Transport, UnwrittenNotices};
use super::{elicitation, label, params, results, schema};
use crate::agents::{AgentProgram, McpClient};
use crate::envelope::{Actor, CallOutcome, SafeText, one_line};
use crate::link::{Client, Hello, Peer, ResultProfile};
use crate::model::native_call::is_of_script;
use crate::model::phrases::CALL_CANCELLED;
use crate::model::{AgentPeer, HeldCall};
use crate::runtime::{AnswerNotices, Handle, PARAGRAPH_CHARS};
use crate::tools::{self, CallAnswer, CallNumber, Caller, Room};

/// How much of the name of a tool that does not exist is recorded, in characters.
const NAME_CHARS: usize = 100;
/// The agent's own name for a call, as Codex says it with the call.
const CALL_ID_KEY: &str = "callId";
/// Room for the receipt of a call that a script of the model makes, in characters: Codex (0.171) cuts what a script returns at
/// 10,000 tokens in all, so that two receipts fit.
const SCRIPT_CHARS: usize = 19_000;

struct AgentIdentity {
    label: String,
    peer: AgentPeer,
    client: Option<&'static McpClient>,
}

/// One agent's view of the runtime.
struct AgentService {
    runtime: Handle,
    peer: Peer,
    cwd: PathBuf,
    profile: ResultProfile,
    asked_label: Option<String>,
    /// For an agent on another machine: who relays it, and how.
    from: Option<String>,
    /// The processes above its shim, the nearest first.
    parents: Vec<u32>,
    sessions: AgentSessions,
    /// The agent's identity, once it is known.
    who: Arc<OnceLock<AgentIdentity>>,
    /// Cancelled when the agent has disconnected or the runtime ends: running calls then do not count as withdrawn.
    gone: CancellationToken,
    calls: TaskTracker,
    /// Notices for answers that have not been written yet.
    unwritten: UnwrittenNotices,
    /// The calls whose questions await the client's user.
    open: PendingQuestions<CallInProgress>,
    /// What to tell once of a workspace that is nobody's project.
    place_note: Mutex<Option<String>>,
}

struct CallInProgress {
    going: CallProgress,
    withdrawn: CancellationToken,
    answer: JoinHandle<Option<(CallAnswer, Option<AnswerNotices>)>>,
    /// Whether the client's user may still be asked about it.
    may_ask: bool,
}

/// Serves one agent until it disconnects or `stop` is cancelled. Calls in flight when it disconnects run to
/// completion: a disconnect never ends a command.
pub async fn serve(client: Client, runtime: Handle, sessions: AgentSessions, stop: CancellationToken) {
    let Client { hello, peer, parents, lines, writer, .. } = client;
    let Hello { cwd, profile, label: asked_label, client, from, .. } = hello;
    let (gone, calls, who) = (CancellationToken::new(), TaskTracker::new(), Arc::new(OnceLock::new()));
    let mut transport = Transport::new(lines, writer, gone.clone());
    let service = AgentService {
        runtime: runtime.clone(),
        peer,
        cwd,
        profile,
        asked_label,
        // The one above a relay is not the agent.
        parents: if from.is_some() { Vec::new() } else { parents },
        from,
        sessions: sessions.clone(),
        who: Arc::clone(&who),
        gone: gone.clone(),
        calls: calls.clone(),
        unwritten: transport.unwritten(),
        open: PendingQuestions::default(),
        place_note: Mutex::new(place_note(runtime.workspace())),
    };
    if let Some(client) = &client {
        let label = &service.identity(Some((&client.name, &client.version))).label;
        let told = json!({"jsonrpc": "2.0", "method": LABEL_METHOD, "params": {"label": label}});
        transport = transport.announcing(&told);
    }
    converse(service, transport, gone, stop).await;
    // Now rather than after its calls: an agent that reconnects meanwhile gets its label and its tasks back.
    if let Some(AgentIdentity { label, peer, .. }) = who.get() {
        sessions.leave(&runtime, label, peer);
    }
    calls.close();
    calls.wait().await;
}

/// Returns what to tell of a workspace in which no project is: the root or the home, where editors start their servers.
fn place_note(workspace: &Path) -> Option<String> {
    let is_home = std::env::home_dir().is_some_and(|home| home == workspace);
    let place = one_line(&workspace.to_string_lossy(), NAME_CHARS);
    (is_home || workspace == Path::new("/")).then(|| {
        format!("commands run in {place}, where the server was started; `workdir` names another directory, and the \
                 server's argument --workspace the project")
    })
}

/// Speaks MCP until the agent disconnects or `stop` is cancelled.
async fn converse(
    service: AgentService,
    transport: Transport,
    gone: CancellationToken,
    stop: CancellationToken,
) {
    let begun = tokio::select! {
        begun = service.serve(transport) => begun,
        () = stop.cancelled() => return,
    };
    let running = match begun {
        Ok(running) => running,
        Err(error) => {
            tracing::info!(%error, "an agent left before it began");
            return;
        }
    };
    let cut = running.cancellation_token();
    let ended = running.waiting();
    tokio::pin!(ended);
    tokio::select! {
        _ = &mut ended => {}
        () = stop.cancelled() => {
            // Cancelled first, so that no call mistakes the end of the connection for a cancellation by the agent.
            gone.cancel();
            cut.cancel();
            let _ = ended.await;
        }
    }
}

impl AgentService {
    /// Starts a call. That of a tool that does not exist is recorded and counted like any other.
    async fn begin(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallInProgress, ErrorData> {
        let caller = self.caller(context);
        let input = Value::Object(request.arguments.unwrap_or_default());
        let Some(tool) = tools::find(&request.name) else {
            let name = one_line(&request.name, NAME_CHARS);
            // An error of the protocol has no room for the notices of an answer: the next one has them.
            let called = tools::call_with_notices(&self.runtime, &caller, &name, input, None);
            let (answer, mut notices) = called.await;
            AnswerNotices::wait_for_record(&mut notices).await;
            let hint = match answer.envelope.outcome() {
                CallOutcome::Error(error) => error.recovery_hint.as_deref(),
                CallOutcome::Success(_) => None,
            };
            let text = format!("unknown tool: {}; {}", SafeText::line(&name), hint.unwrap_or_default());
            return Err(ErrorData::invalid_params(text, None));
        };
        let going = CallProgress::new(self.runtime.clone(), tool, caller.begun.clone(), &input);
        let taken = params::taken_otherwise(&context.meta);
        let place = || self.place_note.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(self.spawn(caller, going, input, taken.or_else(place)))
    }

    /// Starts a call; `taken` is what is to be told about how its input was given.
    fn spawn(
        &self,
        caller: Caller,
        going: CallProgress,
        input: Value,
        taken: Option<String>,
    ) -> CallInProgress {
        let withdrawn = CancellationToken::new();
        let answer = self.calls.spawn({
            let (runtime, withdrawn, name) = (self.runtime.clone(), withdrawn.clone(), going.tool.name);
            async move {
                let called = tools::call_with_notices(&runtime, &caller, name, input, taken);
                withdrawn.run_until_cancelled(called).await
            }
        });
        CallInProgress { going, withdrawn, answer, may_ask: self.peer.lineage.is_none() }
    }

    /// Resumes a call that the client sends again with the answer to its question.
    async fn resume(
        &self,
        state: &str,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallInProgress, ErrorData> {
        let Some((asked, answer)) = self.open.take_answer(state, request.input_responses) else {
            return Err(ErrorData::invalid_params(
                "this question is no longer open: send the call again",
                None,
            ));
        };
        let PendingQuestion { held, at, call } = asked;
        // A denial ends a call that still waits.
        let has_stopped = call.answer.is_finished();
        if let Some(answer) = answer {
            elicitation::decide(&self.runtime, self.peer.pid, &held, at, answer).await;
        }
        let is_settled =
            || self.runtime.snapshot().borrow().gate.held.iter().all(|other| other.ticket != held.ticket);
        let task = held.task.as_ref().filter(|_| has_stopped && is_settled());
        let Some((task, tool)) = task.zip(tools::find("TaskOutput")) else { return Ok(call) };
        // The call stopped waiting before it was decided, so its earlier result is out of date.
        let (caller, input) = (self.caller(context), json!({"task_id": task}));
        let going = CallProgress::new(self.runtime.clone(), tool, caller.begun.clone(), &input);
        Ok(self.spawn(caller, going, input, None))
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let mut caller = Caller::new(self.actor(context.client_info().as_ref()), self.cwd.clone());
        let who = self.who.get();
        let own = who.and_then(|who| self.runtime.receipt_chars(&who.label));
        let room =
            who.and_then(|who| who.client).map_or_else(Room::default, |client| client.room).at_most(own);
        let call = context.meta.get(CALL_ID_KEY).and_then(Value::as_str);
        let of_script = call.filter(|id| is_of_script(id)).map(|_| SCRIPT_CHARS);
        caller.room = room.at_most(of_script).beside(PARAGRAPH_CHARS);
        caller
    }

    /// Asks about a held call in the agent's client; returns if the call's result is to carry the question. Calls
    /// from inside a managed task are not asked about: the agent would answer itself.
    async fn ask_person(&self, context: &RequestContext<RoleServer>, begun: &CallNumber) -> HeldCall {
        if let Some(way) = elicitation::way(context) {
            let held = elicitation::wait_for_hold(&self.runtime, begun).await;
            match way {
                QuestionForm::Result if self.open.has_room(&held) => return held,
                QuestionForm::Result => {}
                QuestionForm::Request => {
                    let (runtime, peer, gone) =
                        (self.runtime.clone(), context.peer.clone(), self.gone.clone());
                    let client = self.peer.pid;
                    let asking = async move { elicitation::ask(&runtime, &peer, client, held).await };
                    tokio::spawn(async move { gone.run_until_cancelled(asking).await });
                }
            }
        }
        std::future::pending().await
    }

    /// Returns the actor. The first request that identifies the client determines it.
    fn actor(&self, client: Option<&Implementation>) -> Actor {
        let named = client.map(|client| (client.name.as_str(), client.version.as_str()));
        Actor::Agent(self.identity(named).label.clone())
    }

    /// Returns the agent's identity, determined by the first request that gives its program's name and version.
    fn identity(&self, client: Option<(&str, &str)>) -> &AgentIdentity {
        self.who.get_or_init(|| {
            let program = client.map_or_else(String::new, |(name, version)| label::program(name, version));
            let peer = AgentPeer {
                client: match &self.from {
                    Some(from) => format!("{program} ({from})").trim_start().to_owned(),
                    None => program,
                },
                pid: self.peer.pid,
                uid: self.peer.uid,
                profile: self.profile.as_str(),
            };
            let (chosen, named) = (self.asked_label.as_deref(), client.map(|(name, _)| name));
            let label = self.sessions.connect(&self.runtime, &self.parents, chosen, named, &peer);
            AgentIdentity { label, peer, client: named.and_then(AgentProgram::client) }
        })
    }
}

impl ServerHandler for AgentService {
    fn get_info(&self) -> ServerConfig {
        opening::server()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.actor(Some(&request.client_info));
        let answer = opening::answer(self, &request);
        context.peer.set_peer_info(request);
        answer
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        opening::revisions()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.actor(context.client_info().as_ref());
        Ok(ListToolsResult::with_all_items(schema::list(self.profile, Some(self.runtime.limits()))))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallInProgress { going, withdrawn, mut answer, may_ask } = match request.request_state.clone() {
            Some(state) => self.resume(&state, request, &context).await?,
            None => self.begin(request, &context).await?,
        };
        let answered = tokio::select! {
            biased;
            answered = &mut answer => answered,
            () = context.ct.cancelled() => {
                if !self.gone.is_cancelled() {
                    withdrawn.cancel();
                    return Err(withdrawal());
                }
                // A runtime that is shutting down still answers open calls; rmcp keeps sending for a moment.
                answer.await
            }
            never = going.tell(&context) => match never {},
            held = self.ask_person(&context, &going.begun), if may_ask => {
                // Asks only once: if the form is dismissed, the decision is left to the consoles.
                let call = CallInProgress { going, withdrawn, answer, may_ask: false };
                let at = self.runtime.clock().now().mono;
                return Ok(self.open.ask(PendingQuestion { held, at, call }).into());
            }
        };
        let hides_meta =
            self.who.get().and_then(|who| who.client).is_none_or(|client| client.hides_meta_of_errors);
        match answered {
            Ok(Some((answer, notices))) => {
                let mut result = results::result(self.profile, &answer.envelope, answer.receipt, hides_meta);
                if let Some(notices) = notices {
                    results::tell(&mut result, notices.sentences());
                    self.unwritten.expect(context.id, notices);
                }
                Ok(result.into())
            }
            Ok(None) => Err(withdrawal()),
            Err(error) => Err(ErrorData::internal_error(format!("{} broke: {error}", going.tool.name), None)),
        }
    }
}

/// The result of a cancelled call; rmcp drops it, since nobody waits for it.
fn withdrawal() -> ErrorData {
    ErrorData::internal_error(CALL_CANCELLED, None)
}
