"""Runs a program whose sessions are answered by each of the real agents in turn, against a scripted model.

    python3 tests/agents/sessions.py --pilothouse target/release/pilothouse [--agent A]...

For each agent: a session, a condition, and a `resume` that continues the agent's own session; denied tools are not among those
offered to its model. Fails if any of this does not hold.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from model import Gemini, Model, api_of, whole  # noqa: E402
from place import AGENTS, Place, install  # noqa: E402

PROGRAM = """\
agent critic:
  persist: true
  prompt: "You are strict."
  permissions:
    bash: deny
    network: deny
let log = exec "echo two tests failed; exit 1"
  on-fail: "continue"
let why = session: critic
  prompt: "Say why, KESTREL"
  context: log
if **the log tells of failures**:
  exec "touch judged"
let more = resume: critic
  prompt: "And then?"
output all = exec "printf '%s|%s' '{why}' '{more}'"
"""

# The names that the agents have for tools that run commands.
SHELLS = {"Bash", "Monitor", "shell", "exec_command", "unified_exec", "run_shell_command", "bash"}
# For Gemini CLI, a model that does not need another model to select one.
COMMANDS = {"gemini": '["gemini","-m","gemini-2.5-pro","--output-format","json"]'}


class Answering(Model):
    """A model that answers what it is asked, and keeps what it was given."""

    def __init__(self):
        super().__init__()
        self.given = []

    def answer(self, path, body):
        api = api_of(path)
        if path.endswith("/count_tokens"):
            return {"input_tokens": 10}
        if api is None:
            return {}
        said = json.dumps(body)
        tools = [whole(name) for name in api.tools(body)]
        if tools:
            self.given.append((tools, said))
        elif isinstance(api, Gemini):
            return api.reply(body, [], "{}", 0)
        # Counted per request: a resumed conversation contains the earlier ones too.
        return api.reply(body, [], "yes" if "yes or no?" in said else f"answer {len(self.given)}", len(self.given))


def check(agent, programs, pilothouse, root):
    """Runs the program with one agent and returns what went wrong."""
    model = Answering()
    place = Place(root / agent, programs, pilothouse, model.port)
    try:
        (place.workspace / "p.prose").write_text(PROGRAM)
        ran = place.run_pilothouse("run", "p.prose", "--output", "json", "--session", COMMANDS.get(agent, agent)) or {}
        wrong = []
        if ran.get("status") != "completed" or ran.get("sessions") != 3:
            wrong.append(f"it ended with {json.dumps(ran)[:600]}")
        if not str(ran.get("outputs", {}).get("all", "")).startswith("answer "):
            wrong.append(f"its output is {ran.get('outputs')}")
        if not (place.workspace / "judged").exists():
            wrong.append("the condition was not decided")
        if agent == "claude" and not ran.get("cost_usd"):
            wrong.append("it has no cost")
        own = [said for tools, said in model.given if "And then?" in said]
        if not own or "KESTREL" not in own[-1]:
            wrong.append("what goes on does not know what was before")
        denied = [sorted(SHELLS.intersection(tools)) for tools, said in model.given if "You are strict" in said]
        if not denied or any(denied):
            wrong.append(f"offered although denied: {denied}")
        return wrong
    finally:
        place.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilothouse", type=Path, required=True)
    parser.add_argument("--agent", choices=AGENTS, action="append")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/pilothouse-agents")
    asked = parser.parse_args()
    programs = install(asked.cache / "programs")
    failed = False
    for agent in asked.agent or AGENTS:
        wrong = check(agent, programs, asked.pilothouse.resolve(), asked.cache / "sessions")
        print(f"{agent:9} {'; '.join(wrong) or 'a session, a condition, one that goes on; what is denied is not offered'}", flush=True)
        failed |= bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()
