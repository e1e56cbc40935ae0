//! Collects definitions and reports duplicates: agents, blocks, used programs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::ast::{AgentDefinition, BlockDefinition, Name, Program, Use, UsePath};
use crate::codes::RuleCode;
use crate::diagnostic::Reports;
use crate::source::Span;

pub(super) struct Definitions<'a> {
    pub(super) agents: HashMap<&'a str, &'a AgentDefinition>,
    pub(super) blocks: HashMap<&'a str, &'a BlockDefinition>,
    pub(super) uses: HashMap<&'a str, &'a Use>,
    /// The names that skills can have.
    pub(super) skills: HashSet<&'a str>,
    /// Names whose values could not be parsed.
    pub(super) unread: HashMap<&'a str, Span>,
}

impl<'a> Definitions<'a> {
    pub(super) fn collect(program: &'a Program, reports: &mut Reports) -> Self {
        let agents = by_name(&program.agents, |agent| &agent.name, RuleCode::E006, "agent", reports);
        for BlockDefinition { name, .. } in program.blocks.iter().map(AsRef::as_ref) {
            if let Some(agent) = agents.get(name.as_str()) {
                let message = format!("the block `{}` has the name of an agent", name.text);
                reports.add(RuleCode::HPE003, name.span, message).relate(agent.name.span, "the agent");
            }
        }
        let blocks = by_name(&program.blocks, |block| &block.name, RuleCode::HPE006, "block", reports);
        let uses = uses(program, reports);
        let skills = skills(program);
        let unread = program.unread.iter().map(|name| (name.as_str(), name.span)).collect();
        Self { agents, blocks, uses, skills, unread }
    }
}

/// Returns definitions by name; the first of those with the same name.
fn by_name<'a, T>(
    all: &'a [Arc<T>],
    name_of: fn(&T) -> &Name,
    code: RuleCode,
    what: &str,
    reports: &mut Reports,
) -> HashMap<&'a str, &'a T> {
    let mut known: HashMap<&str, &T> = HashMap::new();
    for one in all {
        let name = name_of(one);
        if let Some(first) = known.get(name.as_str()) {
            let message = format!("the {what} `{}` is already defined", name.text);
            reports.add(code, name.span, message).relate(name_of(first).span, "first defined here");
        } else {
            known.insert(name.as_str(), one);
        }
    }
    known
}

fn uses<'a>(program: &'a Program, reports: &mut Reports) -> HashMap<&'a str, &'a Use> {
    let mut uses: HashMap<&str, &Use> = HashMap::new();
    let mut paths: HashMap<&str, &Use> = HashMap::new();
    for used in &program.uses {
        let path = used.path.value.trim_start_matches('@');
        let first = paths.get(path).filter(|first| first.name() == used.name()).copied();
        let named = used.name().and_then(|called| uses.get(called).copied());
        if let Some(first) = first {
            let message = format!("\"{}\" is used twice", used.path.value);
            reports.add(RuleCode::E010, used.path.span, message).relate(first.path.span, "first used here");
        } else if let (Some(first), Some(called)) = (named, used.name()) {
            let message = format!("another program is used as `{called}`");
            reports
                .add(RuleCode::E010, used.alias.as_ref().map_or(used.path.span, |alias| alias.span), message)
                .relate(first.span, "the other one")
                .hint("give this one another name with `as name`");
        }
        paths.entry(path).or_insert(used);
        if let Some(called) = used.name() {
            uses.entry(called).or_insert(used);
        }
    }
    uses
}

fn skills(program: &Program) -> HashSet<&str> {
    let mut skills = HashSet::new();
    for used in &program.uses {
        skills.extend(used.name());
        skills.insert(&*used.path.value);
        if let UsePath::Registry { slug, .. } = &used.from {
            skills.insert(slug);
        }
    }
    skills.extend(program.skills.iter().filter_map(|import| import.skill.as_literal()));
    skills
}
