"""The nine agents' own shells, with and without Pilothouse: the model must read the same text.

    python3 tests/agents/shells.py --pilothouse target/release/pilothouse [--agent A]... [--scenario S]... [--show]

Each agent plays each scenario twice in the same folder, with its own shell and through Pilothouse's (Codex: with its own server and with
our executor), against a scripted model. Whatever varies between runs anyway (ids, times, process ids) is removed from the requests; the
rest must be equal, and each command must have been a task. Prints the table; fails if anything differs.
"""

import argparse
import difflib
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from executor import settle  # noqa: E402
from model import Call, Model, api_of  # noqa: E402
from place import ROUTED, Place, install  # noqa: E402

# The name of each agent's own shell tool.
TOOLS = {
    "claude": "Bash", "codex": "exec_command", "gemini": "run_shell_command", "opencode": "bash", "copilot": "bash",
    "pi": "bash", "qwen": "run_shell_command", "kilo": "bash", "cline": "run_commands",
}
# How many seconds a run of an agent may take.
PATIENCE = 120
# How often the plain run is repeated to see whether its result varies anyway.
AGAIN = 5


class Native(Model):
    """A model that calls the agent's own shell, and keeps the last request of each conversation."""

    def __init__(self):
        super().__init__()
        self.bodies = {}

    def answer(self, path, body):
        api = api_of(path)
        if path.endswith("/count_tokens"):
            return {"input_tokens": 10}
        if api is None:
            return {}
        # What the model itself has written to a subagent is no prompt of this conversation.
        prompts = [one for one in body.get("messages", []) if one.get("role") != "assistant"]
        names = re.findall(r"SCRIPT:([\w-]+)", json.dumps({**body, "messages": prompts}))
        conversation = self.conversations.get(names[-1] if names else None)
        tools = {name[1] if isinstance(name, tuple) else name: name for name in api.tools(body)}
        own = next((tool for tool in TOOLS.values() if tool in tools), None)
        if conversation is None or own is None:
            return api.reply(body, [], "{}" if "gemini" in path.lower() else "A title", 0)
        with conversation.lock:
            self.bodies[names[-1]] = body
            calls = conversation.next(list(api.results(body)))
            turn = len(conversation.answers)
        wanted = [(tools.get(call.tool, tools[own]), call.arguments) for call in calls]
        return api.reply(body, wanted, conversation.last, turn)


class Shell:
    """Calls an agent's shell as its model would."""

    def __init__(self, agent):
        self.agent = agent

    def run(self, cmd, limit_ms=None):
        """A call that runs a command, optionally with the time limit that the model sets."""
        arguments = {"cmd" if self.agent == "codex" else "command": cmd}
        if self.agent == "cline":
            arguments = {"commands": [cmd]}
        if self.agent == "pi" and limit_ms:
            arguments["timeout"] = limit_ms // 1000
        if self.agent in ("claude", "opencode", "copilot", "qwen", "kilo"):
            arguments["description"] = "A command"
            if limit_ms and self.agent != "copilot":
                arguments["timeout"] = limit_ms
            if limit_ms and self.agent == "copilot":
                arguments["initial_wait"] = limit_ms // 1000
        if self.agent == "qwen":
            arguments["is_background"] = False
        if self.agent == "codex":
            arguments["yield_time_ms"] = limit_ms or 20000
        return Call(TOOLS[self.agent], arguments)


def success(shell):
    yield shell.run("echo hi; ls; wc -c < notes.txt")


def stderr(shell):
    yield shell.run("echo out; sleep 0.2; echo err >&2; sleep 0.2; echo out again")


def exit_code(shell):
    yield shell.run("echo failing; exit 3")
    yield shell.run("false")
    yield shell.run("exit 255")


def multi_line(shell):
    yield shell.run("for n in 1 2 3\ndo\n  echo \"line $n\"\ndone\nif true; then\n  echo done\nfi")


def heredoc(shell):
    # Without command substitution, which Gemini CLI refuses.
    yield shell.run("cat <<'EOF' > made.txt\na $HOME 'quoted' \"twice\" \\\nEOF\ncat made.txt; cat <<EOF\n${HOME:+at home} $UID\nEOF")


def cd(shell):
    yield shell.run("cd 'deep er' && pwd")
    yield shell.run("pwd")
    # Separated by a pause: the order of output on two pipes is undefined.
    yield shell.run("cd /nosuch; sleep 0.3; pwd")


