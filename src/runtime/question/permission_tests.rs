//! Tests of what is permitted of agents' further prompts: what it covers, what ends it, and that nothing else ever allows.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::machine::{FactReply, QuestionMachine};
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::model::{
    ALIKE_FOR, AgentPrompt, AnswerInput, AnswerRefusal, AnswerValue, AnsweredPrompts, AnsweredWhich,
    CallLikeness, Evidence, NewQuestion, PermissionEnd, Principal, QuestionFact, QuestionId, QuestionKind,
    QuestionOrigin, QuestionOutcome,
};

const WHILE: u64 = ALIKE_FOR.as_secs();

fn at(seconds: u64) -> Moment {
    let wall = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(i64::try_from(seconds).expect("small"));
    Moment { mono: Duration::from_secs(seconds), wall }
}

fn id(number: usize) -> QuestionId {
    let mut random = [0; 8];
    random[..4].copy_from_slice(&u32::try_from(number).expect("small").to_be_bytes());
    QuestionId::from_random(random)
}

/// A prompt about one of several calls in one of several sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    session: u8,
    call: u8,
    has_rule: bool,
}

fn call(session: u8, call: u8) -> Call {
    Call { session, call, has_rule: false }
}

fn asking(of: Call) -> NewQuestion {
    let prompt = AgentPrompt {
        session: of.session.to_string(),
        alike: CallLikeness { hash: format!("{} {}", of.session, of.call), words: None },
        rule: of.has_rule.then(|| "every command".to_owned()),
        ..AgentPrompt::default()
    };
    NewQuestion {
        origin: QuestionOrigin::default(),
        asked_by: Actor::Agent("a".into()),
        kind: QuestionKind::AgentPrompt(prompt),
        text: of.call.to_string(),
        evidence: Evidence::default(),
        within: None,
        agents: false,
        expected: None,
    }
}

fn event(session: u8, which: AnsweredWhich, now: u64) -> AnsweredPrompts {
    AnsweredPrompts { agent: "a".into(), session: session.to_string(), which, at: at(now).wall }
}

/// A machine in which prompts are asked and answered, each number once.
#[derive(Default)]
struct Desk {
    machine: QuestionMachine,
    asked: usize,
}

impl Desk {
    /// Asks; tells whether a permission allows it.
    fn asks(&mut self, now: u64, of: Call) -> bool {
        self.asked += 1;
        let id = id(self.asked);
        self.machine.ask(at(now), id.clone(), asking(of));
        assert_eq!(self.machine.apply_record(at(now), &id, true), FactReply::Opened);
        let Some(fact) = self.machine.permit(at(now), &id) else { return false };
        assert!(matches!(fact, QuestionFact::Answered { .. }));
        assert_eq!(self.machine.questions().len(), 0, "nobody is shown it");
        matches!(
            self.machine.apply_record(at(now), &id, true),
            FactReply::Asker(QuestionOutcome::Answered(_))
        )
    }

    /// Asks, and answers it so.
    fn answers(&mut self, now: u64, of: Call, value: AnswerValue) -> Result<(), AnswerRefusal> {
        assert!(!self.asks(now, of), "it has to be asked");
        let given = AnswerInput { value, note: None };
        self.machine.answer(at(now), &Actor::Operator, &id(self.asked), given)?;
        let told = self.machine.apply_record(at(now), &id(self.asked), true);
        assert!(matches!(told, FactReply::Asker(QuestionOutcome::Answered(_))));
        Ok(())
    }

    fn given(value: AnswerValue) -> Self {
        let mut desk = Self::default();
        desk.answers(0, call(1, 1), value).expect("taken");
        desk
    }
}

#[test]
fn a_permission_for_a_turn_covers_all_prompts_of_its_session_until_the_turn_ends() {
    let mut desk = Desk::given(AnswerValue::ApproveTurn);
    assert!(desk.asks(1, call(1, 1)) && desk.asks(100_000, call(1, 2)));
    assert!(!desk.asks(2, call(2, 1)), "another session");
    assert!(!desk.asks(2, Call { has_rule: true, ..call(1, 1) }), "what our own rules hold");
    let subagent = AnsweredWhich::Of(Some("b".into()));
    for other in [
        event(2, AnsweredWhich::All, 3),
        event(1, subagent, 3),
        event(1, AnsweredWhich::Calls(Vec::new()), 3),
    ] {
        assert_eq!(desk.machine.end_permissions(at(3), &other), [], "{other:?}");
    }
    let ended = desk.machine.end_permissions(at(4), &event(1, AnsweredWhich::Of(None), 4));
    let why = PermissionEnd::Turn;
    assert_eq!(ended, [QuestionFact::PermissionEnded { id: id(1), why, at: at(4).wall, console: None }]);
    assert!(!desk.asks(5, call(1, 1)));
}

