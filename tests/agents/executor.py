"""Codex's own commands, run by its own server and by our executor: the model must read the same text.

    python3 tests/agents/executor.py --pilothouse target/release/pilothouse [--turns PATTERN]

The real Codex plays the same turns twice against a scripted model. Whatever varies between runs anyway (ids of chunks and sessions,
times, process ids) is removed from each answer; the rest must be equal. Then Codex is killed in the middle of two commands, and a
person answers instead of it. Fails if any of this does not hold.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from model import Call, Model, api_of  # noqa: E402
from place import Place, install, until  # noqa: E402


class Native(Model):
    """A model that calls Codex's own tools."""

    def answer(self, path, body):
        api = api_of(path)
        if api is None:
            return {}
        names = re.findall(r"SCRIPT:([\w-]+)", json.dumps(body))
        conversation = self.conversations.get(names[-1] if names else None)
        if conversation is None or not any(name == "exec_command" for _, name in api.tools(body)):
            return api.reply(body, [], "A title", 0)
        with conversation.lock:
            calls = conversation.next(list(api.results(body)))
            turn = len(conversation.answers)
        return api.reply(body, [((None, call.tool), call.arguments) for call in calls], conversation.last, turn)


def command(cmd, **arguments):
    return Call("exec_command", {"cmd": cmd, **arguments})


def typed(answer, text, **arguments):
    """Types into the session named in an answer."""
    found = re.search(r"session ID (\d+)", answer.text)
    assert found, f"no session in:\n{answer.text}"
    return Call("write_stdin", {"session_id": int(found.group(1)), "chars": text, **arguments})


# Commands that finish within their call.
SIMPLE = [
    "echo hi; pwd",
    "echo out; sleep 0.2; echo err >&2; exit 3",
    "exit 255",
    "true",
    "nosuchcommand",
    "if then",
    "printf 'h\\303\\251 \\360\\237\\230\\200 end\\n'",
    "printf 'a\\0b\\377c\\n'",
    "cat <<'EOF'\na $HOME 'q'\nEOF",
    "cd / && pwd",
    "cd /nosuch",
    "wc -c < notes.txt",
    "cat",
    "read -r x; echo \"[$x] $?\"",
    "bash -c 'echo nested $0; exit 4'",
    "kill -TERM $$",
    "kill -9 $$",
    "kill -SEGV $$",
    "echo one; sleep 0.3; echo two >&2; sleep 0.3; echo three",
    "seq 1 200",
    "seq -f 'a line of some length that is number %.0f' 1 20000",
    "head -c 10000000 /dev/zero | tr '\\0' x; echo end",
    "echo >big.txt; for i in 1 2 3; do echo $i >>big.txt; done; cat big.txt",
    "(sleep 0.2; echo late) & echo early; wait",
    "nohup sleep 0.1 >/dev/null 2>&1 & echo left",
    "umask; ulimit -n; echo ${SHELL##*/} $PAGER; test -t 0; test -t 1; echo $?",
    "env | cut -d= -f1 | grep -v PILOTHOUSE | sort",
    "git init -q sub; cd sub; git status --short --branch",
    "python3 -c 'import sys; print(sys.stdin.isatty(), sys.argv)'",
    "printf '\\033[31mred\\033[0m\\rover\\n'",
]


def simple(place):
    for cmd in SIMPLE:
        yield command(cmd)


def workdir(place):
    yield command("pwd; ls", workdir=str(place.workspace / "deep er"))
    yield command("pwd", workdir="/nosuch")
    yield command("echo $0", login=False)
    yield command("echo $0", shell="/bin/bash", login=False)


def beside(place):
    yield [command(f"echo begin {n}; sleep 0.1; echo end {n}; exit {n}") for n in range(8)]


def long(place):
    begun = yield command("echo begun; sleep 1; echo over", yield_time_ms=300)
    yield typed(begun, "", yield_time_ms=5000)
    begun = yield command("sleep 600", yield_time_ms=300)
    yield typed(begun, "hello\n", yield_time_ms=300)
    begun = yield command("trap 'echo caught; exit 5' INT; echo on; while :; do sleep 0.1; done", yield_time_ms=500)
    yield typed(begun, "\x03", yield_time_ms=1500)


def terminal(place):
    yield command("tty | cut -c1-8; stty size; stty -a | tail -3; test -t 1; echo $?", tty=True)
    asked = yield command("read -r x; echo got $x", tty=True, yield_time_ms=500)
    yield typed(asked, "hello\n", yield_time_ms=1500)
    asked = yield command("python3 -c 'import getpass; print(len(getpass.getpass()))'", tty=True, yield_time_ms=1000)
    yield typed(asked, "secret\n", yield_time_ms=1500)
    begun = yield command("echo on; sleep 600", tty=True, yield_time_ms=500)
    yield typed(begun, "\x03", yield_time_ms=1500)
    begun = yield command("cat", tty=True, yield_time_ms=500)
    yield typed(begun, "a\nb\n", yield_time_ms=500)
    yield typed(begun, "\x04", yield_time_ms=1500)
    yield command("kill -9 $$", tty=True)
    yield command("echo one; sleep 0.2; seq 1 40", tty=True)
    begun = yield command("bash --norc --noprofile -i", tty=True, yield_time_ms=700)
    yield typed(begun, "PS1='> '\n", yield_time_ms=500)
    yield typed(begun, "echo $((6*7))\n", yield_time_ms=500)
    yield typed(begun, "exit 9\n", yield_time_ms=1500)


