//! Opening other places besides the one the console was opened on.

use tokio::sync::mpsc;

use super::driver::Driver;
use super::effects::{Effects, KEYS_AHEAD, type_in_order};
use crate::console::msg::Msg;
use crate::link::{Fleet, Operator, Running};
use crate::paths::{Locks, workspace_id};

impl Driver {
    /// Shows another runtime of this machine too. The console of one runtime becomes a console of several.
    pub(in crate::console) fn open_place(&mut self, running: Running) {
        if let Some(fleet) = self.operator.fleet() {
            return fleet.open(running);
        }
        let Some(locks) = self.source.options.locks.clone() else { return };
        let home = workspace_id(&self.app.view.snapshot.workspace);
        let config = self.source.options.config.clone();
        let fleet = Fleet::around(self.operator.clone(), &home, &locks, config);
        fleet.open(running);
        self.operator = Operator::Fleet(fleet);
        self.effects.hold(self.operator.clone());
        // The fleet contains the handle used so far but does not know yet which panes are visible, so they
        // are announced again.
        self.times.has_other_hold = true;
        self.app.show_again();
    }
}

impl Effects {
    /// Uses another operator handle from now on. Input typed before still goes to where it was meant to go.
    pub(in crate::console) fn hold(&mut self, operator: Operator) {
        let (typed, keys) = mpsc::channel(KEYS_AHEAD);
        let typist = type_in_order(operator.clone(), keys, self.news.clone());
        (self.operator, self.typed) = (operator, typed);
        self.running.spawn(async move {
            typist.await;
            None
        });
    }

    /// Lists this user's runtimes on this machine.
    pub(in crate::console) fn list_running(&mut self, locks: Option<Locks>) {
        let all = move || Some(Msg::Running(Running::all(&locks?)));
        self.running.spawn_blocking(all);
    }
}
