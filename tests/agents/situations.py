"""The situations in the table: what the model calls, what the person does meanwhile, and what the model must be told.

Each function takes the run's `Place`, yields calls, and receives what the model was given. Its assertions are what the
table claims.
"""

import os
import signal
import threading
import time

from model import Call
from place import until


def command(cmd, **arguments):
    """A call of ExecCommand."""
    return Call("ExecCommand", {"cmd": cmd, **arguments})


def meanwhile(place, action):
    """Does something while the next call runs; an error is kept in `place.trouble`."""
    def act():
        try:
            action()
        except Exception as error:
            place.trouble = f"{error}"

    threading.Thread(target=act, daemon=True).start()


def has(answer, *words):
    """Asserts that each of these words is in what the model was given."""
    for word in words:
        assert word in answer.text, f"{word!r} is not in what the model was given:\n{answer.text[:2000]}"


def success(place):
    has((yield command("echo hi; pwd")), "Process exited with code 0", "hi\n")


def exit_3(place):
    has((yield command("echo oops >&2; exit 3")), "Process exited with code 3", "stderr:\noops")


def long_output(place):
    """200 KB: truncated by us, not by the client, and the receipt says how to read on."""
    answer = yield command("seq -f 'a line of some length that is number %.0f' 1 4500", max_output_tokens=64000)
    has(answer, "Process exited with code 0", "number 1\n", "number 4500", "TaskOutput")


def batch(place):
    """Five commands, one of which fails with a lot of output: the results of all of them come first."""
    items = ["echo one", "echo two; echo err >&2", "seq 1 20000; exit 7", "seq 1 3", "echo last"]
    answer = yield Call("ExecCommandBatch", {"items": [{"cmd": cmd} for cmd in items]})
    head = "\n".join(answer.text.splitlines()[:12])
    for result in ("[1] exit=0", "[3] exit=7", "[5] exit=0"):
        assert result in head, f"{result!r} is not in the first lines:\n{head}"


def promote(place):
    answer = yield command("echo ready; sleep 300", yield_time_ms=500)
    has(answer, "Command promoted to background task", "ready", "TaskOutput")
    has((yield Call("TaskStop", {"task_id": answer.task()})), answer.task())


def read_on(place):
    """The rest of a truncated output is read by line numbers."""
    cut = yield command("seq 1 40000")
    has(cut, "TaskOutput")
    middle = yield Call("TaskOutput", {"task_id": cut.task(), "lines": "20000-20010"})
    has(middle, "20000", "20010")


def match(place):
    """A line in the middle of a truncated output is found with a pattern."""
    cut = yield command("seq 1 20000; echo 'error: the needle'; seq 20001 40000")
    found = yield Call("TaskOutput", {"task_id": cut.task(), "match": "error:.*needle", "context": 1})
    has(found, "the needle", "20000", "20001")


def type_input(place):
    asked = yield command("read -r x; echo got $x", accepts_input=True, yield_time_ms=500)
    yield Call("TaskInput", {"task_id": asked.task(), "input": "hello\n", "yield_time_ms": 1000})
    has((yield Call("TaskOutput", {"task_id": asked.task()})), "got hello")


def stop(place):
    running = yield command("sleep 300", yield_time_ms=300)
    has((yield Call("TaskStop", {"task_id": running.task()})), running.task())
    has((yield Call("TaskOutput", {"task_id": running.task()})), "cancelled")


def cancel(place):
    """The person presses Esc in the agent: the model can find out what became of the command."""

    def escape():
        agent = until(lambda: place.terminal, what="the agent's screen")
        until(lambda: any("sleep 287" in task["cmd"] for task in place.tasks()), what="the command")
        agent.keys("Escape")
        time.sleep(2)  # the four agents' screens have nothing in common to wait for
        agent.text("and then?")
        time.sleep(1)  # as above: a key that comes too soon is taken for part of a paste
        agent.keys("Enter")

    meanwhile(place, escape)
    yield command("sleep 287", yield_time_ms=30000)
    has((yield Call("TaskList", {"scope": "all"})), "sleep 287")


def held_approved(place):
    place.config('[[approvals]]\nprefix = "git push"\n')
    console = place.console()

    def approve():
        console.wait("git push")
        console.keys("A")
        console.wait("wants to run")
        time.sleep(1)  # time to read the dialog: a key that comes sooner decides nothing
        console.keys("y")

    meanwhile(place, approve)
    has((yield command("git push origin main", yield_time_ms=25000)), "Process exited with code")


def held_denied(place):
    place.config('[[approvals]]\nprefix = "git push"\n')
    console = place.console()

    def deny():
        console.wait("git push")
        console.keys("A")
        console.wait("wants to run")
        time.sleep(1)  # as above
        console.keys("n")
        console.wait("why not")
        console.text("wrong branch")
        console.keys("Enter")

    meanwhile(place, deny)
    has((yield command("git push origin main", yield_time_ms=25000)), "operator_denied", "wrong branch")


