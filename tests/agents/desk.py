"""The prompts of opencode, Kilo, Codex, Qwen Code and Copilot CLI, what pi does, and a person at the console beside them: the real
programs in their screens.

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
from model import Call  # noqa: E402
from place import Place, Terminal, install, until  # noqa: E402
from shells import Native, Shell, prepare  # noqa: E402

PATIENCE = 60
# What each agent's dialog shows; pi has none.
DIALOGS = {
    "opencode": "Permission required", "kilo": "Permission required", "codex": "Would you like to run the following",
    "qwen": "Allow execution of", "copilot": "Do you want to run this command", "pi": None,
}
# Those that take an answer from here, and those whose prompts are shown here and answered there.
ANSWERED, SHOWN = ("opencode", "kilo"), ("codex", "qwen", "copilot")
TOOLS = {"codex": "Bash", "qwen": "run_shell_command", "copilot": "Bash"}
# Those whose hooks only their own files name.
ADOPTED = ("codex", "qwen")
SAID = "the operator says: use make"


def asking(shell, cmd):
    """A call that its agent asks about."""
    if shell.agent == "codex":
        # What its sandbox would not let happen, it asks about.
        return command(cmd, sandbox_permissions="require_escalated", justification="to see")
    return shell.run(cmd)


def made(shell):
    """A model that makes a file, and ends its turn."""
    yield asking(shell, "touch made")


class Run:
    """An agent in its screen, and a console beside it."""

    def __init__(self, root, programs, pilothouse, agent, name, situation):
        self.model, self.agent = Native(), agent
        # Whether its prompts are answered here, at first or at all.
        self.is_shown_only = agent in SHOWN and not getattr(situation, "is_held", False)
        self.is_alone = getattr(situation, "is_alone", False)
        self.place = Place(root, programs, pilothouse, self.model.port)
        if getattr(situation, "is_held", False):
            self.place.config("[agents]\nhold_prompts = true\n")
        prepare(self.place, agent, True)
        for path in (self.place.home / ".config/opencode/opencode.json", self.place.home / ".config/kilo/kilo.json"):
            settings = json.loads(path.read_text())
            settings["permission"] = {"bash": "ask", "external_directory": "allow"}
            path.write_text(json.dumps(settings))
        self.conversation = self.model.play(name, getattr(situation, "script", made)(Shell(agent)))
        if agent in ADOPTED or getattr(situation, "is_adopted", False):
            self.place.run_pilothouse("adopt", agent)
        if agent == "codex":
            config = self.place.home / ".codex/config.toml"
            config.write_text('approval_policy = "on-request"\nsandbox_mode = "read-only"\n' + config.read_text())
        self.console = self.place.console()
        self.began = time.monotonic()
        self.screen = self.started(agent, name, *getattr(situation, "more", ()))
        if agent == "codex":
            self.chosen("Hooks need review", "Trust all and continue")
            self.chosen("Use existing model", "Use existing model")

    def started(self, terminal, name, *more):
        """The agent in a terminal, with the prompt that plays `name`."""
        prompt, base = f"SCRIPT:{name} go", f"http://127.0.0.1:{self.model.port}/v1"
        start = {
            "codex": ["codex", prompt],
            "copilot": ["copilot", *more, "-p" if self.is_alone else "-i", prompt],
            "qwen": ["qwen", "--openai-api-key", "none", "--openai-base-url", base, "-m", "m", "-i", prompt],
            "pi": ["pi", "--provider", "scripted", "--model", "m", prompt],
        }.get(self.agent, [self.agent, "--prompt", prompt])
        screen = Terminal(self.place, terminal, ["pilothouse", *start])
        if self.agent == "copilot" and not self.is_alone:
            screen.wait("trust the files", PATIENCE)
            screen.keys("Enter")
        return screen

    def chosen(self, question, answer):
        """Chooses an answer of its first questions."""
        self.screen.wait(question, PATIENCE)
        while question in self.screen.shown():
            self.screen.keys("Enter" if re.search(rf"›.*{answer}", self.screen.shown()) else "Down")
            time.sleep(0.5)

    def receipt(self):
        """What its model read of its only command, as the receipt and as the request has it."""
        until(lambda: self.place.rows("told"), 20, "what its model read")
        [row] = self.place.run_pilothouse("receipt", "list")["receipts"]
        shown = self.place.run_pilothouse("receipt", "show", row["id"])
        [read] = [answer.text for answer in self.conversation.answers]
        assert shown["receipt"] == read, (shown, read)
        return shown

    def dialog(self):
        self.screen.wait(DIALOGS[self.agent], PATIENCE)

    def card(self):
        """Opens the card in the console."""
        self.console.wait(f"{self.agent} asks: {TOOLS.get(self.agent, 'bash')}", PATIENCE)
        self.console.keys("a")
        self.console.wait("waits? for you")
        self.console.keys("Enter")
        self.console.wait("Answer it in the agent" if self.is_shown_only else "allow this call")
        time.sleep(1)  # time to read

    def gone(self, since, what, says):
        """Waits until the card is gone, and says how long that took."""
        self.console.wait(says)
        print(f"    {what}: the card went after {time.monotonic() - since:.2f} s", flush=True)

    def is_one(self):
        """Checks that its hook and its shell are one agent to the console."""
        assert f"{self.agent}#2" not in self.console.shown(), self.console.shown()

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
    run.console.wait(rf"{run.agent}\W+idle", PATIENCE)
    shown = run.receipt()
    assert shown["native"]["ruling"] == "at_console", shown
    run.is_one()


def refused_here(run):
    run.dialog()
    run.card()
    refuse_here(run)


def refuse_here(run):
    """Refuses with words on the open card, and looks for them in what the model read."""
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
    run.console.wait(rf"{run.agent}\W+idle", PATIENCE)
    run.is_one()
    if run.agent == "copilot":
        shown = run.receipt()
        assert shown["native"]["ruling"] == "in_agent", shown


def refused_where_shown(run):
    run.dialog()
    run.card()
    if run.agent == "copilot":
        # Of an answer that also ends its turn, it tells nothing until the next one begins.
        run.screen.keys("3")
        time.sleep(0.5)
        run.screen.text("use make")
        time.sleep(0.5)
        run.screen.keys("Enter")
    else:
        run.screen.keys("Escape")
    run.gone(time.monotonic(), "refused in the agent", "answered in the agent")
    assert not run.has("made")


def adopted(run):
    hooks = run.place.home / ".copilot/hooks/pilothouse.json"
    assert hooks.exists()
    run.card()
    assert run.place.run_pilothouse("status")["questions"], "the card"
    run.screen.keys("Enter")
    run.over()
    assert run.place.run_pilothouse("adopt", "copilot", "--undo")["effect"] == "removed"
    assert not hooks.parent.exists(), "what was not there before"


adopted.is_adopted = True


def not_asked(run):
    run.dialog()
    other = run.model.play("allowed", made(Shell("copilot")))
    run.console.wait("copilot asks", PATIENCE)
    second = run.started("copilot-2", "allowed", "--allow-tool", "shell(touch)")
    until(lambda: other.over, PATIENCE, "the end of the conversation that asks nothing")
    run.console.wait(r"copilot#2\W+idle", PATIENCE)
    asked = run.place.rows("question")
    assert len(asked) == 1, asked
    second.close()


def held_here(run):
    run.card()
    assert DIALOGS[run.agent] not in run.screen.shown(), "it waits"
    run.console.keys("y")
    until(lambda: run.has("made"), PATIENCE, "the file")
    run.over()
    assert DIALOGS[run.agent] not in run.screen.shown(), "it has not asked"


def held_and_refused(run):
    run.card()
    refuse_here(run)


def held_in_vain(run):
    run.console.wait(f"{run.agent} asks", PATIENCE)
    asked = time.monotonic()
    run.dialog()
    waited = time.monotonic() - asked
    print(f"    its dialog stood after {waited:.1f} s", flush=True)
    assert 15 < waited < 25, waited
    run.is_shown_only = True
    run.card()
    run.screen.keys("Enter")
    run.gone(time.monotonic(), "allowed in the agent", "answered in the agent")
    run.over()
    assert run.has("made")


held_here.is_held = held_and_refused.is_held = held_in_vain.is_held = True


def two_sessions(run):
    run.console.wait(f"{run.agent} needs you", PATIENCE)
    second = run.model.play("second", made_too(Shell(run.agent)))
    other = run.started(f"{run.agent}-2", "second")
    run.console.wait(rf"{run.agent}#2\W+needs you", PATIENCE)
    other.wait(DIALOGS[run.agent], PATIENCE)
    other.keys("Enter")
    until(lambda: run.has("made-2"), PATIENCE, "the file of the second")
    run.console.wait(rf"{run.agent}#2\W+idle", PATIENCE)
    assert not run.has("made") and f"{run.agent} asks" in run.console.shown(), "the first one still asks"
    until(lambda: second.over, PATIENCE, "the end of the second conversation")
    run.screen.keys("Enter")
    run.over()
    run.console.wait(rf"{run.agent}\W+idle", PATIENCE)


def made_too(shell):
    yield asking(shell, "touch made-2")


def subagent(run):
    child = run.model.play("child", made(Shell(run.agent)))
    if run.agent == "qwen":
        # In its auto mode it asks its model first, which is scripted and does not say, and then its user.
        run.console.wait("qwen asks: agent", PATIENCE)
        run.screen.wait("Do you want to proceed", PATIENCE)
        run.screen.keys("Enter")
    run.card()
    if run.is_shown_only:
        run.screen.wait("Approval requested by" if run.agent == "qwen" else DIALOGS[run.agent], PATIENCE)
        run.screen.keys("Enter")
    else:
        run.console.keys("y")
    until(lambda: run.has("made"), PATIENCE, "the file")
    until(lambda: child.over, PATIENCE, "the end of the subagent")
    run.over()
    run.console.keys("Escape")
    run.console.wait(rf"{run.agent}\W+idle", PATIENCE)
    assert f"{run.agent} asks" not in run.console.shown(), "no card is left"
    until(lambda: run.place.rows("told"), 20, "what the subagent's model read")
    run.is_one()


def with_a_subagent(shell):
    call = {"description": "Make a file", "prompt": "SCRIPT:child go"}
    if shell.agent == "copilot":
        yield Call("task", {**call, "agent_type": "general-purpose", "name": "kid", "mode": "sync"})
    elif shell.agent == "qwen":
        # What runs in the background may ask nobody.
        yield Call("agent", {**call, "subagent_type": "general-purpose", "run_in_background": False})
    else:
        yield Call("task", {**call, "subagent_type": "general"})


subagent.script = with_a_subagent


def words(run):
    if run.agent == "pi":
        run.console.wait("pi working", PATIENCE)
    else:
        run.console.wait("needs you", PATIENCE)
        run.dialog()
    run.console.keys("!")
    run.console.wait("next answer")
    run.console.text("use make")
    run.console.keys("Enter")
    run.console.wait("1 unread")
    if run.agent != "pi":
        run.screen.keys("Enter")
    until(lambda: run.conversation.over, PATIENCE, "the end of the conversation")
    until(lambda: SAID in str(run.model.bodies), 20, "the words in a request")
    until(lambda: "unread" not in run.console.shown(), 15, "the words are read")
    [said] = {line for body in run.model.bodies.values() for line in re.findall(rf'[^"\\n]*{SAID}[^"\\n]*', json.dumps(body))}
    print(f"    its model read: {said}", flush=True)


def slowly(shell):
    yield asking(shell, "touch made; sleep 6")
    yield asking(shell, "true")


words.script = lambda shell: slowly(shell) if shell.agent == "pi" else made(shell)


def works(run):
    run.over()
    assert run.has("made")
    run.console.wait("pi idle", PATIENCE)
    run.receipt()


def refused_alone(run):
    run.console.wait(r"copilot\W+ended", PATIENCE)
    [answer] = run.over()
    assert "Permission denied" in answer and not run.has("made"), answer
    until(lambda: len(run.place.rows("question")) == 2, 20, "a prompt that came and went")
    assert not run.place.rows("told") and not run.place.tasks()


def allowed_alone(run):
    run.console.wait(r"copilot\W+ended", PATIENCE)
    run.over()
    assert run.has("made") and not run.place.rows("question")
    shown = run.receipt()
    assert shown["native"]["ruling"] not in ("in_agent", "at_console"), shown
    run.is_one()


refused_alone.is_alone = allowed_alone.is_alone = True
allowed_alone.more = ("--allow-tool", "shell(touch)")

SITUATIONS = {
    one.__name__.replace("_", "-"): (one, agents)
    for one, agents in (
        (allowed_here, ANSWERED), (refused_here, ANSWERED), (allowed_there, ANSWERED), (refused_there, ANSWERED),
        (console_killed, ANSWERED + SHOWN), (shown_here, SHOWN), (refused_where_shown, SHOWN), (works, ("pi",)),
        (adopted, ("copilot",)), (not_asked, ("copilot",)), (refused_alone, ("copilot",)), (allowed_alone, ("copilot",)),
        (words, ANSWERED + SHOWN + ("pi",)),
        (held_here, ADOPTED), (held_and_refused, ADOPTED), (held_in_vain, ADOPTED),
        (two_sessions, ANSWERED + SHOWN), (subagent, ANSWERED + ("qwen", "copilot")),
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
                run = Run(asked.cache.resolve() / "desk", programs, asked.pilothouse.resolve(), agent, name, situation)
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
