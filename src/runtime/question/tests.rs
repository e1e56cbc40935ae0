//! Tests of the question state machine, case by case.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::machine::{FactReply, QuestionMachine};
use crate::clock::Moment;
use crate::envelope::Actor;
use crate::model::{
    AnswerInput, AnswerRefusal, AnswerValue, Evidence, NewQuestion, QuestionFact, QuestionId, QuestionKind,
    QuestionOrigin, QuestionOutcome,
};

fn at(seconds: u64) -> Moment {
    let wall = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(i64::try_from(seconds).expect("small"));
    Moment { mono: Duration::from_secs(seconds), wall }
}

fn id(number: u8) -> QuestionId {
    QuestionId::from_random([number; 8])
}

fn asking(kind: QuestionKind, within: Option<u64>, agents: bool) -> NewQuestion {
    NewQuestion {
        origin: QuestionOrigin::default(),
        asked_by: Actor::Cli,
        kind,
        text: "go on?".to_owned(),
        evidence: Evidence::default(),
        within: within.map(Duration::from_secs),
        agents,
        expected: None,
    }
}

fn gate() -> QuestionKind {
    QuestionKind::Gate { allow: vec!["user".to_owned()] }
}

fn yes_no() -> QuestionKind {
    QuestionKind::YesNo { yes: String::new(), no: String::new() }
}

fn choice() -> QuestionKind {
    QuestionKind::Choice { labels: vec!["Ship".to_owned(), "wait".to_owned()] }
}

fn given(value: AnswerValue) -> AnswerInput {
    AnswerInput { value, note: None }
}

fn agent() -> Actor {
    Actor::Agent("claude".to_owned())
}

/// A state machine with one open question.
fn open_question(kind: QuestionKind, within: Option<u64>, agents: bool) -> QuestionMachine {
    let mut machine = QuestionMachine::default();
    machine.ask(at(0), id(1), asking(kind, within, agents));
    assert!(machine.questions().is_empty(), "nobody sees what is not on record");
    assert_eq!(machine.apply_record(at(0), &id(1), true), FactReply::Opened);
    assert_eq!(machine.questions().len(), 1);
    machine
}

#[test]
fn an_answer_is_final_once_it_is_on_record() {
    let mut machine = open_question(yes_no(), None, false);
    let fact = machine.answer(at(1), &Actor::Operator, &id(1), given(AnswerValue::Yes)).expect("taken");
    assert!(matches!(fact, QuestionFact::Answered { .. }));
    let again = machine.answer(at(2), &Actor::Operator, &id(1), given(AnswerValue::No));
    assert_eq!(again, Err(AnswerRefusal::Settled { id: id(1), how: "answered by operator".into() }));
    let FactReply::Asker(QuestionOutcome::Answered(answer)) = machine.apply_record(at(0), &id(1), true)
    else {
        panic!("told")
    };
    assert_eq!((answer.value, answer.at), (AnswerValue::Yes, at(1).wall));
    assert!(machine.questions().is_empty());
    let late = machine.answer(at(3), &Actor::Operator, &id(1), given(AnswerValue::No));
    assert_eq!(late, Err(AnswerRefusal::Settled { id: id(1), how: "answered by operator".into() }));
}

#[test]
fn an_answer_that_cannot_go_on_record_takes_no_effect() {
    let mut machine = open_question(gate(), Some(60), false);
    machine.answer(at(1), &Actor::Operator, &id(1), given(AnswerValue::Approve)).expect("taken");
    assert_eq!(machine.apply_record(at(0), &id(1), false), FactReply::NotAnswered);
    assert_eq!(machine.questions().len(), 1, "open again");
    assert_eq!(machine.due(at(60)).len(), 1, "its time still runs");
    // A timeout takes effect whether or not it was recorded.
    assert!(matches!(
        machine.apply_record(at(0), &id(1), false),
        FactReply::Asker(QuestionOutcome::TimedOut { .. })
    ));
}

#[test]
fn a_question_that_cannot_go_on_record_is_not_asked() {
    let mut machine = QuestionMachine::default();
    machine.ask(at(0), id(1), asking(yes_no(), None, true));
    assert_eq!(machine.apply_record(at(0), &id(1), false), FactReply::NotAsked);
    assert!(machine.questions().is_empty() && machine.unsettled_ids().is_empty());
}

