//! The outputs of ended tasks in the recording that is being written: which of them have to go, so that it does not grow
//! with the past. Pure.

use std::collections::VecDeque;
use std::time::Duration;

use crate::envelope::TaskId;

/// The least that a task counts for: its folder, its files, their last blocks. It bounds the number of folders, too.
const LEAST: u64 = 64 << 10;
/// For so long after its end, a task keeps its output in any case: its last answer may still be read from it.
const SPARED: Duration = Duration::from_secs(10);

/// The outputs of ended tasks that are still stored, in the order in which the tasks ended.
#[derive(Debug, Default)]
pub(super) struct EndedOutputs {
    outputs: VecDeque<EndedOutput>,
    bytes: u64,
}

/// The output of one ended task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EndedOutput {
    pub(super) id: TaskId,
    /// What it counts for.
    pub(super) bytes: u64,
    /// When the task ended.
    at: Duration,
}

impl EndedOutputs {
    /// Adds the output of a task that ended `now`, of which `stored` bytes are in its log. They count twice: the files
    /// that are made from a log on request have its bytes once more.
    pub(super) fn add(&mut self, id: TaskId, stored: u64, now: Duration) {
        let bytes = stored.saturating_mul(2).max(LEAST);
        self.bytes = self.bytes.saturating_add(bytes);
        self.outputs.push_back(EndedOutput { id, bytes, at: now });
    }

    /// Takes out the oldest outputs, if all of them are more than `most` bytes, until a quarter of that is free.
    pub(super) fn take_excess(&mut self, most: u64, now: Duration) -> Vec<EndedOutput> {
        let mut taken = Vec::new();
        if self.bytes <= most {
            return taken;
        }
        let is_old = |output: &mut EndedOutput| now.saturating_sub(output.at) >= SPARED;
        while self.bytes > most - most / 4
            && let Some(oldest) = self.outputs.pop_front_if(is_old)
        {
            self.bytes = self.bytes.saturating_sub(oldest.bytes);
            taken.push(oldest);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(number: usize) -> TaskId {
        let mut seed = [0; 8];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        TaskId::from_random(seed.map(|byte| byte % 32))
    }

    #[test]
    fn the_oldest_outputs_go_until_a_quarter_of_the_room_is_free() {
        let mut outputs = EndedOutputs::default();
        for number in 0..16 {
            outputs.add(id(number), 0, Duration::ZERO);
        }
        let late = Duration::from_secs(60);
        assert!(outputs.take_excess(16 * LEAST, late).is_empty(), "there is room for all");
        outputs.add(id(16), 0, late);
        let taken: Vec<_> =
            outputs.take_excess(16 * LEAST, late).into_iter().map(|output| output.id).collect();
        assert_eq!(taken, (0..5).map(id).collect::<Vec<_>>());
        assert!(outputs.take_excess(16 * LEAST, late).is_empty());
    }

    #[test]
    fn the_output_of_a_task_that_has_just_ended_is_spared() {
        let mut outputs = EndedOutputs::default();
        outputs.add(id(0), 1 << 30, Duration::ZERO);
        assert!(outputs.take_excess(LEAST, SPARED / 2).is_empty());
        assert_eq!(outputs.take_excess(LEAST, SPARED).len(), 1);
    }

    proptest! {
        #[test]
        fn kept_outputs_stay_within_the_bound_and_the_oldest_go_first(
            stored in prop::collection::vec(0..10 * LEAST, 0..60), most in 0..40 * LEAST,
        ) {
            let mut outputs = EndedOutputs::default();
            let mut taken = Vec::new();
            for (number, stored) in stored.iter().enumerate() {
                let now = Duration::from_secs(20 * number as u64);
                outputs.add(id(number), *stored, now);
                taken.extend(outputs.take_excess(most, now + SPARED).into_iter().map(|output| output.id));
                prop_assert!(outputs.bytes <= most);
            }
            prop_assert_eq!(&taken, &(0..taken.len()).map(id).collect::<Vec<_>>());
            prop_assert_eq!(outputs.outputs.len() + taken.len(), stored.len());
        }
    }
}