def held_alone(place):
    """Held, and nobody is there: the model is told how to reach the person."""
    place.config('[[approvals]]\nprefix = "git push"\n')
    has((yield command("git push origin main", yield_time_ms=300)), "no console", "pilothouse")


def operator_types(place):
    console = place.console()
    running = yield command("read -r x; echo got $x", tty=True, yield_time_ms=500)

    console.wait("read -r x")
    console.keys("Enter")
    console.text("mine")
    console.keys("Enter")
    console.wait("got mine")
    has((yield Call("TaskOutput", {"task_id": running.task()})), "got mine")


def notes(place):
    """A message that the person leaves in the console reaches the model with the next answer, once."""
    console = place.console()
    has((yield command("echo one")), "one")
    console.keys("!")
    console.wait("It goes with the next answer")
    console.text("use uv, not pip")
    console.keys("Enter")
    console.wait("will read it")
    until(lambda: place.rows("words"), what="the words on record")
    has((yield command("echo two")), "two", 'the operator says: "use uv, not pip"')
    assert "use uv" not in (yield command("echo three")).text, "told twice"


def console_quit(place):
    """The console that hosts the runtime is closed: the end has a reason, and the next call works."""
    console = place.console()
    running = yield command("sleep 300", yield_time_ms=300)

    def leave():
        console.keys("q")
        console.wait("stop all and quit")
        console.keys("s")

    meanwhile(place, leave)
    ended = yield Call("TaskOutput", {"task_id": running.task(), "timeout_ms": 20000})
    assert "the operator closed the console" in ended.text or "runtime_shutting_down" in ended.text, ended.text
    has((yield command("echo again")), "again")


def runtime_killed(place):
    running = yield command("sleep 300", yield_time_ms=300)
    os.kill(until(place.runtime, what="the runtime's lock"), signal.SIGKILL)
    after = yield Call("TaskOutput", {"task_id": running.task()})
    assert "interrupted" in after.text or "runtime" in after.text, after.text
    has((yield command("echo again")), "again")


def two_sessions(place):
    """A second session of the same agent does not drive the first one's task."""
    running = yield command("sleep 300", yield_time_ms=300)
    place.first = running.task()
    until(lambda: place.second_done, 120, "the second session")
    has((yield Call("TaskStatus", {"task_id": running.task()})), "running")


def second_session(place):
    """The other side of `two_sessions`."""
    until(lambda: place.first, 60, "the first session")
    has((yield Call("TaskStop", {"task_id": place.first})), "not_task_owner")


def venv(place):
    """The environment that was active when the agent started is active in its commands."""
    has((yield command("command -v python; python; echo $VIRTUAL_ENV")), ".venv/bin/python", "of the environment")


def wrong_arguments(place):
    """Argument names that other tools use for the same things."""
    answer = yield Call("ExecCommand", {"command": "echo understood", "timeout": 5000})
    # Gemini CLI checks the schema itself; its message is enough for a model.
    assert "understood" in answer.text or "required property 'cmd'" in answer.text, answer.text
    has((yield command("ls", nonsense=1)), "invalid_tool_input", "nonsense")


def block_72s(place):
    """A call of 72 s, longer than the clients' first timeout."""
    items = [{"cmd": f"sleep 24; echo through {part}", "yield_time_ms": 30000} for part in (1, 2, 3)]
    has((yield Call("ExecCommandBatch", {"items": items})), "[3] exit=0", "through 3")


def activated(place):
    """Creates a virtual environment, and returns the variables with which it is active."""
    folder = place.workspace / ".venv/bin"
    folder.mkdir(parents=True)
    (folder / "python").write_text("#!/bin/sh\necho the python of the environment\n")
    (folder / "python").chmod(0o755)
    return {"VIRTUAL_ENV": str(folder.parent), "PATH": f"{folder}:{place.environment['PATH']}"}


# Additional environment variables that an agent is started with.
ENVIRONMENT = {"venv": activated}
# Situations in which the person is at the agent's own screen.
ON_SCREEN = {"cancel"}

SITUATIONS = {
    "success": success, "exit-3": exit_3, "long-output": long_output, "batch": batch, "promote": promote,
    "read-on": read_on, "match": match, "input": type_input, "stop": stop, "cancel": cancel, "held-approved": held_approved,
    "held-denied": held_denied, "held-alone": held_alone, "operator-types": operator_types,
    "console-quit": console_quit, "runtime-killed": runtime_killed, "two-sessions": two_sessions, "venv": venv,
    "wrong-arguments": wrong_arguments, "block-72s": block_72s, "notes": notes,
}
