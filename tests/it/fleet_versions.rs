//! A place whose runtime speaks another version of the link: it is not attached and says what to do, and is attached
//! once a runtime of this version replaces it.

use pilothouse::link::{Fleet, Operator, Request, VERSION};
use pilothouse::model::{PlaceLink, Snapshot};
use serde_json::json;

use crate::link_fleet::{is, place, published};
use crate::support::{Home, Speaking};

/// Tells whether the place is lost for a reason that contains all of this.
fn is_refused(snapshot: &Snapshot, parts: &[&str]) -> bool {
    is(
        snapshot,
        "other",
        |link| matches!(link, PlaceLink::Lost { why, .. } if parts.iter().all(|part| why.contains(part))),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_of_another_version_says_what_to_do_and_is_attached_once_it_is_replaced() {
    let (here, there) = (Home::new(), Home::new());
    let other = there.another("other");
    let run = |words: &[&str]| assert!(other.run(words).status.success(), "{words:?}");
    tokio::task::block_in_place(|| run(&["command", "run", "true"]));
    let speaking = Speaking::new(&here, &other);
    let ends = format!("with `kill {}`, and start this one", std::process::id());
    for (version, cure) in [(VERSION + 1, "use the newer pilothouse"), (VERSION - 1, &ends)] {
        let fleet = Operator::Fleet(Fleet::of_this_machine(&here.places().locks(), None));
        let end = speaking.speak(version);
        let (theirs, ours) =
            (format!("this runtime version {version}"), format!("client speaks version {VERSION}"));
        let told = published(&fleet, cure, |snapshot| is_refused(snapshot, &[&theirs, &ours, cure])).await;
        let id = place(&told, "other").expect("a place").name.id.clone();
        let request = Request::call("ExecCommand", json!({"cmd": "true"}));
        let refused = fleet.ask_at(Some(&id), request).await.expect_err("refused").to_string();
        assert!(refused.starts_with("other is lost: ") && refused.contains(cure), "{refused}");
        end.cancel();
        let end = speaking.speak(VERSION);
        published(&fleet, "it as one of this version", |snapshot| {
            is(snapshot, "other", |link| *link == PlaceLink::Live)
        })
        .await;
        let request = Request::call("ExecCommand", json!({"cmd": "true"}));
        fleet.ask_at(Some(&id), request).await.expect("carried out");
        end.cancel();
    }
    tokio::task::block_in_place(|| drop(other));
}
