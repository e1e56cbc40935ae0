//! How a program wants keys to be encoded (kitty's keyboard protocol). Of its flags only the first is served; a program
//! that asks is told so.

/// Flag 1: keys that usually share a code, such as Shift-Enter and Enter, get one of their own.
pub(super) const DISTINCT: u8 = 1;
/// The flags that are served.
const SERVED: u8 = DISTINCT;
/// How many settings a program can come back to; the oldest are dropped.
const MOST_KEPT: usize = 32;

/// The flags in force, and those to come back to.
#[derive(Debug, Clone, Default)]
pub(super) struct Keyboard {
    flags: u8,
    kept: Vec<u8>,
}

impl Keyboard {
    /// Returns the flags in force.
    pub(super) fn flags(&self) -> u8 {
        self.flags
    }

    /// Sets flags, and keeps those in force to come back to.
    pub(super) fn push(&mut self, flags: u16) {
        if self.kept.len() == MOST_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(self.flags);
        self.flags = served_flags(flags);
    }

    /// Comes back to the flags before the last `count` that were set.
    pub(super) fn pop(&mut self, count: u16) {
        for _ in 0..usize::from(count).min(MOST_KEPT + 1) {
            self.flags = self.kept.pop().unwrap_or(0);
        }
    }

    /// Sets all flags (1), sets these (2), or resets these (3).
    pub(super) fn set(&mut self, flags: u16, how: u16) {
        let flags = served_flags(flags);
        match how {
            1 => self.flags = flags,
            2 => self.flags |= flags,
            3 => self.flags &= !flags,
            _ => {}
        }
    }
}

fn served_flags(flags: u16) -> u8 {
    u8::try_from(flags & u16::from(SERVED)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushed_keyboard_flags_are_kept_up_to_a_limit_and_come_back() {
        let mut keyboard = Keyboard::default();
        keyboard.push(31);
        assert_eq!(keyboard.flags(), 1, "only what is served");
        keyboard.push(0);
        keyboard.set(1, 2);
        keyboard.set(1, 3);
        assert_eq!(keyboard.flags(), 0);
        keyboard.pop(1);
        assert_eq!(keyboard.flags(), 1);
        keyboard.pop(u16::MAX);
        assert_eq!(keyboard.flags(), 0);
        (0..1_000).for_each(|_| keyboard.push(1));
        assert_eq!(keyboard.kept.len(), MOST_KEPT);
    }
}
