//! Lanes: which there are, whether they close while memory is short, and what the record suggests. Nothing is changed.

use super::finding::Area::System;
use super::finding::DoctorFinding;
use crate::config::{Lane, LoadedSettings};
use crate::paths::Places;
use crate::runtime::memory_pressure;
use crate::runtime::past::{Crowd, crowds};

/// So many long commands at the same time are worth a hint although none of them ran out of memory.
const MANY: usize = 3;
/// The most hints.
const MOST: usize = 3;

/// Looks at the settings and the record.
pub(super) async fn look(places: &Places) -> Vec<DoctorFinding> {
    // Settings with a fault are reported by the commands that need them.
    let loaded = LoadedSettings::read(&places.config_dir, &places.workspace).ok();
    let lanes = loaded.map(|loaded| loaded.settings.lanes).unwrap_or_default();
    let recordings = places.recordings();
    let crowds = tokio::task::spawn_blocking(move || crowds(&recordings)).await.unwrap_or_default();
    findings(&lanes, memory_pressure(), &crowds)
}

fn findings(lanes: &[Lane], pressure: Option<f32>, crowds: &[Crowd]) -> Vec<DoctorFinding> {
    let told: Vec<String> = lanes.iter().map(|lane| format!("{} {}", lane.name, lane.slots)).collect();
    let mut all = vec![match (lanes, pressure) {
        ([], _) => System.ok("lanes", "none"),
        (_, Some(_)) => System.ok("lanes", told.join(", ")),
        (_, None) => {
            let found = format!("{}; the kernel does not report the pressure of memory", told.join(", "));
            System.note("lanes", found)
        }
    }];
    let is_worth_it = |crowd: &&Crowd| crowd.out_of_memory > 0 || crowd.together >= MANY;
    let is_new = |crowd: &&Crowd| lanes.iter().all(|lane| !lane.takes(&crowd.prefix));
    all.extend(crowds.iter().filter(is_worth_it).filter(is_new).take(MOST).map(hint));
    all
}

fn hint(crowd: &Crowd) -> DoctorFinding {
    let Crowd { prefix, together, out_of_memory } = crowd;
    let ended = match out_of_memory {
        0 => String::new(),
        1 => ", and 1 was ended for lack of memory".to_owned(),
        many => format!(", and {many} were ended for lack of memory"),
    };
    let found = format!("{together} commands `{prefix}` ran at the same time{ended}");
    let name: String = prefix
        .split([' ', '/'])
        .next()
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let name = if name.is_empty() { "lane".to_owned() } else { name };
    let prefix = serde_json::Value::from(prefix.as_str());
    System
        .note("lane", found)
        .fix(format!("in config.toml: [[lanes]] name = \"{name}\", slots = 2, prefix = [{prefix}]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::doctor::finding::FindingState;

    #[test]
    fn a_lane_is_suggested_for_crowded_commands_that_ran_out_of_memory_and_have_none() {
        let crowd =
            |prefix: &str, together, out_of_memory| Crowd { prefix: prefix.into(), together, out_of_memory };
        let crowds = [crowd("cargo build", 2, 1), crowd("make", 4, 0), crowd("npm test", 2, 0)];
        let found = findings(&[], Some(0.0), &crowds);
        assert_eq!((found[0].state, found[0].found.as_str()), (FindingState::Ok, "none"));
        let told = "2 commands `cargo build` ran at the same time, and 1 was ended for lack of memory";
        assert_eq!((found[1].state, found[1].found.as_str()), (FindingState::Note, told));
        let fix = "in config.toml: [[lanes]] name = \"cargo\", slots = 2, prefix = [\"cargo build\"]";
        assert_eq!(found[1].fix.as_deref(), Some(fix));
        assert_eq!(found.len(), 3, "two at once are no crowd");
        let lane = Lane { name: "build".into(), slots: 2, prefix: vec!["cargo".into(), "make".into()] };
        let found = findings(&[lane], None, &crowds);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].found, "build 2; the kernel does not report the pressure of memory");
    }
}
