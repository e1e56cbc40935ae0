//! Opening other places besides the one the console was opened on.

use super::driver::Driver;
use super::effects::{Effects, typist};
use crate::console::msg::Msg;
use crate::envelope::TaskId;
use crate::link::{Fleet, ForeignHolder, Operator, RunningRuntime};
use crate::paths::Locks;

impl Driver {
    /// Shows another runtime of this machine too. The console of one runtime becomes a console of several.
    pub(in crate::console) fn open_place(&mut self, running: RunningRuntime) {
        if let Some(fleet) = self.operator.fleet() {
            return fleet.open(running);
        }
        let successors = self.source.options.successors(&self.app.state.view.snapshot.workspace);
        let (Operator::Runtime(home), Some(successors)) = (&self.operator, successors) else { return };
        let fleet = Fleet::around(home.clone(), successors);
        fleet.open(running);
        self.hold(Operator::Fleet(fleet));
    }

    /// Finds the task of another of this user's runtimes that holds a port.
    pub(super) fn find_holder(&mut self, task: TaskId, port: u16) {
        let own = self.app.state.view.snapshot.workspace.clone();
        let Some(locks) = self.source.options.locks.clone() else { return };
        self.effects
            .spawn(async move { Some(Msg::HolderFound(task, ForeignHolder::find(port, locks, own).await)) });
    }

    /// Waits for the next runtime of the workspace, now that this one is gone.
    pub(super) fn await_next_runtime(&mut self) {
        let successors = self.source.options.successors(&self.app.state.view.snapshot.workspace);
        successors.into_iter().for_each(|successors| drop(self.next_runtime.spawn(successors.next())));
    }

    /// Shows the next runtime of the workspace.
    pub(super) fn attach_next(&mut self, operator: Operator) -> Msg {
        let snapshot = operator.of_others(&operator.snapshot().borrow());
        self.hold(operator);
        Msg::NextRuntime(snapshot)
    }

    /// Uses another operator handle from now on.
    fn hold(&mut self, operator: Operator) {
        self.effects.hold(operator.clone());
        self.operator = operator;
        // It does not know yet which panes are visible, so they are announced again.
        self.times.has_other_hold = true;
        self.app.panes.show_again();
        self.app.state.touch();
    }
}

impl Effects {
    /// Uses another operator handle from now on. Input typed before still goes to where it was meant to go.
    pub(in crate::console) fn hold(&mut self, operator: Operator) {
        let (typed, typist) = typist(operator.clone(), self.news.clone());
        let before = std::mem::replace(&mut self.typist, typist);
        (self.operator, self.typed) = (operator, typed);
        self.running.spawn(async move {
            before.await;
            None
        });
    }

    /// Lists this user's runtimes on this machine.
    pub(in crate::console) fn list_running(&mut self, locks: Option<Locks>) {
        let all = move || Some(Msg::Running(RunningRuntime::list(&locks?)));
        self.running.spawn_blocking(all);
    }
}
