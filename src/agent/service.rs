//! The MCP service: the tool table for one agent's connection, in both protocol eras.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, InitializeRequestParams,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::progress::Going;
use super::transport::{Transport, Unwritten};
use super::{elicitation, label, results, schema};
use crate::envelope::{Actor, SafeText};
use crate::link::{Client, Hello, Peer, Profile};
use crate::runtime::{AgentPeer, Handle, PARAGRAPH_CHARS};
use crate::tools::{self, Begun, Caller, Room, clients};

/// What every agent is told once.
const INSTRUCTIONS: &str = "\
Your shell is here: ExecCommand runs a shell command, TaskOutput reads on and waits for one that still runs. \
An operator watches live and may type into commands or stop them; run every command here rather than in a built-in shell.
- ExecCommand runs one command and returns its output. A command still running after yield_time_ms goes on \
as a managed pilothouse task; you get its task_id. Nothing is restarted or lost.
- ExecCommandBatch runs several short commands in one call, when you need them all before your next decision.
- TaskOutput waits for a task or reads on, TaskInput types into it, TaskStop ends it, TaskStatus and TaskList \
tell how things stand. Use task ids exactly as you got them.
- Question shows what running programs wait for somebody to decide, and answers what is yours to answer.
- Commands start in the directory you were started in unless you pass workdir.
- The operator shares the tasks with you: `held_by_operator` means a person is typing, so wait and read the \
output; `stopped by operator` means a person ended it on purpose, so do not just run it again.";

/// The method of the line that tells a shim which label its agent has got.
pub(super) const LABEL_METHOD: &str = "notifications/dev.pilothouse/label";

/// An agent as it is known.
struct Who {
    label: String,
    peer: AgentPeer,
    client: Option<&'static clients::Client>,
}

/// One agent's view of the runtime.
struct Service {
    runtime: Handle,
    peer: Peer,
    cwd: PathBuf,
    profile: Profile,
    asked_label: Option<String>,
    /// Who the agent is, once it has said so.
    who: Arc<OnceLock<Who>>,
    /// The agent has hung up or the runtime ends: what runs is not withdrawn by anyone.
    gone: CancellationToken,
    calls: TaskTracker,
    /// What goes with answers that are not written yet.
    unwritten: Unwritten,
}

/// Serves one agent until it hangs up or `stop`. Calls in flight when it hangs up are carried
/// through: an agent that disconnects never ends a command.
pub async fn serve(client: Client, runtime: Handle, stop: CancellationToken) {
    let Client { hello, peer, lines, writer } = client;
    let Hello { cwd, profile, label: asked_label, client, .. } = hello;
    let (gone, calls, who) = (CancellationToken::new(), TaskTracker::new(), Arc::new(OnceLock::new()));
    let mut transport = Transport::new(lines, writer, gone.clone());
    let service = Service {
        runtime: runtime.clone(),
        peer,
        cwd,
        profile,
        asked_label,
        who: Arc::clone(&who),
        gone: gone.clone(),
        calls: calls.clone(),
        unwritten: transport.unwritten(),
    };
    if let Some(client) = &client {
        let label = &service.who(Some((&client.name, &client.version))).label;
        let told = json!({"jsonrpc": "2.0", "method": LABEL_METHOD, "params": {"label": label}});
        transport = transport.announcing(&told);
    }
    converse(service, transport, gone, stop).await;
    // Now, not after its calls: who comes back meanwhile has its label and its tasks again.
    if let Some(Who { label, peer, .. }) = who.get() {
        runtime.agent_gone(label, peer);
    }
    calls.close();
    calls.wait().await;
}

/// Speaks MCP until the agent hangs up or `stop`.
async fn converse(service: Service, transport: Transport, gone: CancellationToken, stop: CancellationToken) {
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
            // First, so that no call takes the end of the connection for the agent's wish.
            gone.cancel();
            cut.cancel();
            let _ = ended.await;
        }
    }
}