def variables(shell):
    yield shell.run("export GIVEN=here; echo [$GIVEN] $SHELL ${PAGER-none} $PATH; umask; ulimit -n")
    yield shell.run("echo [$GIVEN]; env | cut -d= -f1 | grep -v PILOTHOUSE | sort")


def background(shell):
    yield shell.run("(sleep 1; echo late >> notes.txt) > /dev/null 2>&1 & echo early; wait; cat notes.txt")
    yield shell.run("nohup sleep 0.5 > /dev/null 2>&1 & echo left")


def large(shell):
    yield shell.run("seq -f 'a line of some length that is number %.0f' 1 30000")
    yield shell.run("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")


def unicode(shell):
    yield shell.run("printf 'h\\303\\251 \\360\\237\\230\\200 \\346\\274\\242 end\\n'; echo 'é 😀 漢'")
    yield shell.run("printf 'a\\377b\\n'; printf '\\033[31mred\\033[0m\\n'")


def killed(shell):
    if shell.agent not in ("opencode", "kilo", "copilot"):  # Copilot CLI refuses this; the others wait forever for a shell that was killed by a signal, even for its own
        yield shell.run("echo before; kill -TERM $$")
        yield shell.run("echo before; kill -9 $$")
    yield shell.run("bash -c 'kill -9 $$'; echo $?")
    yield shell.run("bash -c 'kill -SEGV $$'; echo $?")


def limit(shell):
    yield shell.run("echo begun; sleep 25; echo over", limit_ms=2000)
    yield shell.run("echo after")


def pipes(shell):
    yield shell.run("seq 1 100 | grep 7 | wc -l; yes | head -2; false | true; echo ${PIPESTATUS[@]}; set -o pipefail; false | true")


def not_found(shell):
    yield shell.run("nosuchcommand --flag")
    yield shell.run("./nosuchfile; echo $?; if then")


SCENARIOS = {
    "success": success, "stderr": stderr, "exit-code": exit_code, "multi-line": multi_line, "heredoc": heredoc, "cd": cd,
    "variables": variables, "background": background, "large-output": large, "unicode": unicode, "signal": killed,
    "agents-limit": limit, "pipes": pipes, "not-found": not_found,
}

# Patterns of text that differs in every run.
OWN = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
    (r"[0-9a-f]{64}", "HEX"),
    (r"Chunk ID: \w+", "Chunk ID: *"),
    (r"Wall time: [\d.]+", "Wall time: *"),
    (r"session ID \d+", "session ID *"),
    (r"\(ID: \w+\)|<task-id>\w+", "ID *"),
    (r"(line \d+: +)\d+ ", r"\1* "),
    (r"tool_[0-9a-zA-Z]{20,}", "tool_*"),
    (r"\b\d{13}\b", "MILLISECONDS"),
    (r"run_shell_command_\d{13}", "run_shell_command_*"),
    (r"\b(ses|msg|prt|call)_[0-9a-zA-Z]{16,}", r"\1_*"),
    (r"(tool-results/|tasks/)\w+", r"\1*"),
    (r"(pi-bash-|copilot-tool-output-)[0-9a-f]+", r"\1*"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "TIME"),
    (r"(Process Group PGID|Background PIDs): [\d, ]+", r"\1: *"),
]


def same(text, root):
    """A text without what varies between runs anyway."""
    text = text.replace(str(root), "PLACE").replace(re.sub(r"[^a-zA-Z0-9]", "-", str(root)), "PLACE")
    for pattern, replacement in OWN:
        text = re.sub(pattern, replacement, text)
    return text


def prepare(place, agent, by_us):
    """Gives the agent only its own shell, without Pilothouse's MCP tools."""
    for path in (place.home / ".gemini/settings.json", place.home / ".config/opencode/opencode.json"):
        settings = json.loads(path.read_text())
        settings.pop("mcpServers", None)
        settings.pop("mcp", None)
        if "gemini" in str(path):
            settings["tools"] = {"shell": {"inactivityTimeout": 5}}
        else:
            settings["permission"] = {"bash": "allow", "external_directory": "allow"}
        path.write_text(json.dumps(settings))
    (place.workspace / "mcp.json").unlink()
    if agent == "codex":
        settle(place, by_us)
        return
    (place.workspace / "notes.txt").write_text("some\nnotes\n")
    (place.workspace / "deep er").mkdir()


