//! Kinds of output that differ in what a screen has to do.

const LENGTH: usize = 4 * 1024 * 1024;

/// What a program prints.
pub(crate) struct Payload {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// The largest chunk in which no line is skipped.
    pub(crate) piece: usize,
}

pub(crate) fn payloads() -> Vec<Payload> {
    let payload = |name, piece, line: fn(usize) -> String| Payload { name, bytes: repeated(line), piece };
    vec![
        payload("a log", 4096, |n| {
            let (second, worker, took) = (n % 60, n % 8, n % 97);
            format!(
                "2026-11-21T12:00:{second:02}.{n:06}Z INFO worker-{worker}: handled request {n} in {took} ms, all went well\r\n"
            )
        }),
        payload("a build in colours", 4096, |n| {
            format!(
                "\x1b[1m\x1b[32m   Compiling\x1b[0m crate-{n} v0.{}.{} (\x1b[34m/home/user/src/crate-{n}\x1b[0m)\r\n",
                n % 9,
                n % 7
            )
        }),
        payload("single cells", 4096, |n| {
            format!("\x1b[{};{}H\x1b[38;5;{}m#", n * 7 % 50 + 1, n * 13 % 200 + 1, n % 256)
        }),
        payload("lines of y", 512, |_| "y\r\n".to_owned()),
        payload("Unicode", 4096, |n| format!("zeile {n}: größe 大きさ 변경 ✓ naïve → ok {}\r\n", n * 31)),
        payload("full-screen motion", 4096, |n| {
            format!(
                "\x1b[{};1H\x1b[K\x1b[7m{n:>5}\x1b[27m \x1b[1mname\x1b[22m \x1b[3{}mstate {}\x1b[39m",
                n % 50 + 1,
                n % 8,
                n * 17
            )
        }),
    ]
}

fn repeated(line: fn(usize) -> String) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LENGTH + 1024);
    for n in 0.. {
        if bytes.len() >= LENGTH {
            break;
        }
        bytes.extend_from_slice(line(n).as_bytes());
    }
    bytes
}
