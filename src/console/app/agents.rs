//! Going to where an agent runs: the one on a card, or the one that is selected.

use std::sync::Arc;

use crate::console::app::App;
use crate::console::app::layer::Layer;
use crate::console::effect::Effect;
use crate::console::features::approval::decide;
use crate::console::msg::AgentPlace;
use crate::console::state::{Screen, owner};
use crate::console::text::visible;
use crate::model::TaskView;

impl App {
    /// Returns the label of the agent on the card, or else of the one that is selected or whose task or call is.
    pub(in crate::console) fn agent_to_show(&self) -> Option<String> {
        match self.layers.last() {
            Some(Layer::Question(dialog)) => owner(&dialog.question.asked_by),
            Some(Layer::Approval(card)) => card.call(&self.state).and_then(decide::told_of),
            _ => self.state.agent_at_hand(),
        }
    }

    /// Requests to go to where that agent runs, or says why that cannot be.
    pub(in crate::console) fn go_to_agent(&mut self) {
        let Some(label) = self.agent_to_show() else { return };
        let state = &mut self.state;
        let (place, name) = (state.place_of_agent(&label), visible::one_line(&label));
        let host = place.and_then(|place| place.host.as_deref()).map(visible::one_line);
        let agent = state.view.snapshot.agents.iter().find(|agent| agent.label == label);
        let Some(agent) = agent.filter(|agent| agent.connected && host.is_none()) else {
            let told = match host {
                Some(host) => format!("{name} runs on another machine: {host}"),
                None => format!("{name} is no longer there"),
            };
            return state.decline(told);
        };
        let place = place.map(|place| &place.name.id);
        let is_near = |task: &&Arc<TaskView>| task.place.as_ref().map(|place| &place.id) == place;
        let tasks = state.view.snapshot.tasks.iter().filter(|task| !task.status.is_terminal());
        let tasks = tasks.filter(is_near).filter_map(|task| Some((task.pid?, task.id.clone()))).collect();
        let pid = agent.pid;
        state.effects.push(Effect::GoToAgent { label, pid, tasks });
    }

    /// Shows the task that an agent runs in, or says where else it runs.
    pub(in crate::console) fn agent_found(&mut self, place: AgentPlace) {
        match place {
            AgentPlace::Task(task) => {
                self.layers.clear();
                self.state.select(task);
                self.state.show(Screen::Focus)
            }
            AgentPlace::Elsewhere(told) => self.state.say(visible::one_line(&told)),
        }
    }
}
