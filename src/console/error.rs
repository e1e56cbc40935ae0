//! Why a console cannot run.

/// Why a console cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// There is no terminal.
    #[error(
        "there is no terminal to draw on: `pilothouse --accessible` is the console in plain lines, and \
         `pilothouse serve` a runtime without one"
    )]
    NoTerminal(#[source] std::io::Error),
    /// The terminal cannot be read, set or written to.
    #[error("use the terminal")]
    Terminal(#[source] std::io::Error),
    /// Signals cannot be listened to.
    #[error("listen to signals")]
    Signals(#[source] std::io::Error),
}
