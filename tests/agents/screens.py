"""The nine agents in their screens, as people use them: a terminal, keys, a console beside it.

    python3 tests/agents/screens.py --pilothouse target/release/pilothouse [--agent A]... [--situation S]...

Each agent is started in a terminal with a scripted model, and its own shell is led to Pilothouse. Two situations are played
with the agent's own shell as well, and the model must read the same text; so are those in which a command should end, if it
did not. Prints the table; fails if a situation does.
"""

import argparse
import os
import re
import shutil
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from place import ROUTED, Place, Terminal, install, until  # noqa: E402
from shells import Native, Shell, difference, prepare, same  # noqa: E402

SECRET = "tr0ub4dor-and-3"
PATIENCE = 120
# What a screen asks first, and a part of the answer to choose in these throw-away homes; `None` for the one that is chosen.
QUESTIONS = {
    "copilot": [("Do you trust the files", None)],
    # "Meet GPT-6 Sol", or whatever the newest model is.
    "codex": [("Use existing model", "Use existing model")],
}


def start(place, agent, name, by_us):
    """Starts an agent in its screen with the prompt that plays `name`."""
    prompt, base = f"SCRIPT:{name} go", f"http://127.0.0.1:{place.port}/v1"
    command = {
        "claude": ["claude", prompt, "--permission-mode", "default", "--allowedTools", "Bash"],
        "codex": ["codex", "--dangerously-bypass-approvals-and-sandbox", prompt],
        "gemini": ["gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-i", prompt],
        "opencode": ["opencode", "--prompt", prompt],
        "copilot": ["copilot", "-i", prompt, "--allow-all"] + ([] if by_us else ["--bash-env=on"]),
        "pi": ["pi", "--provider", "scripted", "--model", "m", prompt],
        "qwen": ["qwen", "--openai-api-key", "none", "--openai-base-url", base, "-m", "m", "-y", "-i", prompt],
        "kilo": ["kilo", "--prompt", prompt],
        "cline": ["cline", "-P", "openai-compatible", "-m", "m", "--tui", prompt],
    }[agent]
    if by_us and agent != "codex":
        command = ["pilothouse", *command]
    place.terminal = Terminal(place, agent, command)
    questions = QUESTIONS.get(agent, [])

    def answer():
        for shows, wanted in questions:
            end, seen = time.monotonic() + PATIENCE, False
            while time.monotonic() < end and not place.gone:
                shown = place.terminal.shown()
                if seen and shows not in shown:
                    break
                if shows in shown:
                    # A key may come before the page listens: each is pressed until it has had its effect.
                    seen = True
                    is_chosen = wanted is None or re.search(rf"[›❯>].*{wanted}", shown)
                    place.terminal.keys("Enter" if is_chosen else "Down")
                time.sleep(0.5)

    threading.Thread(target=answer, daemon=True).start()