#[test]
fn only_the_operator_answers_a_gate() {
    let mut machine = open_question(gate(), None, true);
    assert!(!machine.questions()[0].agents, "whatever was asked for");
    for by in [agent(), Actor::Cli, Actor::System] {
        let refused = machine.answer(at(1), &by, &id(1), given(AnswerValue::Approve));
        assert_eq!(refused, Err(AnswerRefusal::OperatorOnly { id: id(1) }), "{by}");
    }
    assert_eq!(machine.let_agents(&id(1), true), Err(AnswerRefusal::OperatorOnly { id: id(1) }));
    machine.comment(at(2), &agent(), &id(1), "the tests are green").expect("a comment is welcome");
    assert_eq!(machine.questions()[0].comments[0].text, "the tests are green");
    machine.answer(at(3), &Actor::Operator, &id(1), given(AnswerValue::Reject)).expect("taken");
}

#[test]
fn an_agent_answers_only_a_question_that_is_open_to_agents_and_only_with_a_fitting_value() {
    let mut machine = open_question(choice(), None, false);
    let label = |label: &str| given(AnswerValue::Choice(label.to_owned()));
    let refused = machine.answer(at(1), &agent(), &id(1), label("Ship"));
    assert_eq!(refused, Err(AnswerRefusal::NotForAgents { id: id(1) }));
    machine.let_agents(&id(1), true).expect("the operator hands it on");
    for bad in [label("ship"), label("Ship "), given(AnswerValue::Yes), given(AnswerValue::Abort)] {
        let refused = machine.answer(at(2), &agent(), &id(1), bad);
        assert!(matches!(refused, Err(AnswerRefusal::DoesNotFit { .. })), "{refused:?}");
        assert_eq!(machine.questions().len(), 1, "it stays open");
    }
    machine.answer(at(3), &agent(), &id(1), label("Ship")).expect("exactly a label");
}

#[test]
fn a_question_times_out_at_its_deadline_and_an_earlier_answer_wins() {
    let mut machine = open_question(gate(), Some(60), false);
    assert_eq!(machine.next_due(), Some(Duration::from_secs(60)));
    assert!(machine.due(at(59)).is_empty());
    machine.answer(at(59), &Actor::Operator, &id(1), given(AnswerValue::Approve)).expect("taken");
    assert!(machine.due(at(61)).is_empty(), "an answer on its way to the record is an answer");
    assert!(matches!(
        machine.apply_record(at(0), &id(1), true),
        FactReply::Asker(QuestionOutcome::Answered(_))
    ));

    let mut machine = self::open_question(gate(), Some(60), false);
    assert!(matches!(machine.due(at(60))[..], [QuestionFact::TimedOut { .. }]));
    assert!(machine.due(at(61)).is_empty(), "once");
    let late = machine.answer(at(61), &Actor::Operator, &id(1), given(AnswerValue::Approve));
    assert_eq!(late, Err(AnswerRefusal::Settled { id: id(1), how: "not answered in time".into() }));
}

#[test]
fn a_withdrawn_question_is_settled_and_an_answered_one_cannot_be_withdrawn() {
    let mut machine = open_question(yes_no(), Some(5), true);
    assert!(matches!(machine.withdraw(at(1), &id(1), false), Some(QuestionFact::Withdrawn { .. })));
    assert_eq!(machine.withdraw(at(1), &id(1), false), None);
    assert!(machine.due(at(9)).is_empty() && machine.questions().is_empty());
    let late = machine.answer(at(2), &Actor::Operator, &id(1), given(AnswerValue::Yes));
    assert_eq!(late, Err(AnswerRefusal::Settled { id: id(1), how: "withdrawn".into() }));

    let mut machine = self::open_question(yes_no(), None, true);
    machine.answer(at(1), &agent(), &id(1), given(AnswerValue::Yes)).expect("taken");
    assert_eq!(machine.withdraw(at(1), &id(1), false), None);
    assert!(matches!(machine.apply_record(at(0), &id(1), true), FactReply::Asker(_)));
}