#[test]
fn a_permission_for_alike_prompts_lasts_for_a_while_and_across_turns() {
    let mut desk = Desk::given(AnswerValue::ApproveAlike);
    assert!(desk.asks(WHILE - 1, call(1, 1)));
    assert!(!desk.asks(1, call(1, 2)) && !desk.asks(1, call(2, 1)));
    assert_eq!(desk.machine.end_permissions(at(2), &event(1, AnsweredWhich::Of(None), 2)), []);
    assert_eq!(desk.machine.next_due(), Some(Duration::from_secs(WHILE)));
    assert!(!desk.asks(WHILE, call(1, 1)), "over before its end is noted");
    assert_eq!(desk.machine.due(at(WHILE - 1)), []);
    let [QuestionFact::PermissionEnded { why: PermissionEnd::Expired, .. }] = desk.machine.due(at(WHILE))[..]
    else {
        panic!("expired")
    };
    assert_eq!((desk.machine.permissions(), desk.machine.next_due()), (Vec::new(), None));
    // A machine that slept, and a clock that was set.
    let desk = Desk::given(AnswerValue::ApproveAlike);
    let mut slept = desk;
    slept.asked += 1;
    slept.machine.ask(at(1), id(2), asking(call(1, 1)));
    slept.machine.apply_record(at(1), &id(2), true);
    assert_eq!(slept.machine.permit(Moment { wall: at(WHILE).wall, ..at(1) }, &id(2)), None);
    assert_eq!(slept.machine.permit(Moment { wall: at(0).wall, ..at(WHILE) }, &id(2)), None);
}

#[test]
fn a_permission_ends_with_the_session_a_pause_the_agent_or_a_revocation() {
    type Ending = fn(&mut QuestionMachine) -> Vec<QuestionFact>;
    let ends: [(Ending, PermissionEnd); 4] = [
        (|machine| machine.end_permissions(at(1), &event(1, AnsweredWhich::All, 1)), PermissionEnd::Session),
        (|machine| machine.pause(at(1), true), PermissionEnd::Paused),
        (|machine| machine.agent_gone(at(1), "a"), PermissionEnd::Session),
        (|machine| machine.revoke(at(1)), PermissionEnd::Revoked),
    ];
    for value in [AnswerValue::ApproveTurn, AnswerValue::ApproveAlike] {
        for (end, expected) in ends {
            let mut desk = Desk::given(value.clone());
            assert_eq!(desk.machine.permissions().len(), 1);
            let [QuestionFact::PermissionEnded { why, .. }] = end(&mut desk.machine)[..] else {
                panic!("ended")
            };
            assert_eq!((why, desk.machine.permissions()), (expected, Vec::new()));
            assert!(!desk.asks(2, call(1, 1)));
        }
        // None is given while agents are paused, nor for what our own rules hold.
        let mut desk = Desk::default();
        desk.machine.pause(at(0), true);
        let refused = desk.answers(0, call(1, 1), value.clone());
        assert_eq!(refused, Err(AnswerRefusal::Paused { id: id(1) }));
        let mut desk = Desk::default();
        let refused = desk.answers(0, Call { has_rule: true, ..call(1, 1) }, value);
        assert!(matches!(refused, Err(AnswerRefusal::DoesNotFit { .. })), "{refused:?}");
    }
    let late = event(1, AnsweredWhich::All, 0);
    let mut desk = Desk::default();
    desk.answers(5, call(1, 1), AnswerValue::ApproveTurn).expect("taken");
    assert_eq!(desk.machine.end_permissions(at(6), &late), [], "that was before it was asked");
}

#[test]
fn only_the_person_permits_and_an_answer_that_is_not_on_record_permits_nothing() {
    let mut desk = Desk::default();
    assert!(!desk.asks(0, call(1, 1)));
    for by in [Actor::Agent("a".into()), Actor::Cli, Actor::System] {
        let given = AnswerInput { value: AnswerValue::ApproveTurn, note: None };
        let refused = desk.machine.answer(at(0), &by, &id(1), given);
        assert_eq!(refused, Err(AnswerRefusal::OperatorOnly { id: id(1) }), "{by}");
    }
    let given = AnswerInput { value: AnswerValue::ApproveTurn, note: None };
    desk.machine.answer(at(0), &Actor::Operator, &id(1), given).expect("taken");
    assert_eq!(desk.machine.apply_record(at(0), &id(1), false), FactReply::NotAnswered);
    assert_eq!(desk.machine.permissions(), []);
    assert!(!desk.asks(1, call(1, 2)));
}

