//! The part of a start that runs in a job of its own.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use super::files::{not_entered, root, spare_folder};
use crate::config::Ceilings;
use crate::envelope::with_causes;
use crate::journal::Durability;
use crate::model::{Error, ProgramStep, TaskView};
use crate::process::environment::{Environment, Terminals};
use crate::process::script::{self, LoginPlace, WrappedCommand};
use crate::process::shell_kind::ShellKind;
use crate::process::{
    ComingHost, CommandOrder, ExactCommand, HostedCommand, RunningCommand, ShellProfile, SpawnError, Spawner,
    Stdio, Workdir, claim_controllers, environment, own_umask, workdir,
};
use crate::runtime::PendingWrite;
use crate::runtime::record_row::Fact;
use crate::runtime::shared::RuntimeShared;

/// A command about to be started.
pub(super) struct StartJob {
    /// Its task, with the whole command.
    pub(super) view: Arc<TaskView>,
    /// Present for a command of a program.
    pub(super) step: Option<ProgramStep>,
    /// How and where to start a command from an agent's own shell.
    pub(super) native: Option<(ExactCommand, OwnedFd)>,
    /// What must be on disk before it begins.
    pub(super) write: Option<PendingWrite>,
    /// What it may take.
    pub(super) ceilings: Ceilings,
    pub(super) environment: Environment,
}

impl StartJob {
    /// Instructs the host, records the start, and lets the command begin once all that it waits for is on disk.
    pub(super) async fn start(
        mut self,
        shared: &Arc<RuntimeShared>,
        spawner: &Spawner,
        host: ComingHost,
    ) -> Result<RunningCommand, Error> {
        let native = self.native.take();
        let (base, umask) = (self.environment.iter().cloned(), self.environment.umask());
        let id = &self.view.id;
        let mut env = match (&self.step, &native) {
            (_, Some(_)) => environment::for_native(base, id),
            (Some(step), None) => environment::for_step(base, id, &step.variables),
            (None, None) => environment::for_task(base, self.terminals(), id, &shared.env.set, |name| {
                shared.env.keeps(name)
            }),
        };
        if let Some(terminal) = &host.terminal {
            environment::ask_at(&mut env, terminal);
        }
        let failed = |error| spawn_error(&error, &self.view);
        if self.ceilings.is_bound() {
            // At most once, the first command waits until its runtime has moved.
            let _ = claim_controllers();
        }
        let handed_over = async {
            let order = self.order((shared, spawner), native, &env, umask);
            let (order, host) = tokio::join!(order, host.ready());
            let (order, mut host) = (order?, host.map_err(failed)?);
            host.instruct(&order).await.map_err(failed)?;
            // The next command's host is made ready while this one's row is on its way to the disk.
            spawner.renew_spares(spare_folder(shared));
            Ok((host, order))
        };
        // Meanwhile the command's streams are opened, its host comes up and works out how to start it, the start is
        // recorded, and what else it waits for is written.
        let (recorded, written, handed_over) =
            tokio::join!(self.record(shared, &env), self.is_written(), handed_over);
        recorded?;
        written?;
        let (host, order) = handed_over?;
        spawner.start(host, order).await.map_err(failed)
    }

    fn terminals(&self) -> Terminals {
        match (self.view.tty, self.view.side_terminal) {
            (true, _) => Terminals::Own,
            (false, true) => Terminals::Aside,
            (false, false) => Terminals::None,
        }
    }

    /// Prepares everything the command needs from this process.
    async fn order(
        &self,
        (shared, spawner): (&RuntimeShared, &Spawner),
        native: Option<(ExactCommand, OwnedFd)>,
        env: &[(OsString, OsString)],
        umask: Option<u32>,
    ) -> Result<CommandOrder, Error> {
        let TaskView { cmd, login, tty, size, accepts_input, workdir: from, shell, folder, .. } = &*self.view;
        let (shell, path) = (PathBuf::from(shell), from.to_string_lossy().into_owned());
        let (exact, place) = match native {
            Some((exact, fd)) => (Some(exact), Workdir { fd, path: from.clone() }),
            // Reopened right before the start: a directory that was swapped in the meantime is refused.
            None => {
                let place = workdir::resolve(root(shared, self.step.is_some()), from, Some(&path));
                (None, place.map_err(|error| not_entered(path, &error))?)
            }
        };
        let variable = self.environment.get("PATH");
        // Followed through links: only where something is put around the command.
        let kind = || ShellKind::of(&shell, variable);
        let (profile, wrapped) = match (&self.step, *login) {
            (Some(_), _) => (ShellProfile::Nothing, script::step_command(folder, kind(), cmd)),
            (None, true) => {
                let kind = kind();
                if let Some(reason) = kind.login_obstacle() {
                    return Err(Error::NoLogin { shell: shell.display().to_string(), reason });
                }
                let place = LoginPlace {
                    folder,
                    workdir: &place.path,
                    path: variable,
                    umask: umask.or_else(own_umask),
                };
                (ShellProfile::Login, script::login_command(kind, cmd.clone(), &place))
            }
            (None, false) => (ShellProfile::Usual, WrappedCommand::bare(cmd.clone())),
        };
        let stdio = match tty {
            true => Stdio::Pty { size: *size },
            false => Stdio::Pipes { stdin: *accepts_input },
        };
        let mut env = env.to_vec();
        env.extend(wrapped.variable());
        let (WrappedCommand { cmd, text, .. }, folder) = (wrapped, folder.clone());
        let (ceilings, must_hold) = (self.ceilings, shared.limits.require);
        let command = HostedCommand {
            shell,
            profile,
            cmd,
            text,
            workdir: place,
            env,
            umask,
            stdio,
            exact,
            ceilings,
            must_hold,
            folder,
        };
        spawner.order(command).await.map_err(|error| spawn_error(&error, &self.view))
    }

    async fn is_written(&self) -> Result<(), Error> {
        let Some(write) = &self.write else { return Ok(()) };
        let unwritten = |reason| Error::Unrecorded { reason, is_full: false };
        write.on_disk().await.map_err(unwritten)
    }

    async fn record(&self, shared: &RuntimeShared, env: &[(OsString, OsString)]) -> Result<(), Error> {
        let names = env.iter().filter_map(|(name, _)| name.to_str()).collect();
        shared.write(&Fact::Start { task: Cow::Borrowed(&self.view), env: names }, Durability::Synced).await
    }
}

fn spawn_error(error: &SpawnError, task: &TaskView) -> Error {
    let message = with_causes(error);
    match error.exhausted_resource() {
        Some(resource) => Error::Exhausted { resource, message },
        None => Error::Spawn { shell: task.shell.clone(), workdir: task.workdir.clone(), message },
    }
}
