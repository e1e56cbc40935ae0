//! Operating-system processes: spawner, task host, PTY pair, tree end, workdir, environment.
