//! The agents at work: which connections belong to one agent, and for how long it is there. An agent is an actor: the
//! process that was launched here, its own shell and its MCP connection have one label, and so its tasks and the words
//! for it are in one place. Two of the same program are two. Who belongs to whom is decided by processes, as the kernel
//! reports them.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::Interest;
use tokio::sync::watch;

use super::belonging::{AgentSession, Arrival, place_of};
use super::label;
use crate::agents::{AgentProgram, ShellRedirect};
use crate::link::Client;
use crate::model::{AgentPeer, CallRuling, HOOK_PROFILE, LAUNCH_PROFILE, SHELL_PROFILE};
use crate::process::{self, FileWatch, foreign_shell, program_name};
use crate::runtime::Handle;

/// The maximum number of agents at once that are known by their process; commands beyond that share one label.
const MOST: usize = 128;
/// The maximum distance from a process up to its agent, in processes.
const DISTANCE: usize = 32;
/// The most calls of an agent that are known to have been asked about.
const MOST_ASKED: usize = 256;
/// How many milliseconds a process that starts a shell may take to become it.
const BECOMING: usize = 4;
/// The maximum length of a session's name, in characters.
const NAME_CHARS: usize = 128;

/// The known agents. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct AgentSessions(Arc<Mutex<Vec<AgentSession>>>);

/// A call's view of its session.
#[derive(Debug, Clone)]
pub(super) struct Membership {
    /// The label of the session's actor.
    pub(super) label: String,
    /// True once the agent has ended; `None` if the agent's process is not known.
    ended: Option<watch::Receiver<bool>>,
}

impl Membership {
    fn of(session: &AgentSession) -> Self {
        // Without an agent's variables, the caller's parent may well end before it, as with `command &` in a script.
        let is_known = session.program.is_some() || session.launched.is_some();
        let ended = session.ended.clone().filter(|_| is_known);
        Self { label: session.label.clone(), ended }
    }

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

/// What a call of a shell or of a hook says about its agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentClaim<'a> {
    pub(super) agent: Option<AgentProgram>,
    /// What its program is called.
    pub(super) program: Option<&'a str>,
    pub(super) session: Option<&'a str>,
    pub(super) pid: Option<u32>,
    pub(super) label: Option<&'a str>,
}

impl AgentSessions {
    /// Returns the session that a call of a shell or of a hook belongs to, based on its caller's ancestor processes.
    pub(super) fn join(
        &self,
        runtime: &Handle,
        above: &[u32],
        uid: u32,
        said: AgentClaim<'_>,
        profile: &'static str,
    ) -> Membership {
        let above = above.get(..DISTANCE).unwrap_or(above);
        // Only an ancestor of the caller can be its agent.
        let claimed = said.pid.filter(|pid| above.contains(pid));
        let name: Option<String> = said.session.map(|name| name.chars().take(NAME_CHARS).collect());
        // One that runs commands by what its own file names runs the conversations of all its windows in one process.
        let own_shell = said.agent.and_then(AgentProgram::own_shell);
        let is_shared = own_shell.is_some_and(|own| matches!(own.redirect, ShellRedirect::OwnFile { .. }));
        let arrival = Arrival {
            program: said.agent,
            // Else, a process that names itself has one conversation at a time.
            name: name.filter(|_| claimed.is_none() || is_shared),
            process: claimed.or(above.first().copied()).unwrap_or_default(),
            is_claimed: claimed.is_some(),
            above,
            chosen: said.label,
            profile,
        };
        let wanted = wanted_label(&arrival, said.agent.map(AgentProgram::label).or(said.program));
        let peer = |pid| AgentPeer { client: format!("{wanted} ({profile})"), pid, uid, profile };
        let mut sessions = self.lock();
        let at = place_of(&sessions, &arrival);
        if let Some(known) = at.and_then(|at| sessions.get(at)).filter(|known| known.routes.has(profile)) {
            return Membership::of(known);
        }
        if sessions.iter().filter(|session| !session.routes.tools).count() >= MOST {
            return Membership { label: wanted, ended: None };
        }
        let at = enter(&mut sessions, at, &arrival, runtime, &wanted, &peer(arrival.process));
        let Some(session) = sessions.get_mut(at) else { return Membership { label: wanted, ended: None } };
        let process = session.process.unwrap_or(arrival.process);
        let (tell, ended) = watch::channel(false);
        if profile == SHELL_PROFILE {
            session.ended = Some(ended);
        }
        let membership = Membership::of(session);
        drop(sessions);
        let (own, runtime, label, peer) =
            (self.clone(), runtime.clone(), membership.label.clone(), peer(process));
        let watched = has_ended(process);
        tokio::spawn(async move {
            if watched.await {
                tell.send_replace(true);
            }
            own.leave(&runtime, &label, &peer);
        });
        membership
    }

