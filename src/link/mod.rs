//! The runtime's sockets: handshake, framing, and the client and server sides, shared by all front ends.
//!
//! There are two sockets for two levels of trust. `agent.sock` admits the roles `mcp`, `cli`, `shell`, `hook` and
//! `launch`, which may only call tools, run commands, ask and be listed; `operator.sock` admits the role `operator` and refuses every
//! process that descends from a managed task, so that an agent's command cannot act as the person.

mod access;
mod background;
mod call_session;
mod connect_within;
mod connection_kind;
mod connections;
mod error;
mod frame;
mod fuzz;
mod hello;
mod holder;
mod hook;
mod lines;
mod lock;
mod operator;
mod protocol;
mod relay;
mod route;
mod running;
mod scripts;
mod server;
mod shell;
mod siblings;
mod socket;
mod strict;
mod transport_error;
mod unit;

pub use access::Access;
pub use background::{StartedRuntime, check_room, start as start_background};
pub use connect_within::{announce_at_once, ask_at_once};
pub use connection_kind::ConnectionKind;
pub use error::Error;
pub use frame::{MAX_DEPTH, MAX_FRAME, depth_within};
#[doc(hidden)]
pub use fuzz::fuzz_frames;
pub use hello::{Ack, ClientName, ClientRole, Hello, ResultProfile, VERSION};
pub use holder::ForeignHolder;
pub use hook::{AnsweredPrompt, HookCall, HookLine, HookReply};
pub use lines::{LineReader, ReceivedLine};
pub use lock::{Holder, RuntimeAddress};
pub use operator::{
    ASKED_FOR, ConsoleConnection, Fleet, Operator, StopRequest, StopRequests, Successors, answer,
    remove_left_copies, serve as serve_operator,
};
pub use protocol::{Act, ConsoleView, Reply, Request};
pub use relay::{Relay, refusal};
pub use route::{
    CarriedRoute, CarrierLink, Door, HostListing, ListedRuntime, OpenConnection, RemoteHost, RuntimeRoute,
    dial, ssh_folder,
};
pub use running::RunningRuntime;
pub use scripts::{Scripts, serve as serve_scripts};
pub use server::{Client, Peer, Server};
pub use shell::{
    Loss, ServedRequest, ShellCall, ShellConversation, ShellFallback, ShellInput, ShellLine, ShellMessage,
    ShellReply, ShellRequest,
};
pub use siblings::follow_siblings;
pub use socket::{Sockets, private_folder};
pub use strict::Strict;
pub use transport_error::TransportError;
pub use unit::unit_name;
