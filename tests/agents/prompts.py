"""Claude Code's own prompts, and a person at the console beside it.

    python3 tests/agents/prompts.py --pilothouse target/release/pilothouse [--situation S]...

The model is scripted and asks for commands that no rule allows. Each situation says who answers, where, and what must come of
it. Prints a line for each; fails if one does.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from model import Call  # noqa: E402
from place import Place, Terminal, install, until  # noqa: E402
from shells import Native, Shell, prepare  # noqa: E402

PATIENCE = 60
DIALOG = "Do you want to proceed"


def made(name):
    """A model that makes a file, and ends its turn."""
    def script(shell):
        yield shell.run(f"touch {name}")
    return script


class Run:
    """Claude Code in its screen or for a single prompt, and a console beside it."""

    def __init__(self, root, programs, pilothouse, name, script, has_screen=True):
        self.model = Native()
        self.place = Place(root, programs, pilothouse, self.model.port)
        prepare(self.place, "claude", True)
        self.conversation = self.model.play(name, script(Shell("claude")))
        self.console = self.place.console()
        command = ["pilothouse", "claude", *([] if has_screen else ["-p"]), f"SCRIPT:{name} go", "--permission-mode", "default"]
        self.agent = Terminal(self.place, "claude", command) if has_screen else None
        self.process = None if has_screen else self.place.start(command)

    def dialog(self):
        self.agent.wait(DIALOG, PATIENCE)

    def card(self):
        """Opens the card in the console."""
        self.console.wait("claude-code asks: Bash", PATIENCE)
        self.console.keys("a")
        self.console.wait("waits? for you")
        self.console.keys("Enter")
        self.console.wait("allow this call")
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
    run.card()
    assert run.agent is None or DIALOG in run.agent.shown(), "its dialog stands"
    run.console.keys("y")
    until(lambda: run.has("made"), PATIENCE, "the file")
    run.over()


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
    run.agent.keys("Enter")
    run.gone(time.monotonic(), "allowed in the agent", "answered in the agent")
    run.console.keys("y")
    run.over()
    assert run.has("made")


def refused_there(run):
    run.dialog()
    run.card()
    # It ends its hook then.
    run.agent.keys("Escape")
    run.gone(time.monotonic(), "interrupted in the agent", "no longer open")
    assert not run.has("made")


def refused_there_with_words(run):
    run.dialog()
    run.card()
    run.agent.keys("Down", "Down", "Down")
    time.sleep(0.5)
    run.agent.keys("Tab")
    time.sleep(0.5)
    run.agent.text("use make")
    time.sleep(0.5)
    run.agent.keys("Enter")
    run.gone(time.monotonic(), "refused in the agent with words", "answered in the agent")
    [answer, *_] = run.over()
    assert "use make" in answer, answer
    assert not run.has("made")


def two_sessions(run):
    run.dialog()
    second = run.model.play("second", made("made-2")(Shell("claude")))
    command = ["pilothouse", "claude", "SCRIPT:second go", "--permission-mode", "default"]
    other = Terminal(run.place, "claude-2", command)
    other.wait(DIALOG, PATIENCE)
    run.console.wait("claude-code#2 needs you", PATIENCE)
    run.console.keys("a")
    run.console.wait("2 things wait for you")
    run.console.keys("j", "Enter")
    run.console.wait("claude-code#2 asks")
    time.sleep(1)
    run.console.keys("y")
    until(lambda: run.has("made-2"), PATIENCE, "the file of the second")
    assert not run.has("made"), "the first one still asks"
    until(lambda: second.over, PATIENCE, "the end of the second conversation")
    # The next card opens by itself.
    run.console.wait("claude-code asks: Bash")
    time.sleep(1)
    run.console.keys("y")
    until(lambda: run.has("made"), PATIENCE, "the file of the first")


def two_calls(first, second):
    """A model that runs two commands, one after the other."""
    def script(shell):
        yield shell.run(first)
        yield shell.run(second)
    return script


def whole_turn(run):
    run.dialog()
    run.card()
    run.console.keys("t")
    run.over()
    assert run.has("made") and run.has("made-2"), "both calls of the turn"
    later = run.model.play("later", made("made-3")(Shell("claude")))
    run.agent.text("SCRIPT:later go")
    time.sleep(0.5)
    run.agent.keys("Enter")
    run.dialog()
    assert not run.has("made-3"), "the next turn asks again"
    run.card()
    run.console.keys("y")
    until(lambda: run.has("made-3"), PATIENCE, "the file of the next turn")
    until(lambda: later.over, PATIENCE, "the end of the next turn")


whole_turn.script = two_calls("touch made", "touch made-2")


def alike(run):
    run.dialog()
    run.card()
    run.console.keys("l")
    run.over()
    assert run.has("made") and run.has("made-2"), "the same line, twice"
    run.console.wait("ALLOWED 1[45]m", PATIENCE)
    run.console.keys("J")
    run.model.play("later", two_calls("mkdir made-3", "true")(Shell("claude")))
    run.agent.text("SCRIPT:later go")
    time.sleep(0.5)
    run.agent.keys("Enter")
    run.dialog()
    run.card()
    assert not run.has("made-3"), "a permission that was ended allows nothing"


alike.script = two_calls("mkdir made || mkdir made-2", "mkdir made || mkdir made-2")


def subagent(run):
    child = run.model.play("child", made("made")(Shell("claude")))
    # It works in the background; its prompt does not come up by itself in the agent's screen.
    run.card()
    assert not run.has("made")
    run.console.keys("y")
    until(lambda: run.has("made"), PATIENCE, "the file")
    until(lambda: child.over, PATIENCE, "the end of the subagent")
    assert not child.failure, child.failure


def with_a_subagent(_shell):
    yield Call("Agent", {"description": "Make a file", "prompt": "SCRIPT:child go", "subagent_type": "general-purpose"})


subagent.script = with_a_subagent


def hook_ended(run):
    run.dialog()
    run.card()
    # As the agent does when a hook has taken too long.
    since = time.monotonic()
    subprocess.run(["pkill", "-TERM", "-f", r"^\S* hook claude"], check=True)
    run.console.wait("no longer open|answered in the agent")
    print(f"    the hook was ended: the card went after {time.monotonic() - since:.2f} s", flush=True)
    run.console.keys("y")
    time.sleep(1)
    assert DIALOG in run.agent.shown() and not run.has("made"), "nothing is allowed by an end"


def words(run):
    run.dialog()
    run.console.wait("needs you", PATIENCE)
    run.console.keys("!")
    run.console.wait("next answer")
    run.console.text("use make")
    run.console.keys("Enter")
    run.console.wait("1 unread")
    run.agent.keys("Enter")
    run.over()
    until(lambda: "unread" not in run.console.shown(), 15, "the words are read")
    assert "the operator says: use make" in str(run.model.bodies), "in no request"


def console_killed(run):
    run.dialog()
    run.card()
    run.console.close()
    time.sleep(1)
    assert DIALOG in run.agent.shown(), run.agent.shown()
    assert not run.has("made")
    run.agent.keys("Enter")
    until(lambda: run.has("made"), PATIENCE, "the file")


def single_prompt(run):
    run.card()
    run.console.keys("y")
    until(lambda: run.has("made"), PATIENCE, "the file")
    run.over()


def single_prompt_refused(run):
    run.card()
    run.console.keys("n")
    run.console.wait("refuse, with these words")
    run.console.text("not now")
    run.console.keys("Enter")
    [answer, *_] = run.over()
    assert "not now" in answer, answer


SITUATIONS = [
    allowed_here, refused_here, allowed_there, refused_there, refused_there_with_words, two_sessions, whole_turn, alike,
    subagent, words, console_killed, hook_ended,
    single_prompt, single_prompt_refused,
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilothouse", type=Path, default=Path("target/release/pilothouse"))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/pilothouse-agents")
    parser.add_argument("--situation", action="append", default=[])
    arguments = parser.parse_args()
    programs = install(arguments.cache / "programs")
    failed = 0
    for number, situation in enumerate(SITUATIONS):
        name = situation.__name__
        if arguments.situation and name not in arguments.situation:
            continue
        run = None
        try:
            root = arguments.cache / "prompts" / str(number)
            run = Run(root, programs, arguments.pilothouse.resolve(), name, getattr(situation, "script", made("made")), not name.startswith("single"))
            situation(run)
            print(f"{name}: as it should be", flush=True)
        except (AssertionError, TimeoutError, ValueError, subprocess.SubprocessError) as error:
            failed += 1
            print(f"{name}: {error}", flush=True)
            if run is not None:
                for terminal in filter(None, (run.agent, run.console)):
                    print(terminal.shown(), flush=True)
        finally:
            if run is not None:
                run.place.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