    /// Registers an MCP connection of an agent that identified itself; returns its label.
    pub(super) fn connect(
        &self,
        runtime: &Handle,
        above: &[u32],
        chosen: Option<&str>,
        client: Option<&str>,
        peer: &AgentPeer,
    ) -> String {
        let above = above.get(..DISTANCE).unwrap_or(above);
        let arrival = Arrival {
            program: client.and_then(AgentProgram::of_client),
            name: None,
            process: above.first().copied().unwrap_or_default(),
            is_claimed: false,
            above,
            chosen,
            profile: peer.profile,
        };
        let wanted = wanted_label(&arrival, client);
        let mut sessions = self.lock();
        // What is known of nobody's process belongs to nobody else.
        let at = place_of(&sessions, &arrival).filter(|_| arrival.process > 0);
        let at = enter(&mut sessions, at, &arrival, runtime, &wanted, peer);
        let Some(session) = sessions.get(at) else { return wanted };
        let (own, runtime, label, process) =
            (self.clone(), runtime.clone(), session.label.clone(), arrival.process);
        drop(sessions);
        let ended = has_ended(process);
        let told = label.clone();
        tokio::spawn(async move {
            if ended.await {
                own.process_ended(&runtime, &told, process);
            }
        });
        label
    }

    /// Lists the process at the other end, which is about to become an agent, until it ends.
    pub(super) fn add_launch(&self, client: &Client, runtime: &Handle) {
        let named = client.hello.client.as_ref().map(|client| client.name.as_str());
        let program = named.and_then(AgentProgram::routed_as);
        let arrival = Arrival {
            program,
            name: None,
            process: client.peer.pid,
            is_claimed: true,
            above: &[],
            chosen: client.hello.label.as_deref(),
            profile: LAUNCH_PROFILE,
        };
        let wanted = wanted_label(&arrival, program.map(AgentProgram::label).or(named));
        let client_name = format!("{wanted} (launched)");
        let (pid, uid) = (client.peer.pid, client.peer.uid);
        let peer = AgentPeer { client: client_name, pid, uid, profile: LAUNCH_PROFILE };
        let mut sessions = self.lock();
        let is_known = sessions.iter().any(|session| session.launched == Some(pid));
        if pid == 0 || is_known || sessions.len() >= MOST {
            return;
        }
        let at = enter(&mut sessions, None, &arrival, runtime, &wanted, &peer);
        let Some(label) = sessions.get(at).map(|session| session.label.clone()) else { return };
        drop(sessions);
        if program.is_none() {
            tokio::spawn(find_foreign_shell(runtime.clone(), label.clone(), pid));
        }
        let (own, runtime) = (self.clone(), runtime.clone());
        // Opened while the launcher still waits for this connection to end: the pid cannot have been reused.
        let ended = has_ended(pid);
        tokio::spawn(async move {
            ended.await;
            own.leave(&runtime, &label, &peer);
        });
    }

    /// Closes one of an agent's connections, and forgets the agent with the last one.
    pub(super) fn leave(&self, runtime: &Handle, label: &str, peer: &AgentPeer) {
        let (mut sessions, mut gone) = (self.lock(), None);
        let mut closed = vec![peer.profile];
        let is_open = |session: &AgentSession| session.label == label && session.routes.has(peer.profile);
        // Without it, another connection of the same process has closed this one as well.
        let Some(at) = sessions.iter().position(is_open) else { return };
        if let Some(session) = sessions.get_mut(at) {
            let is_over =
                session.name.is_some() || session.process.is_none_or(|own| Some(own) == session.launched);
            if peer.profile == LAUNCH_PROFILE && is_over {
                // The launch is closed last, so that the agent is known to have ended.
                let calls = [SHELL_PROFILE, HOOK_PROFILE].into_iter().filter(|own| session.routes.has(own));
                closed.splice(0..0, calls);
            }
            closed.iter().for_each(|profile| session.routes.set(profile, false));
            match peer.profile {
                SHELL_PROFILE => (session.ended, session.name) = (None, None),
                LAUNCH_PROFILE => session.launched = None,
                _ => {}
            }
            if !session.routes.is_any() {
                gone = Some(sessions.remove(at));
            }
        }
        // Within the lock: nobody is to join it in between.
        closed
            .into_iter()
            .for_each(|profile| runtime.agent_gone(label, &AgentPeer { profile, ..peer.clone() }));
        let Some(gone) = gone else { return };
        if gone.is_watched {
            runtime.agent_ended(label);
        }
        if gone.is_watched || gone.has_ended {
            runtime.end_left_by(label);
        }
    }

