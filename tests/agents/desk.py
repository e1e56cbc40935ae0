"""The prompts of opencode, Kilo, Codex and Qwen Code, what pi does, and a person at the console beside them: the real programs in
their screens.

    python3 tests/agents/desk.py --pilothouse target/release/pilothouse [--agent A]... [--situation S]...

The model is scripted and asks for commands that no rule allows. Each situation says who answers, where, and what must come of
it. Prints a line for each; fails if one does.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from executor import command  # noqa: E402
from place import Place, Terminal, install, until  # noqa: E402
from shells import Native, Shell, prepare  # noqa: E402

PATIENCE = 60
# What each agent's dialog shows; pi has none.
DIALOGS = {
    "opencode": "Permission required", "kilo": "Permission required", "codex": "Would you like to run the following",
    "qwen": "Allow execution of", "pi": None,
}
# Those that take an answer from here, and those whose prompts are shown here and answered there.
ANSWERED, SHOWN = ("opencode", "kilo"), ("codex", "qwen")
TOOLS = {"codex": "Bash", "qwen": "run_shell_command"}


def made(agent):
    """A model that makes a file, and ends its turn."""
    def script(shell):
        if agent == "codex":
            # What its sandbox would not let happen, it asks about.
            yield command("touch made", sandbox_permissions="require_escalated", justification="to see")
        else:
            yield shell.run("touch made")
    return script


class Run:
    """An agent in its screen, and a console beside it."""

    def __init__(self, root, programs, pilothouse, agent, name):
        self.model, self.agent = Native(), agent
        self.place = Place(root, programs, pilothouse, self.model.port)
        prepare(self.place, agent, True)
        for path in (self.place.home / ".config/opencode/opencode.json", self.place.home / ".config/kilo/kilo.json"):
            settings = json.loads(path.read_text())
            settings["permission"] = {"bash": "ask", "external_directory": "allow"}
            path.write_text(json.dumps(settings))
        self.conversation = self.model.play(name, made(agent)(Shell(agent)))
        prompt, base = f"SCRIPT:{name} go", f"http://127.0.0.1:{self.model.port}/v1"
        start = {
            "codex": ["codex", prompt],
            "qwen": ["qwen", "--openai-api-key", "none", "--openai-base-url", base, "-m", "m", "-i", prompt],
            "pi": ["pi", "--provider", "scripted", "--model", "m", prompt],
        }.get(agent, [agent, "--prompt", prompt])
        if agent in SHOWN:
            self.place.run_pilothouse("adopt", agent)
        if agent == "codex":
            config = self.place.home / ".codex/config.toml"
            config.write_text('approval_policy = "on-request"\nsandbox_mode = "read-only"\n' + config.read_text())
        self.console = self.place.console()
        self.began = time.monotonic()
        self.screen = Terminal(self.place, agent, ["pilothouse", *start])
        if agent == "codex":
            self.chosen("Hooks need review", "Trust all and continue")
            self.chosen("Use existing model", "Use existing model")

    def chosen(self, question, answer):
        """Chooses an answer of its first questions."""
        self.screen.wait(question, PATIENCE)
        while question in self.screen.shown():
            self.screen.keys("Enter" if re.search(rf"›.*{answer}", self.screen.shown()) else "Down")
            time.sleep(0.5)

    def dialog(self):
        self.screen.wait(DIALOGS[self.agent], PATIENCE)

    def card(self):
        """Opens the card in the console."""
        self.console.wait(f"{self.agent} asks: {TOOLS.get(self.agent, 'bash')}", PATIENCE)
        self.console.keys("a")
        self.console.wait("waits? for you")
        self.console.keys("Enter")
        self.console.wait("Answer it in the agent" if self.agent in SHOWN else "allow this call")
        time.sleep(1)  # time to read

    def gone(self, since, what, says):
        """Waits until the card is gone, and says how long that took."""
        self.console.wait(says)
        print(f"    {what}: the card went after {time.monotonic() - since:.2f} s", flush=True)

    def over(self):
        until(lambda: self.conversation.over, PATIENCE, "the end of the conversation")
        assert not self.conversation.failure, self.conversation.failure
        return [answer.text for answer in self.conversation.answers]

    def has(self, name):
        return (self.place.workspace / name).exists()


def allowed_here(run):
    run.dialog()
    print(f"    its dialog stood after {time.monotonic() - run.began:.1f} s", flush=True)
    run.card()
    assert DIALOGS[run.agent] in run.screen.shown(), "its dialog stands"
    run.console.keys("y")
    until(lambda: run.has("made"), PATIENCE, "the file")
    run.over()
    run.console.wait(f"{run.agent} idle", PATIENCE)
    until(lambda: run.place.rows("told"), 20, "what its model read")
    [row] = run.place.run_pilothouse("receipt", "list")["receipts"]
    shown = run.place.run_pilothouse("receipt", "show", row["id"])
    [read] = [answer.text for answer in run.conversation.answers]
    assert shown["receipt"] == read and shown["native"]["ruling"] == "at_console", shown


def refused_here(run):
    run.dialog()
    run.card()
    run.console.keys("n")
    run.console.wait("refuse, with these words")
    run.console.text("use the makefile instead")
    run.console.keys("Enter")
    [answer, *_] = run.over()
    assert "use the makefile instead" in answer, answer
    assert not run.has("made")


def allowed_there(run):
    run.dialog()
    run.card()
    run.screen.keys("Enter")
    run.gone(time.monotonic(), "allowed in the agent", "answered in the agent")
    run.console.keys("y")
    run.over()
    assert run.has("made")


def refused_there(run):
    run.dialog()
    run.card()
    run.screen.keys("Escape")
    time.sleep(0.5)
    run.screen.keys("Enter")
    run.gone(time.monotonic(), "refused in the agent", "answered in the agent")
    assert not run.has("made")


def console_killed(run):
    run.dialog()
    run.card()
    os.kill(run.place.runtime(), signal.SIGKILL)
    time.sleep(1)
    assert DIALOGS[run.agent] in run.screen.shown(), "its dialog stands"
    run.screen.keys("Enter")
    until(lambda: run.has("made"), PATIENCE, "the file")
    run.over()


def shown_here(run):
    run.dialog()
    stood = time.monotonic()
    run.console.wait(f"{run.agent} asks", PATIENCE)
    print(f"    its dialog stood, and the card was there after {time.monotonic() - stood:.2f} s more", flush=True)
    run.card()
    run.console.keys("y")
    run.console.wait("only in its own window")
    assert DIALOGS[run.agent] in run.screen.shown() and not run.has("made"), "its dialog stands"
    run.screen.keys("Enter")
    run.gone(time.monotonic(), "allowed in the agent", "answered in the agent")
    run.over()
    assert run.has("made")
    run.console.keys("Escape")
    run.console.wait(f"{run.agent} idle", PATIENCE)


def refused_where_shown(run):
    run.dialog()
    run.card()
    run.screen.keys("Escape")
    run.gone(time.monotonic(), "refused in the agent", "answered in the agent")
    assert not run.has("made")


def works(run):
    run.over()
    assert run.has("made")
    run.console.wait("pi idle", PATIENCE)
    [row] = run.place.run_pilothouse("receipt", "list")["receipts"]
    shown = run.place.run_pilothouse("receipt", "show", row["id"])
    [read] = [answer.text for answer in run.conversation.answers]
    assert shown["receipt"] == read, shown


SITUATIONS = {
    one.__name__.replace("_", "-"): (one, agents)
    for one, agents in (
        (allowed_here, ANSWERED), (refused_here, ANSWERED), (allowed_there, ANSWERED), (refused_there, ANSWERED),
        (console_killed, ANSWERED + SHOWN), (shown_here, SHOWN), (refused_where_shown, SHOWN), (works, ("pi",)),
    )
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilothouse", type=Path, default=Path("target/release/pilothouse"))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/pilothouse-agents")
    parser.add_argument("--agent", action="append", choices=list(DIALOGS))
    parser.add_argument("--situation", action="append", choices=list(SITUATIONS))
    asked = parser.parse_args()
    programs, wrong = install(asked.cache / "programs"), 0
    for agent in asked.agent or DIALOGS:
        for name in asked.situation or SITUATIONS:
            situation, agents = SITUATIONS[name]
            if agent not in agents:
                continue
            run = None
            try:
                run = Run(asked.cache.resolve() / "desk", programs, asked.pilothouse.resolve(), agent, name)
                situation(run)
                print(f"{agent:9} {name:16} ok", flush=True)
            except (AssertionError, TimeoutError, LookupError, ValueError, subprocess.SubprocessError) as error:
                wrong += 1
                print(f"{agent:9} {name:16} FAILED {error}", flush=True)
                if run:
                    print(f"--- its screen\n{run.screen.shown()}\n--- the console\n{run.console.shown()}", flush=True)
            finally:
                if run and not os.environ.get("PILOTHOUSE_KEEP"):
                    run.place.close()
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