class Run:
    """One agent in one situation."""

    def __init__(self, root, programs, pilothouse, agent, name, by_us=True):
        self.model, self.agent, self.root = Native(), agent, root
        self.place = Place(root, programs, pilothouse, self.model.port)
        self.place.gone = False
        prepare(self.place, agent, by_us)
        self.conversation = self.model.play(name, SITUATIONS[name](Shell(agent)))
        if name in CONSOLE:
            self.console = self.place.console()
        start(self.place, agent, name, by_us)

    def over(self):
        """Waits for the model's last message; returns what it read."""
        until(lambda: self.conversation.over, PATIENCE, "the end of the conversation")
        assert not self.conversation.failure, self.conversation.failure
        return [same(answer.text, self.root) for answer in self.conversation.answers]

    def task(self, part):
        """The task whose command has this part, once there is one."""
        find = lambda: next((task for task in self.place.tasks() if part in task["cmd"]), None)  # noqa: E731
        return until(find, PATIENCE, f"the task of {part!r}")

    def lives(self, cmd):
        """Whether a process of this place runs `cmd`."""
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (process / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
                if words == cmd and Path(os.readlink(process / "cwd")).is_relative_to(self.root):
                    return True
        return False


def prompt(shell):
    yield shell.run("echo hi; pwd; sleep 0.3; echo err >&2; exit 3")
    yield shell.run("for n in 1 2 3; do echo \"line $n\"; done")


def output(shell):
    yield shell.run("seq -f 'a line that is number %.0f' 1 200")
    yield shell.run("printf 'h\\303\\251 \\360\\237\\230\\200 end\\n'")


def password(shell):
    yield shell.run("read -rs -p 'Password: ' x </dev/tty; echo \"got ${#x} characters\"")


def escape(shell):
    yield shell.run("echo begun; sleep 301")


def words(shell):
    yield shell.run("echo begun; sleep 302; echo over")


def closed(shell):
    yield shell.run("echo begun; sleep 303")


SITUATIONS = {"prompt": prompt, "output": output, "password": password, "escape": escape, "words": words, "closed": closed}
# Those with a console beside the agent, and those that are played with the agent's own shell as well.
CONSOLE, TWICE = ("password", "words"), ("prompt", "output")
END = "the end of the command"


def play(make, name, by_us=True):
    """Plays a situation; returns what is wrong with it."""
    run = make(name, by_us)
    place = run.place
    try:
        if name in TWICE:
            read, tasks = run.over(), len(place.tasks())
            assert tasks >= len(read), f"{tasks} tasks for {len(read)} commands"
            return read
        if name == "password":
            run.task("Password")
            run.console.wait("asks for a password|Password: ", PATIENCE)
            run.console.keys("Enter")
            run.console.wait("INPUT t", PATIENCE)  # before that, letters are commands
            run.console.text(SECRET)
            run.console.keys("Enter")
            read = run.over()
            assert f"got {len(SECRET)} characters" in read[0], read[0]
            assert SECRET not in str(run.model.bodies), "the secret is in a request"
        if name == "escape":
            until(lambda: run.lives("sleep 301"), PATIENCE, "the command")
            time.sleep(2)  # the nine screens have nothing in common to wait for
            place.terminal.keys("Escape")
            time.sleep(1)
            place.terminal.keys("Escape", "Escape")  # some ask for a second one, soon after the first
            until(lambda: not run.lives("sleep 301"), 60, END)
        if name == "words":
            run.task("sleep 302")
            run.console.wait("sleep 302", PATIENCE)
            run.console.keys("s")
            run.console.wait("why|words|!")
            run.console.keys("!")
            run.console.text("use make check")
            run.console.keys("Enter")
            run.console.keys("Enter")
            read = run.over()
            assert "use make check" in read[0], read[0]
        if name == "closed":
            until(lambda: run.lives("sleep 303"), PATIENCE, "the command")
            place.terminal.close()
            until(lambda: not run.lives("sleep 303"), 60, END)
        return []
    except (AssertionError, TimeoutError) as error:
        raise AssertionError(f"{error}\n--- its screen\n{place.terminal.shown()}") from None
    finally:
        place.gone = True
        if os.environ.get("PILOTHOUSE_KEEP"):
            print("kept", place.root, file=sys.stderr)
        else:
            place.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilothouse", type=Path, required=True)
    parser.add_argument("--agent", action="append", choices=ROUTED)
    parser.add_argument("--situation", action="append", choices=list(SITUATIONS))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/pilothouse-agents")
    asked = parser.parse_args()
    cache = asked.cache.resolve()
    programs, pilothouse = install(cache / "programs"), asked.pilothouse.resolve()
    wrong, rows = 0, {}
    for agent in asked.agent or ROUTED:
        for name in asked.situation or SITUATIONS:
            def make(name, by_us=True, agent=agent):
                return Run(cache / "screens" / agent, programs, pilothouse, agent, name, by_us)

            began = time.monotonic()
            try:
                ours = play(make, name)
                verdict, why = "ok", ""
                if name in TWICE:
                    plain = plainly(make, name)
                    if plain != ours:
                        verdict, why = "DIFFERS", difference("\n".join(plain), "\n".join(ours))
            except (AssertionError, TimeoutError) as error:
                verdict, why = "FAILED", str(error)
                if END in why and name not in CONSOLE and keeps_it_as_well(make, name):
                    verdict, why = "as alone", "its own shell's command goes on as well"
            wrong += verdict not in ("ok", "as alone")
            rows[agent, name] = verdict
            print(f"{agent:9} {name:9} {time.monotonic() - began:5.1f} s  {verdict}\n{why}".rstrip(), flush=True)
    for agent in asked.agent or ROUTED:
        shutil.rmtree(cache / "screens" / agent, ignore_errors=True)
        own = [verdict for (of, _), verdict in rows.items() if of == agent]
        print(f"{agent}: {own.count('ok')} of {len(own)}")
    sys.exit(bool(wrong))


def keeps_it_as_well(make, name):
    """Whether the command goes on as well when it is run by the agent's own shell."""
    try:
        play(make, name, False)
    except (AssertionError, TimeoutError) as error:
        return END in str(error)
    return False


def plainly(make, name):
    """What the model reads from the agent's own shell."""
    run = make(name, False)
    try:
        return run.over()
    finally:
        run.place.gone = True
        run.place.close()


if __name__ == "__main__":
    main()