#[test]
fn a_masked_text_is_on_record_by_its_length() {
    let mut machine = open_question(QuestionKind::Text { masked: true }, None, true);
    let secret = given(AnswerValue::Text("hunter2".to_owned()));
    assert!(
        machine.answer(at(1), &agent(), &id(1), secret.clone()).is_err(),
        "no agent is asked for a secret"
    );
    let fact = machine.answer(at(1), &Actor::Operator, &id(1), secret).expect("taken");
    let row = serde_json::to_string(&fact).expect("a row");
    assert!(row.contains(r#"{"hidden":7}"#) && !row.contains("hunter2"), "{row}");
    let FactReply::Asker(QuestionOutcome::Answered(answer)) = machine.apply_record(at(0), &id(1), true)
    else {
        panic!("told")
    };
    assert_eq!(answer.value, AnswerValue::Text("hunter2".to_owned()));
}

#[test]
fn an_answer_is_read_strictly() {
    let in_flight = QuestionKind::InFlight;
    for (kind, text, expected) in [
        (yes_no(), " Yes\n", Some(AnswerValue::Yes)),
        (yes_no(), "n", Some(AnswerValue::No)),
        (yes_no(), "true", Some(AnswerValue::Yes)),
        (yes_no(), "yes, because", None),
        (yes_no(), "abort", None),
        (choice(), "wait", Some(AnswerValue::Choice("wait".into()))),
        (choice(), "Wait", None),
        (gate(), "approve", Some(AnswerValue::Approve)),
        (gate(), "y", None),
        (in_flight.clone(), "rerun", Some(AnswerValue::Rerun)),
        (in_flight, "yes", None),
        (QuestionKind::Text { masked: false }, " as it is ", Some(AnswerValue::Text(" as it is ".into()))),
    ] {
        assert_eq!(kind.read(text), expected, "{text:?} to {kind:?}");
    }
}

#[test]
fn a_question_id_reads_back_and_a_task_id_is_refused() {
    assert_eq!(id(7).as_str().parse(), Ok(id(7)));
    for bad in ["", "question_", "question_short", "task_00000000", "question_0000000!"] {
        assert!(bad.parse::<QuestionId>().is_err(), "{bad}");
    }
}

#[derive(Debug, Clone)]
enum Move {
    Ask(u8, Option<u64>),
    Answer(u8, bool, bool),
    Withdraw(u8),
    Recorded(u8, bool),
    Wait(u64),
}

fn moves() -> impl Strategy<Value = Move> {
    let number = 0..4_u8;
    prop_oneof![
        (number.clone(), prop::option::of(0..20_u64)).prop_map(|(id, within)| Move::Ask(id, within)),
        (number.clone(), any::<bool>(), any::<bool>()).prop_map(|(id, by, yes)| Move::Answer(id, by, yes)),
        number.clone().prop_map(Move::Withdraw),
        (number, any::<bool>()).prop_map(|(id, ok)| Move::Recorded(id, ok)),
        (0..9_u64).prop_map(Move::Wait),
    ]
}

proptest! {
    /// Whatever the order of events, a question is settled at most once, by the operator or by its timeout.
    #[test]
    fn a_question_is_settled_at_most_once(moves in prop::collection::vec(moves(), 0..60)) {
        let (mut machine, mut now) = (QuestionMachine::default(), 0);
        let (mut asked, mut told) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
        for step in moves {
            match step {
                Move::Ask(number, within) => {
                    if asked.insert(number) {
                        machine.ask(at(now), id(number), asking(gate(), within, true));
                    }
                }
                Move::Answer(number, is_person, yes) => {
                    let by = if is_person { Actor::Operator } else { agent() };
                    let value = if yes { AnswerValue::Approve } else { AnswerValue::Reject };
                    let taken = machine.answer(at(now), &by, &id(number), given(value));
                    prop_assert!(is_person || taken.is_err());
                }
                Move::Withdraw(number) => {
                    if machine.withdraw(at(now), &id(number), false).is_some() {
                        prop_assert!(told.insert(number), "{number} withdrawn after it was told");
                    }
                }
                Move::Recorded(number, ok) => match machine.apply_record(at(now), &id(number), ok) {
                    FactReply::Asker(_) | FactReply::NotAsked => prop_assert!(told.insert(number), "{number} twice"),
                    FactReply::Nobody | FactReply::Opened | FactReply::NotAnswered => {}
                },
                Move::Wait(seconds) => {
                    now += seconds;
                    machine.due(at(now));
                    prop_assert!(machine.next_due().is_none_or(|due| due > at(now).mono));
                }
            }
            let open: Vec<_> = machine.questions().iter().map(|question| question.id.clone()).collect();
            prop_assert!(open.iter().all(|open| told.iter().all(|number| id(*number) != *open)));
        }
    }
}
