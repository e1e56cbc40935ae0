//! Memory that was freed.

/// Returns memory that was freed to the system. Takes milliseconds.
pub(crate) fn return_memory() {
    // SAFETY: the call takes a plain number; the allocator holds its own locks.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0)
    };
}
