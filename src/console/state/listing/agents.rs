//! Which agents have a row of their own above the tasks: those of which it is known what they do, and those that may yet
//! call. Pure.

use jiff::{SignedDuration, Timestamp};

use crate::console::state::listing::filter::{Filter, Filters};
use crate::console::state::listing::rows::ListRow;
use crate::envelope::Actor;
use crate::model::{AgentActivity, AgentView, AgentWork};

/// How long an agent that has ended keeps its row.
const KEPT: SignedDuration = SignedDuration::from_mins(15);

/// The most rows of agents: those that need the person, then those that work.
const MOST: usize = 6;

/// Returns the rows of agents that do what `works` says, in the order in which they came; those that have ended last.
pub(super) fn at_work(
    (agents, works): (&[AgentView], &[Option<AgentWork>]),
    filters: &Filters,
    now: Timestamp,
) -> Vec<ListRow> {
    let known = agents.iter().zip(works).enumerate();
    let listed = known.filter(|(_, (agent, work))| is_listed(agent, **work, filters, now));
    let mut agents: Vec<(usize, u8)> = listed.map(|(at, (_, work))| (at, rank(*work))).collect();
    if agents.len() > MOST {
        agents.sort_by_key(|(at, rank)| (*rank, *at));
        agents.truncate(MOST);
    }
    agents.sort_by_key(|(at, rank)| (*rank == ENDED, *at));
    agents.into_iter().map(|(at, _)| ListRow::Agent(at)).collect()
}

const ENDED: u8 = 4;

fn rank(work: Option<AgentWork>) -> u8 {
    match work.map(|work| work.activity) {
        Some(AgentActivity::NeedsYou) => 0,
        Some(AgentActivity::Working) => 1,
        None => 2,
        Some(AgentActivity::Idle) => 3,
        Some(AgentActivity::Ended) => ENDED,
    }
}

fn is_listed(agent: &AgentView, work: Option<AgentWork>, filters: &Filters, now: Timestamp) -> bool {
    let is_there = match work {
        Some(work) => work.activity != AgentActivity::Ended || now.duration_since(work.since) < KEPT,
        None => agent.connected && (agent.routes.launch || agent.routes.tools),
    };
    let is_asked_for = match &filters.whose {
        Some(whose) => whose.is_of(&Actor::Agent(agent.label.clone())),
        // What is looked for is a task.
        None => filters.state == Filter::All && filters.text.is_empty() && filters.place.is_none(),
    };
    is_there && is_asked_for
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::state::listing::filter::AgentFilter;
    use crate::model::AgentRoutes;

    #[test]
    fn two_sessions_have_two_rows_and_an_ended_session_loses_its_row_after_a_while() {
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1);
        let agent = |label: &str, work: Option<(AgentActivity, i64)>| AgentView {
            label: label.into(),
            connected: true,
            work: work
                .map(|(activity, ago)| AgentWork { activity, since: now - SignedDuration::from_mins(ago) }),
            ..AgentView::default()
        };
        let launched = AgentView {
            routes: AgentRoutes { launch: true, ..AgentRoutes::default() },
            ..agent("codex", None)
        };
        let agents = vec![
            agent("claude", Some((AgentActivity::Ended, 3))),
            agent("claude#2", Some((AgentActivity::Working, 30))),
            agent("claude#3", Some((AgentActivity::Ended, 20))),
            agent("shell", None),
            launched,
            AgentView { routes: AgentRoutes { tools: true, ..AgentRoutes::default() }, ..agent("mcp", None) },
        ];
        let works: Vec<_> = agents.iter().map(|agent| agent.work).collect();
        let rows = |filters: Filters| at_work((&agents, &works), &filters, now);
        assert_eq!(rows(Filters::default()), [1, 4, 5, 0].map(ListRow::Agent));
        let whose = Some(AgentFilter::Session("claude#2".into()));
        assert_eq!(rows(Filters { whose, ..Filters::default() }), [ListRow::Agent(1)]);
        assert_eq!(rows(Filters { text: "x".into(), ..Filters::default() }), []);
    }
}