    /// Records that the process above an MCP connection has ended. The connection may have closed before: an agent also
    /// closes one to open it again.
    fn process_ended(&self, runtime: &Handle, label: &str, process: u32) {
        let mut sessions = self.lock();
        match sessions.iter_mut().find(|session| session.label == label) {
            Some(session) if session.process == Some(process) => session.has_ended = true,
            Some(_) => {}
            None => runtime.end_left_by(label),
        }
    }

    /// Notes that an agent asks its user about a call, or who has answered that.
    pub(super) fn note_ruling(&self, label: &str, hash: &str, by: CallRuling) {
        let mut sessions = self.lock();
        let Some(session) = sessions.iter_mut().find(|session| session.label == label) else { return };
        match session.asked.iter_mut().find(|(known, _)| known == hash) {
            Some((_, known)) => *known = by,
            None => {
                if session.asked.len() == MOST_ASKED {
                    session.asked.pop_front();
                }
                session.asked.push_back((hash.to_owned(), by));
            }
        }
    }

    /// Forgets what an agent asked about: of a turn that is over, nothing is open.
    pub(super) fn turn_begins(&self, label: &str) {
        let mut sessions = self.lock();
        sessions
            .iter_mut()
            .filter(|session| session.label == label)
            .for_each(|session| session.asked.clear());
    }

    /// Returns who allowed a call that is over, if its agent asked about it.
    pub(super) fn take_ruling(&self, label: &str, hash: &str) -> Option<CallRuling> {
        let mut sessions = self.lock();
        let session = sessions.iter_mut().find(|session| session.label == label)?;
        let at = session.asked.iter().position(|(known, _)| known == hash)?;
        session.asked.remove(at).map(|(_, by)| by)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<AgentSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds an arrival to the agent at a position, or as a new one; returns the position.
fn enter(
    sessions: &mut Vec<AgentSession>,
    at: Option<usize>,
    arrival: &Arrival<'_>,
    runtime: &Handle,
    wanted: &str,
    peer: &AgentPeer,
) -> usize {
    if let Some(at) = at
        && let Some(session) = sessions.get_mut(at)
    {
        session.take_in(arrival);
        runtime.agent_joined(&session.label, peer);
        return at;
    }
    sessions.push(AgentSession::begin(runtime.agent_connected(wanted, peer), arrival));
    sessions.len() - 1
}

/// Returns the label that an arrival would have if nobody had it: `named` is what its program is called.
fn wanted_label(arrival: &Arrival<'_>, named: Option<&str>) -> String {
    label::label(arrival.chosen, named, || program_name(arrival.process))
}

/// Watches what an unknown program runs its commands in, until that is a shell that does not lead here, a command of it has come
/// here, or it has ended.
async fn find_foreign_shell(runtime: Handle, label: String, pid: u32) {
    let ended = has_ended(pid);
    tokio::pin!(ended);
    let shells =
        ["/bin/sh", "/bin/bash"].into_iter().filter_map(|shell| Path::new(shell).canonicalize().ok());
    let mut starts = FileWatch::at_opening(shells.collect());
    loop {
        tokio::select! {
            _ = &mut ended => return,
            () = starts.wait_for_change() => {}
        }
        if runtime.agent_calls(&label) > 0 {
            return;
        }
        // The file is opened before the process becomes the shell.
        for _ in 0..BECOMING {
            if let Some(shell) = foreign_shell(pid) {
                runtime.agent_shell(&label, &shell);
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Waits until a process has ended; false if it cannot be watched. The process is identified when this is called.
pub(super) fn has_ended(pid: u32) -> impl Future<Output = bool> + Send {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let watched = pid
        .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
        .and_then(|pidfd| process::watch(pidfd, Interest::READABLE).ok());
    async move {
        match watched {
            Some(watched) => watched.readable().await.is_ok(),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_that_is_gone_is_not_waited_for() {
        assert!(!has_ended(0).await);
        let mut child = std::process::Command::new("true").spawn().expect("starts");
        let ended = has_ended(child.id());
        assert!(ended.await);
        child.wait().expect("reaped");
    }
}