def started(place, agent, name, by_us):
    """Starts an agent with the prompt that plays `name`."""
    prompt = f"SCRIPT:{name} go"
    command = {
        "claude": ["claude", "-p", prompt, "--allowedTools", "Bash"],
        "codex": ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
        "gemini": ["gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", prompt],
        "opencode": ["opencode", "run", prompt],
        "copilot": ["copilot", "-p", prompt, "--allow-all", "--no-color", "--bash-env=on"],
        "pi": ["pi", "--provider", "scripted", "--model", "m", "-p", prompt],
        "qwen": ["qwen", "--openai-api-key", "none", "--openai-base-url", f"{place.environment['COPILOT_PROVIDER_BASE_URL']}",
                 "-m", "m", "-y", "-p", prompt],
        "kilo": ["kilo", "run", prompt],
        "cline": ["cline", "-P", "openai-compatible", "-m", "m", "--json", prompt],
    }[agent]
    # Codex is redirected to Pilothouse by its own configuration file.
    return place.start(["pilothouse", *command] if by_us and agent != "codex" else command)


def play(root, programs, pilothouse, agent, name, by_us):
    """Plays one scenario; returns the answers and the last request that the model was given, and the number of tasks."""
    model = Native()
    place = Place(root, programs, pilothouse, model.port)
    try:
        prepare(place, agent, by_us)
        conversation = model.play(name, SCENARIOS[name](Shell(agent)))
        process = started(place, agent, name, by_us)
        process.wait(PATIENCE)
        printed = (place.root / "printed-0.txt").read_text(errors="replace")
        if not conversation.over or conversation.failure:
            raise AssertionError(f"{conversation.failure or 'it did not come to its end'}\n{printed[-1500:]}")
        body = same(json.dumps(model.bodies[name], indent=1, ensure_ascii=False, sort_keys=True), root)
        # Split texts into lines, so that differences are short.
        body = body.replace(str(model.port), "PORT").replace("\\n", "\n")
        answers = [same(answer.text, root) for answer in conversation.answers]
        return answers, body, len(place.tasks()) if by_us else 0
    finally:
        place.close()


def difference(plain, ours):
    lines = difflib.unified_diff(plain.splitlines(), ours.splitlines(), "plain", "by us", lineterm="", n=1)
    return "\n".join(line[:400] for line in list(lines)[:40])


def compare(root, programs, pilothouse, agent, name):
    """The differences in a scenario; empty if everything is the same."""
    try:
        plain, plain_body, _ = play(root, programs, pilothouse, agent, name, False)
        ours, our_body, tasks = play(root, programs, pilothouse, agent, name, True)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return "FAILED", str(error), []
    if plain != ours and any(plain != play(root, programs, pilothouse, agent, name, False)[0] for _ in range(AGAIN)):
        return "differs by itself", "", plain
    if plain != ours:
        return "DIFFERS", difference("\n".join(plain), "\n".join(ours)), plain
    if plain_body != our_body:
        return "DIFFERS", "beside the answers\n" + difference(plain_body, our_body), plain
    if tasks < len(ours):
        return "DIFFERS", f"{tasks} tasks for {len(ours)} commands", plain
    return "same", "", plain


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilothouse", type=Path, required=True)
    parser.add_argument("--agent", action="append", choices=ROUTED)
    parser.add_argument("--scenario", action="append", choices=list(SCENARIOS))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/pilothouse-agents")
    parser.add_argument("--show", action="store_true", help="what the model was given")
    asked = parser.parse_args()
    cache = asked.cache.resolve()
    programs, pilothouse = install(cache / "programs"), asked.pilothouse.resolve()
    verdicts, lock = {}, threading.Lock()

    def all_of(agent):
        for name in asked.scenario or SCENARIOS:
            began = time.monotonic()
            verdict, why, given = compare(cache / "shells" / agent, programs, pilothouse, agent, name)
            with lock:
                verdicts[agent, name] = verdict
                print(f"{agent:9} {name:13} {time.monotonic() - began:5.1f} s  {verdict}", flush=True)
                if why:
                    print(why, flush=True)
                if asked.show:
                    print("\n".join(text[:1500] for text in given), flush=True)

    threads = [threading.Thread(target=all_of, args=(agent,)) for agent in asked.agent or ROUTED]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for agent in asked.agent or ROUTED:
        shutil.rmtree(cache / "shells" / agent, ignore_errors=True)
        own = [verdict for (of, _), verdict in verdicts.items() if of == agent]
        print(f"{agent}: {own.count('same')} of {len(own)} the same to the byte")
    sys.exit(any(verdict in ("DIFFERS", "FAILED") for verdict in verdicts.values()))


if __name__ == "__main__":
    main()