impl Service {
    /// Asks in the agent's program about a call that is held. What a managed task starts is not asked: it would answer
    /// itself.
    async fn ask_person(
        &self,
        context: &RequestContext<RoleServer>,
        begun: &Begun,
    ) -> std::convert::Infallible {
        if self.peer.task_host.is_some() {
            return std::future::pending().await;
        }
        elicitation::ask_if_held(&self.runtime, &context.peer, self.peer.pid, begun, &self.gone).await
    }

    /// Returns who acts. The first request that says who the client is settles it.
    fn actor(&self, client: Option<&Implementation>) -> Actor {
        let named = client.map(|client| (client.name.as_str(), client.version.as_str()));
        Actor::Agent(self.who(named).label.clone())
    }

    /// Returns who the agent is; the first to say so, by name and version of its program, settles it.
    fn who(&self, client: Option<(&str, &str)>) -> &Who {
        self.who.get_or_init(|| {
            let peer = AgentPeer {
                client: client.map_or_else(String::new, |(name, version)| label::program(name, version)),
                pid: self.peer.pid,
                uid: self.peer.uid,
                profile: self.profile.as_str(),
            };
            let wanted = label::label(self.asked_label.as_deref(), client.map(|(name, _)| name));
            let client = client.and_then(|(name, _)| clients::find(name));
            Who { label: self.runtime.agent_connected(&wanted, &peer), peer, client }
        })
    }
}

/// Returns what a client is told of this server.
pub(super) fn server() -> ServerConfig {
    let capabilities = ServerCapabilities::builder().enable_tools().build();
    ServerConfig::new(capabilities)
        .with_server_info(
            Implementation::new("pilothouse", env!("CARGO_PKG_VERSION")).with_title("Pilothouse"),
        )
        .with_instructions(INSTRUCTIONS)
}

impl ServerHandler for Service {
    fn get_info(&self) -> ServerConfig {
        server()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.actor(Some(&request.client_info));
        let answer = self.negotiate_initialize(&request);
        context.peer.set_peer_info(request);
        answer
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.actor(context.client_info().as_ref());
        Ok(ListToolsResult::with_all_items(schema::list(self.profile)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::find(&request.name) else {
            return Err(ErrorData::invalid_params(
                format!("unknown tool: {}", SafeText::line(&request.name)),
                None,
            ));
        };
        let actor = self.actor(context.client_info().as_ref());
        let client = self.who.get().and_then(|who| who.client);
        let mut caller = Caller::new(actor, self.cwd.clone());
        let own = self.who.get().and_then(|who| self.runtime.receipt_chars(&who.label));
        let room = client.map_or_else(Room::default, |client| client.room).at_most(own);
        caller.room = room.beside(PARAGRAPH_CHARS);
        let hides_meta = client.is_none_or(|client| client.hides_meta_of_errors);
        let input = Value::Object(request.arguments.unwrap_or_default());
        let withdrawn = CancellationToken::new();
        let begun = caller.begun.clone();
        let going = Going::new(&self.runtime, tool, caller.begun.clone(), &input);
        let mut call = self.calls.spawn({
            let (runtime, withdrawn) = (self.runtime.clone(), withdrawn.clone());
            async move {
                let called = tools::call_with_notices(&runtime, &caller, tool.name, input);
                withdrawn.run_until_cancelled(called).await
            }
        });
        let answered = tokio::select! {
            biased;
            answered = &mut call => answered,
            () = context.ct.cancelled() => {
                if !self.gone.is_cancelled() {
                    withdrawn.cancel();
                    return Err(withdrawal());
                }
                // A runtime that ends answers what it was asked; rmcp sends for a moment more.
                call.await
            }
            never = going.tell(&context) => match never {},
            never = self.ask_person(&context, &begun) => match never {},
        };
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
            Err(error) => Err(ErrorData::internal_error(format!("{} broke: {error}", tool.name), None)),
        }
    }
}

/// What a withdrawn call ends with; rmcp drops it, since nobody waits for it.
fn withdrawal() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}