TURNS = {"simple": simple, "workdir": workdir, "beside": beside, "long": long, "terminal": terminal}

# Patterns of text that differs in every run.
OWN = [
    (r"Chunk ID: \w+", "Chunk ID: *"),
    (r"Wall time: [\d.]+", "Wall time: *"),
    (r"session ID \d+", "session ID *"),
    (r"Unknown process id \d+", "Unknown process id *"),
    (r"(line \d+: +)\d+ ", r"\1* "),
]


def seen(text, place):
    text = text.replace(str(place.root), "PLACE")
    for pattern, same in OWN:
        text = re.sub(pattern, same, text)
    return text


def settle(place, ours):
    """Restores Codex's own tools, and sets its executor: ours, or its own server."""
    config = place.home / ".codex/config.toml"
    text = re.sub(r"\[mcp_servers.*?(?=\[projects)", "", config.read_text(), flags=re.S)
    config.write_text(text)
    (place.workspace / "notes.txt").write_text("some\nnotes\n")
    (place.workspace / "deep er").mkdir()
    if ours:
        place.run_pilothouse("adopt", "codex")
    else:
        own = 'default = "own"\ninclude_local = false\n[[environments]]\nid = "own"\nprogram = "codex"\nargs = {}\n'
        args = json.dumps(["exec-server", "--listen", "stdio"])
        (place.home / ".codex/environments.toml").write_text(own.format(args))


def codex(place, model, name, script):
    conversation = model.play(name, script)
    process = place.start(["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", f"SCRIPT:{name} go"])
    return conversation, process


def play(root, programs, pilothouse, ours, names):
    """What the model read in each turn."""
    model = Native()
    place = Place(root, programs, pilothouse, model.port)
    try:
        settle(place, ours)
        read = {}
        for name in names:
            conversation, process = codex(place, model, name, TURNS[name](place))
            process.wait(180)
            if not conversation.over or conversation.failure:
                raise AssertionError(f"{name}: {conversation.failure or 'it did not come to its end'}")
            read[name] = [(answer.call.arguments, seen(answer.text, place)) for answer in conversation.answers]
        return read, len(place.tasks()) if ours else 0
    finally:
        place.close()


def killed(root, programs, pilothouse):
    """Codex is killed: commands with a terminal survive, the others end; and a person answers in a terminal instead of the model."""
    model = Native()
    place = Place(root, programs, pilothouse, model.port)
    wrong = []
    try:
        settle(place, True)

        def answered():
            asked = yield command("read -r x; echo got $x", tty=True, yield_time_ms=500)
            console = place.console()
            console.wait("read -r x")
            console.keys("Enter")
            console.text("by hand")
            console.keys("Enter")
            until(lambda: place.tasks()[0]["status"] == "completed", what="the person's answer")
            told = yield typed(asked, "", yield_time_ms=1500)
            if "got by hand" not in told.text:
                wrong.append(f"the next poll shows: {told.text}")

        conversation, process = codex(place, model, "answered", answered())
        process.wait(120)
        if conversation.failure:
            wrong.append(conversation.failure)

        def begun():
            yield command("echo pane; read -r x; echo $x > answer", tty=True, yield_time_ms=500)
            yield command("echo plain; sleep 599", yield_time_ms=60000)

        _, process = codex(place, model, "killed", begun())
        state = lambda cmd: next((task["status"] for task in place.tasks() if cmd in task["cmd"]), None)  # noqa: E731
        until(lambda: state("sleep 599") == "running", 60, "the command")
        # The launcher is a node program; its child is Codex itself.
        below = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True)
        for pid in below.stdout.split():
            os.kill(int(pid), signal.SIGKILL)
        until(lambda: state("sleep 599") == "cancelled", 30, "the end of what has no terminal")
        if state("read -r x; echo $x > answer") != "running":
            wrong.append("the pane did not live on")
        return wrong
    except (AssertionError, TimeoutError) as error:
        return [*wrong, str(error)]
    finally:
        place.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilothouse", type=Path, required=True)
    parser.add_argument("--turns", default="")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/pilothouse-agents")
    asked = parser.parse_args()
    programs = install(asked.cache / "programs")
    names = [name for name in TURNS if asked.turns in name]
    pilothouse, root = asked.pilothouse.resolve(), asked.cache.resolve() / "executor"
    # In the same folder: Codex counts the words in paths.
    stock, _ = play(root, programs, pilothouse, False, names)
    ours, tasks = play(root, programs, pilothouse, True, names)
    turns, wrong = 0, []
    for name in names:
        for (arguments, expected), (_, got) in zip(stock[name], ours[name], strict=True):
            turns += 1
            if expected != got:
                wrong.append(f"{name} {json.dumps(arguments)}\n--- by Codex's own\n{expected[:1500]}\n--- by ours\n{got[:1500]}")
    if not asked.turns:
        wrong += killed(root, programs, pilothouse)
    print("\n".join(wrong) or f"{turns} turns, {tasks} tasks: the model read the same")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
