#!/bin/bash
# Two prompt libraries of Node.js hide the terminal's cursor while they read.
#
# Whoever wants to know where a program asks (a screen reader, a magnifier, a console) looks at the cursor. enquirer 2.4.1 hides
# it for a plain text question and draws one of its own with reverse video. @inquirer/prompts 8.7.5 (select) hides it too, and
# leaves it at the end of the line with the help, which is not the question.
#
# This script installs them into a folder of its own, runs each on a terminal of 80x24 until it is silent, and reads the screen
# with pyte 0.8.2. It fails if a cursor stands otherwise than seen.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --silent node@22.23.3 enquirer@2.4.1 @inquirer/prompts@8.7.5
python3 -m venv venv
venv/bin/pip install --quiet pyte==0.8.2
export PATH="$folder/node_modules/node/bin:$PATH" NODE_PATH="$folder/node_modules"
cat >input.cjs <<'JS'
require("enquirer").prompt({ type: "input", name: "name", message: "What is your name?" });
JS
cat >select.mjs <<'JS'
import { select } from "@inquirer/prompts";
await select({ message: "Which one?", choices: [{ value: "a" }, { value: "b" }] });
JS
cat >look.py <<'PY'
import os, pty, select, sys, pyte, fcntl, struct, termios, signal

def look(command):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    screen = pyte.Screen(80, 24)
    stream = pyte.ByteStream(screen)
    quiet = 20
    while select.select([terminal], [], [], quiet)[0]:
        stream.feed(os.read(terminal, 65536))
        quiet = 3 if any(row.strip() for row in screen.display) else 20
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    lines = [row.rstrip() for row in screen.display]
    at = screen.cursor
    return at.hidden, at.x, lines[at.y], [line for line in lines if line]

failed = False
def expect(name, seen, right):
    global failed
    print(name, "hidden" if seen[0] else "visible", "column", seen[1], "in", repr(seen[2]), "of", seen[3])
    failed |= not right

seen = look(["node", "input.cjs"])
expect("enquirer 2.4.1 input:", seen, seen[0] and "What is your name?" in seen[2])
seen = look(["node", "select.mjs"])
expect("@inquirer/prompts 8.7.5 select:", seen, seen[0] and "Which one?" not in seen[2] and seen[2] != "")
sys.exit(failed)
PY
venv/bin/python look.py
