//! The MCP service without a runtime: answers everything except calls, as the service with a runtime would. The shim
//! uses it, so that an agent that only checks the health of its servers starts no runtime.

use std::borrow::Cow;

use rmcp::model::{
    ErrorData, InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use super::transport::Transport;
use super::{opening, schema};
use crate::config::Limits;
use crate::link::{LineReader, MAX_FRAME, ResultProfile};

struct LocalService {
    profile: ResultProfile,
    limits: Option<Limits>,
}

/// Serves a client until it disconnects.
pub(super) async fn serve(profile: ResultProfile, limits: Option<Limits>, client: UnixStream) {
    let (reader, writer) = client.into_split();
    let transport =
        Transport::new(LineReader::new(reader, MAX_FRAME).with_rest(), writer, CancellationToken::new());
    let service = LocalService { profile, limits };
    match service.serve(transport).await {
        // The client is the shim itself: nobody could act on the reason it ended.
        Ok(running) => drop(running.waiting().await),
        Err(error) => tracing::debug!(%error, "a conversation ended before it began"),
    }
}

impl ServerHandler for LocalService {
    fn get_info(&self) -> ServerConfig {
        opening::server()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
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
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(schema::list(self.profile, self.limits.as_ref())))
    }
}
