//! A console attached to a runtime in another process, compared with one that has its own: keys, and the cost of a flood.

use std::time::Duration;

use super::echo::{LETTERS, type_into_echo};
use super::house::House;
use super::proc;
use super::report::{self, Target, median, ms, percentile};

/// The same amount in the same time, whoever reads it.
const FLOOD: &str = "while :; do seq 1000000 1040000; sleep 0.02; done";
const ROUNDS: usize = 5;
const KEYS: usize = 112;
const WATCHED: Duration = Duration::from_secs(4);

pub(crate) fn run() {
    report::head("attached console beside an embedded one, in turns");
    let mut houses = [House::open(), House::attached()];
    for house in &mut houses {
        type_into_echo(house);
        house.tty.rest(Duration::from_secs(1));
    }
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (house, times) in houses.iter_mut().zip(&mut times) {
            for (at, letter) in LETTERS.chars().cycle().take(KEYS).enumerate() {
                let key = letter.to_string();
                times.push(ms(house.tty.time_to(&key, &key)));
                // At varying distances from the last frame.
                house.tty.rest(Duration::from_millis(10 + (at as u64 * 7919) % 31));
            }
        }
    }
    drop(houses);
    let [own, other] = times;
    report::line("key to frame, embedded, p50", percentile(&own, 50), "ms", Target::None);
    report::line("key to frame, attached, p50", percentile(&other, 50), "ms", Target::None);
    let p99 = percentile(&own, 99);
    report::line("key to frame, embedded, p99", p99, "ms", Target::None);
    report::line(
        "key to frame, attached, p99",
        percentile(&other, 99),
        "ms",
        Target::AtMost(((p99 + 3.0) * 100.0).round() / 100.0),
    );
    let spent: Vec<[f64; 2]> = (0..3).map(|_| [House::open(), House::attached()].map(flooded)).collect();
    let [own, other] = [0, 1].map(|which| median(&spent.iter().map(|both| both[which]).collect::<Vec<_>>()));
    report::line("processor under one flood, embedded", own, "s/s", Target::None);
    report::line("processor under one flood, attached, both", other, "s/s", Target::None);
    let ratios: Vec<f64> = spent.iter().map(|[own, other]| other / own).collect();
    report::line("attached / embedded", median(&ratios), "x", Target::AtMost(1.3));
}

/// Returns the processor time of console and runtime per second, during a flood at a steady rate.
fn flooded(mut house: House) -> f64 {
    house.start(FLOOD);
    house.tty.type_in("2z");
    house.tty.wait("the flood", |seen| seen.shows("10"));
    house.tty.rest(Duration::from_secs(1));
    let spent = |house: &House| proc::cpu_all(&house.processes().program);
    let before = spent(&house);
    house.tty.rest(WATCHED);
    (spent(&house) - before).as_secs_f64() / WATCHED.as_secs_f64()
}
