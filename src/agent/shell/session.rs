//! Sessions of agents that use our shell: each is an actor for as long as its agent lives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::Interest;
use tokio::sync::watch;

use crate::agent::label;
use crate::agents::AgentProgram;
use crate::model::{AgentPeer, SHELL_PROFILE};
use crate::process;
use crate::runtime::Handle;

/// The maximum number of sessions at once; commands beyond that share one label.
const MOST: usize = 128;
/// The maximum distance from a caller up to its agent, in processes.
const DISTANCE: usize = 32;
/// The maximum length of a session's name, in characters.
const NAME_CHARS: usize = 128;

/// The known sessions. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct ShellSessions(Arc<Mutex<Vec<ShellSession>>>);

#[derive(Debug, Clone)]
struct ShellSession {
    key: SessionKey,
    label: String,
    peer: AgentPeer,
    /// True once its agent has ended.
    ended: watch::Receiver<bool>,
}

/// A call's view of its session.
#[derive(Debug, Clone)]
pub(super) struct Membership {
    /// The label of the session's actor.
    pub(super) label: String,
    /// True once the agent has ended; `None` if the agent's process is not known.
    ended: Option<watch::Receiver<bool>>,
}

impl Membership {
    /// Waits until the agent has ended; pends forever if its process is not known. Cancel-safe.
    pub(super) async fn agent_ended(&mut self) {
        if let Some(ended) = &mut self.ended
            && ended.wait_for(|ended| *ended).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}

/// What identifies a session: two sessions of one agent are two actors.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SessionKey {
    agent: Option<AgentProgram>,
    name: Option<String>,
    pid: u32,
}

/// What a call says about its agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentClaim<'a> {
    pub(super) agent: Option<AgentProgram>,
    pub(super) session: Option<&'a str>,
    pub(super) pid: Option<u32>,
    pub(super) label: Option<&'a str>,
}

impl ShellSessions {
    /// Returns the session that a call belongs to, based on its caller's ancestor processes.
    pub(super) fn join(&self, runtime: &Handle, above: &[u32], uid: u32, said: AgentClaim<'_>) -> Membership {
        let above = above.get(..DISTANCE).unwrap_or(above);
        // Only an ancestor of the caller can be its agent.
        let pid = said.pid.filter(|pid| above.contains(pid)).or(above.first().copied()).unwrap_or_default();
        let name = said.session.map(|name| name.chars().take(NAME_CHARS).collect());
        let key = SessionKey { agent: said.agent, name, pid };
        let mut sessions = self.lock();
        if let Some(known) = sessions.iter().find(|session| session.key == key) {
            return known.membership();
        }
        let client = said.agent.and_then(|agent| agent.profile().client.as_ref());
        let wanted = label::label(said.label, client.map(|client| client.name));
        if sessions.len() >= MOST {
            return Membership { label: wanted, ended: None };
        }
        let client = client.map_or("a shell", |client| client.label);
        let peer = AgentPeer { client: format!("{client} (shell)"), pid, uid, profile: SHELL_PROFILE };
        let label = runtime.agent_connected(&wanted, &peer);
        let (tell, ended) = watch::channel(false);
        let session = ShellSession { key: key.clone(), label, peer, ended };
        let membership = session.membership();
        sessions.push(session);
        drop(sessions);
        tokio::spawn(self.clone().forget_when_gone(runtime.clone(), key, tell));
        membership
    }

    /// Waits for a session's agent to end, notifies those waiting for that, and removes the session.
    async fn forget_when_gone(self, runtime: Handle, key: SessionKey, tell: watch::Sender<bool>) {
        if let Some(agent) = i32::try_from(key.pid).ok().and_then(Pid::from_raw)
            && let Ok(agent) = pidfd_open(agent, PidfdFlags::empty())
            && let Ok(agent) = process::watch(agent, Interest::READABLE)
            && agent.readable().await.is_ok()
        {
            tell.send_replace(true);
        }
        let mut sessions = self.lock();
        let Some(at) = sessions.iter().position(|session| session.key == key) else { return };
        let ShellSession { label, peer, .. } = sessions.remove(at);
        drop(sessions);
        runtime.agent_gone(&label, &peer);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ShellSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShellSession {
    fn membership(&self) -> Membership {
        // Without an agent's variables, the caller's parent may well end before it, as with `command &` in a script.
        let ended = self.key.agent.is_some().then(|| self.ended.clone());
        Membership { label: self.label.clone(), ended }
    }
}
