//! What has changed in the files since an agent's first call, according to git. It runs as a task of the
//! user's, because a repository can make git run programs of its own, and those belong where everything else
//! that an agent could have set up runs. Nothing is written, not even git's index.

use std::path::Path;

use jiff::Timestamp;
use serde_json::json;

use crate::console::effect::Effect;
use crate::console::state::{ListChoice, Screen, State, who};
use crate::console::text::visible;
use crate::console::widgets::{Chooser, ListItem, ListKind};
use crate::envelope::Actor;
use crate::model::{AgentView, PlaceId};

/// The script to run; `SINCE` is replaced by the time. Files are listed by modification time, because git
/// does not know what had been changed but not committed before the first call. No argument of `find` begins
/// with a file name, so that a name cannot be taken for an option.
const SCRIPT: &str = r#"# files changed since the first call of an agent
since='SINCE'
git='git --no-optional-locks --no-pager -c core.fsmonitor=false'
written() { find "$@" -newermt "$since" -print 2>/dev/null | head -n 500; }
if ! command -v git >/dev/null 2>&1; then
  echo "git is not installed. Files written since $since, by their times:"; written . -type f; exit
fi
if ! top=$(git rev-parse --show-toplevel 2>/dev/null); then
  echo "No git repository. Files written since $since, by their times:"; written . -type f; exit
fi
cd "$top" || exit
echo "Written since $since and not committed, by their times, without what git ignores:"
$git ls-files -z -m -o --exclude-standard | xargs -0 -r sh -c '
  for file do set -- "$@" "./$file"; shift; done
  find "$@" -maxdepth 0 -newermt "$0" -print 2>/dev/null' "$since"
echo; echo "Against the commit of that time, with what had been changed before and was not committed:"
$git diff --no-ext-diff --no-textconv --stat "HEAD@{$since}"
echo; echo "Not committed now (git status --short):"
$git status --short"#;

/// Shows what has changed since an agent's first call: the current task's agent, the only agent, or one
/// chosen from several.
pub(in crate::console) fn show_changes(state: &mut State) -> Option<Chooser> {
    let task = state.at_hand().cloned();
    let own = task.as_ref().and_then(|task| began(state, &task.started_by).map(|at| (task, at)));
    if let Some((task, at)) = own {
        let (label, folder) = (who(&task.started_by), task.workdir.clone());
        let place = task.place.as_ref().map(|place| place.id.clone());
        run_changes(state, &label, at, &folder, place);
        return None;
    }
    match &callers(state)[..] {
        [] => None,
        [(label, _)] => {
            show_changes_of(state, &label.clone());
            None
        }
        several => {
            let items = several.iter().map(|(label, at)| {
                let at = at
                    .to_zoned_datetime(state.setup.zone.clone())
                    .strftime("first call at %H:%M:%S")
                    .to_string();
                ListItem::new(visible::one_line(label).into_owned(), at, ListChoice::Changes(label.clone()))
            });
            Some(Chooser::new(ListKind::Agents, items.collect()))
        }
    }
}

/// Does the same for the agent with this label.
pub(in crate::console) fn show_changes_of(state: &mut State, label: &str) {
    let Some(at) = began(state, &Actor::Agent(label.to_owned())) else { return };
    let place = state.place_of_agent(label);
    let workspace = place.map_or(&state.view.snapshot.workspace, |place| &place.workspace).clone();
    let place = place.map(|place| place.name.id.clone());
    run_changes(state, label, at, &workspace, place)
}

fn run_changes(state: &mut State, label: &str, at: Timestamp, folder: &Path, place: Option<PlaceId>) {
    let since = at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let input = json!({
        "cmd": SCRIPT.replace("SINCE", &since),
        "workdir": folder,
        "shell": "/bin/sh",
        "login": false,
        "tty": true,
        "yield_time_ms": 0,
        "description": format!("files changed since the first call of {}", visible::one_line(label)),
    });
    state.focus.screen = Screen::Focus;
    state.effects.push(Effect::call_at(place, "ExecCommand", input));
}

/// Tells whether any agent has made a call.
pub(in crate::console) fn has_caller(state: &State) -> bool {
    !callers(state).is_empty()
}

/// Returns the agents that have made calls, with the time of their first.
fn callers(state: &State) -> Vec<(String, Timestamp)> {
    let agents = state.view.snapshot.agents.iter();
    let first = |agent: &AgentView| began(state, &Actor::Agent(agent.label.clone()));
    agents.filter_map(|agent| Some((agent.label.clone(), first(agent)?))).collect()
}

/// Returns when an agent made its first call, if known.
fn began(state: &State, actor: &Actor) -> Option<Timestamp> {
    let Actor::Agent(label) = actor else { return None };
    let known = state.view.snapshot.agents.iter().find(|agent| agent.label == *label);
    let listed = || state.view.snapshot.calls.iter().find(|call| call.actor == *actor).map(|call| call.at);
    known.and_then(|agent| agent.first_call).or_else(listed)
}