#[test]
fn a_prompt_says_how_those_like_it_were_answered_in_its_session() {
    let mut desk = Desk::default();
    for value in [AnswerValue::Approve, AnswerValue::Reject, AnswerValue::ApproveAlike] {
        desk.answers(0, call(1, 1), value).expect("taken");
    }
    assert!(desk.asks(1, call(1, 1)), "a further one");
    desk.machine.revoke(at(1));
    let mut before = |of: Call| {
        desk.asks(2, of);
        let asked = desk.machine.questions().pop().expect("asked");
        let QuestionKind::AgentPrompt(prompt) = &asked.kind else { panic!("a prompt") };
        (prompt.before.allowed, prompt.before.refused)
    };
    assert_eq!((before(call(1, 1)), before(call(1, 2)), before(call(2, 1))), ((3, 1), (0, 0), (0, 0)));
}

#[derive(Debug, Clone)]
enum Move {
    Ask(Call),
    /// The agent asks about another call instead.
    Change(usize, Call),
    Answer(usize, AnswerValue),
    Withdraw(usize, bool),
    Recorded(usize, bool),
    Happened(u8, bool),
    Pause(bool),
    Revoke,
    Gone,
    Watched(bool),
    Wait(u64),
}

fn moves() -> impl Strategy<Value = Move> {
    let calls = (0..2_u8, 0..3_u8, prop::bool::weighted(0.2));
    let calls = calls.prop_map(|(session, call, has_rule)| Call { session, call, has_rule });
    let values = prop::sample::select(vec![
        AnswerValue::Approve,
        AnswerValue::ApproveTurn,
        AnswerValue::ApproveAlike,
        AnswerValue::Reject,
    ]);
    prop_oneof![
        6 => calls.clone().prop_map(Move::Ask),
        1 => (0..4_usize, calls).prop_map(|(back, call)| Move::Change(back, call)),
        6 => (0..4_usize, values).prop_map(|(back, value)| Move::Answer(back, value)),
        1 => (0..4_usize, any::<bool>()).prop_map(|(back, there)| Move::Withdraw(back, there)),
        14 => (0..4_usize, prop::bool::weighted(0.9)).prop_map(|(back, ok)| Move::Recorded(back, ok)),
        1 => (0..2_u8, any::<bool>()).prop_map(|(session, all)| Move::Happened(session, all)),
        1 => any::<bool>().prop_map(Move::Pause),
        1 => Just(Move::Revoke),
        1 => Just(Move::Gone),
        1 => prop::bool::weighted(0.8).prop_map(Move::Watched),
        2 => (0..500_u64).prop_map(Move::Wait),
    ]
}

/// What the rules say is permitted, kept beside the machine.
#[derive(Debug, Clone, Copy)]
struct Expected {
    session: u8,
    /// Only calls like this one, until then.
    alike: Option<(u8, u64)>,
    number: usize,
}

