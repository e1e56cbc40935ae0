//! Whose turn it is in a lane. Pure.
//!
//! Tickets are numbered in the order in which commands came. A command may start once fewer commands that came before it
//! live, running or waiting, than the lane has slots. Once true, this stays true, because no ticket gets a lower number
//! than one that exists: so each runtime decides about its own commands, at any moment, without a lock.

/// The ticket of a command that runs or waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LivingTicket {
    pub(super) number: u64,
    /// Whether its command runs.
    pub(super) has_slot: bool,
}

/// Whether it is a command's turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Turn {
    /// It starts.
    Now,
    /// It would be, but memory is short; by so many percent.
    Closed(u8),
    /// It may not start before one of these tickets is returned.
    After(Vec<u64>),
}

/// How a command stands in its lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) number: u64,
    pub(super) turn: Turn,
    /// How many earlier commands run.
    pub(super) running: usize,
    /// The number of the one just before it.
    pub(super) before: Option<u64>,
}

/// Decides about a runtime's waiting commands, in the order they came. `living` are the tickets of all runtimes up to the
/// last of these. `closed` returns the pressure of memory if that keeps further commands from starting.
pub(super) fn decide(
    waiting: &[u64],
    living: &mut [LivingTicket],
    slots: usize,
    mut closed: impl FnMut() -> Option<u8>,
) -> Vec<Standing> {
    let mut standings = Vec::with_capacity(waiting.len());
    for number in waiting.iter().copied() {
        let at = living.partition_point(|other| other.number < number);
        let (earlier, from) = living.split_at_mut(at);
        let turn = match (earlier.len() < slots).then(&mut closed) {
            Some(None) => Turn::Now,
            Some(Some(percent)) => Turn::Closed(percent),
            // Whatever else happens: as long as each of these lives, too many do.
            None => Turn::After(earlier.iter().take(slots).map(|ticket| ticket.number).collect()),
        };
        if turn == Turn::Now {
            from.iter_mut().take(1).for_each(|own| own.has_slot = true);
        }
        let running = earlier.iter().filter(|ticket| ticket.has_slot).count();
        standings.push(Standing {
            number,
            turn,
            running,
            before: earlier.last().map(|ticket| ticket.number),
        });
    }
    standings
}
