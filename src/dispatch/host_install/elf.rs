//! Parses the ELF header of a program: the machine it is for, and whether it needs a loader. Pure; the input may be
//! any file.

/// The architectures that the program is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Machine {
    X86,
    Arm,
}

impl Machine {
    /// Returns the architecture for the output of `uname -sm`.
    pub(super) fn of(system: &str) -> Option<Self> {
        match system.trim() {
            "Linux x86_64" | "Linux amd64" => Some(Self::X86),
            "Linux aarch64" | "Linux arm64" => Some(Self::Arm),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm => "aarch64",
        }
    }

    /// Returns the Rust target it is built with.
    pub(super) fn target(self) -> String {
        format!("{}-unknown-linux-musl", self.name())
    }
}

/// The contents of a program's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProgramHeader {
    /// The architecture it is for; `None` if pilothouse is not built for it.
    pub(super) machine: Option<Machine>,
    /// Whether it is static: it needs no loader, and therefore no libraries.
    pub(super) is_static: bool,
}

/// The type of the program header that names a loader (`PT_INTERP`).
const INTERPRETER: u32 = 3;

impl ProgramHeader {
    /// Parses the header of a 64-bit program; `None` for anything else.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let machine = match number(bytes, 18, 2)? {
            62 => Some(Machine::X86),
            183 => Some(Machine::Arm),
            _ => None,
        };
        let (start, size, count) = (number(bytes, 32, 8)?, number(bytes, 54, 2)?, number(bytes, 56, 2)?);
        let mut is_static = true;
        for at in 0..count {
            let offset = start.checked_add(at.checked_mul(size)?)?;
            is_static &= number(bytes, usize::try_from(offset).ok()?, 4)? != u64::from(INTERPRETER);
        }
        Some(Self { machine, is_static })
    }
}

/// Reads a little-endian number.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(length)?)?;
    Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a program with program headers of these types.
    fn program(machine: u16, kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56 * kinds.len()];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
        bytes[54..56].copy_from_slice(&56_u16.to_le_bytes());
        bytes[56..58].copy_from_slice(&u16::try_from(kinds.len()).expect("few").to_le_bytes());
        for (at, kind) in kinds.iter().enumerate() {
            bytes[64 + 56 * at..68 + 56 * at].copy_from_slice(&kind.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_program_says_for_which_machine_it_is_and_whether_it_needs_a_loader() {
        let read = |machine, kinds: &[u32]| ProgramHeader::of(&program(machine, kinds)).expect("a program");
        assert_eq!(read(62, &[1, 2]), ProgramHeader { machine: Some(Machine::X86), is_static: true });
        assert_eq!(read(183, &[6, 3, 1]), ProgramHeader { machine: Some(Machine::Arm), is_static: false });
        assert_eq!(read(8, &[]).machine, None);
        assert_eq!(ProgramHeader::of(b"#!/bin/sh\n"), None);
        let own = std::env::current_exe().and_then(std::fs::read).expect("this program");
        assert!(ProgramHeader::of(&own).expect("a program").machine.is_some());
    }

    #[test]
    fn a_machine_is_known_by_what_uname_says() {
        assert_eq!(Machine::of("Linux x86_64\n"), Some(Machine::X86));
        assert_eq!(
            Machine::of("Linux aarch64").map(Machine::target).as_deref(),
            Some("aarch64-unknown-linux-musl")
        );
        assert_eq!(Machine::of("Darwin arm64"), None);
    }

    proptest! {
        #[test]
        fn noise_is_read_without_harm(start in any::<[u8; 32]>(), mut noise in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = ProgramHeader::of(&noise);
            let mut bytes = b"\x7fELF\x02\x01".to_vec();
            bytes.extend(start);
            bytes.append(&mut noise);
            let _ = ProgramHeader::of(&bytes);
        }
    }
}