impl Expected {
    fn covers(&self, now: u64, of: Call) -> bool {
        let is_meant = self.alike.is_none_or(|(call, until)| call == of.call && now < until);
        self.session == of.session && is_meant && !of.has_rule
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Whatever races with whatever: a prompt is allowed by a person's answer to that very prompt, or by what a person
    /// permitted and nothing has ended; never by the end of anything, and each at most once.
    #[test]
    fn nothing_but_a_persons_word_allows_a_prompt(moves in prop::collection::vec(moves(), 0..120)) {
        let (mut machine, mut now, mut watched, mut paused) = (QuestionMachine::default(), 0, true, false);
        let mut asked: Vec<Call> = Vec::new();
        let mut said: BTreeMap<usize, AnswerValue> = BTreeMap::new();
        let mut by_permission: BTreeMap<usize, usize> = BTreeMap::new();
        let mut over: Vec<usize> = Vec::new();
        let mut expected: Vec<Expected> = Vec::new();
        let last = |asked: &[Call], back: usize| asked.len().checked_sub(1 + back);
        for step in moves {
            match step {
                Move::Ask(call) => {
                    machine.ask(at(now), id(asked.len()), asking(call));
                    asked.push(call);
                }
                Move::Change(back, call) => {
                    let Some(old) = last(&asked, back) else { continue };
                    if machine.withdraw(at(now), &id(old), false).is_some() {
                        over.push(old);
                    }
                    machine.ask(at(now), id(asked.len()), asking(call));
                    asked.push(call);
                }
                Move::Answer(back, value) => {
                    let Some(which) = last(&asked, back) else { continue };
                    let given = AnswerInput { value: value.clone(), note: None };
                    if machine.answer(at(now), &Actor::Operator, &id(which), given).is_ok() {
                        prop_assert!(!over.contains(&which), "an answer to what is over");
                        let permits = matches!(value, AnswerValue::ApproveTurn | AnswerValue::ApproveAlike);
                        prop_assert!(!permits || !(paused || asked[which].has_rule));
                        said.insert(which, value);
                    }
                }
                Move::Withdraw(back, in_agent) => {
                    let Some(which) = last(&asked, back) else { continue };
                    if machine.withdraw(at(now), &id(which), in_agent).is_some() {
                        prop_assert!(!over.contains(&which));
                        over.push(which);
                    }
                }
                Move::Recorded(back, ok) => {
                    let Some(which) = last(&asked, back) else { continue };
                    match machine.apply_record(at(now), &id(which), ok) {
                        FactReply::Opened => {
                            let covered = expected.iter().any(|given| given.covers(now, asked[which]));
                            let permitted = watched.then(|| machine.permit(at(now), &id(which))).flatten();
                            prop_assert_eq!(permitted.is_some(), covered && watched && !paused);
                            if let Some(QuestionFact::Answered { answer, .. }) = permitted {
                                let Principal::Permission(number) = answer.principal else { panic!("{answer:?}") };
                                by_permission.insert(which, usize::try_from(number).expect("small") - 1);
                            }
                        }
                        FactReply::Asker(QuestionOutcome::Answered(answer)) => {
                            prop_assert!(!over.contains(&which), "told twice, or after its end");
                            over.push(which);
                            match answer.principal {
                                Principal::Actor(Actor::Operator) => {
                                    prop_assert_eq!(said.get(&which), Some(&answer.value), "{}", which);
                                    let alike = match answer.value {
                                        AnswerValue::ApproveTurn => None,
                                        AnswerValue::ApproveAlike => Some((asked[which].call, now + WHILE)),
                                        _ => continue,
                                    };
                                    let session = asked[which].session;
                                    let is_same = |given: &Expected| {
                                        given.session == session
                                            && given.alike.map(|alike| alike.0) == alike.map(|alike| alike.0)
                                    };
                                    expected.retain(|given| !is_same(given));
                                    if !paused {
                                        expected.push(Expected { session, alike, number: which });
                                    }
                                }
                                Principal::Permission(number) => {
                                    let by = by_permission.get(&which).copied();
                                    prop_assert_eq!(by, usize::try_from(number).ok().map(|number| number - 1));
                                    let by = by.expect("permitted");
                                    prop_assert!(said.contains_key(&by) && answer.value == AnswerValue::Approve);
                                }
                                other => prop_assert!(false, "{other} answered"),
                            }
                        }
                        FactReply::Asker(QuestionOutcome::TimedOut { .. }) => prop_assert!(false, "no time limit"),
                        FactReply::NotAsked => over.push(which),
                        FactReply::NotAnswered => drop((said.remove(&which), by_permission.remove(&which))),
                        FactReply::Nobody => {}
                    }
                }
                Move::Happened(session, all) => {
                    let which = if all { AnsweredWhich::All } else { AnsweredWhich::Of(None) };
                    machine.end_permissions(at(now), &event(session, which, now));
                    expected.retain(|given| given.session != session || !all && given.alike.is_some());
                }
                Move::Pause(is_paused) => {
                    machine.pause(at(now), is_paused);
                    paused = is_paused;
                    expected.retain(|_| !is_paused);
                }
                Move::Revoke => {
                    machine.revoke(at(now));
                    expected.clear();
                }
                Move::Gone => {
                    machine.agent_gone(at(now), "a");
                    expected.clear();
                }
                Move::Watched(is_watched) => watched = is_watched,
                Move::Wait(seconds) => {
                    now += seconds;
                    machine.due(at(now));
                    expected.retain(|given| given.alike.is_none_or(|(_, until)| now < until));
                    prop_assert!(machine.next_due().is_none_or(|due| due > at(now).mono));
                }
            }
            let mut shown: Vec<usize> =
                machine.permissions().iter().map(|given| usize::try_from(given.number).expect("small") - 1).collect();
            let mut known: Vec<usize> = expected.iter().map(|given| given.number).collect();
            shown.sort_unstable();
            known.sort_unstable();
            prop_assert_eq!(shown, known);
        }
    }
}
