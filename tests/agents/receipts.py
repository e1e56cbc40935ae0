"""What Claude Code's model read of its own commands, beside the receipts that Pilothouse has of them.

    python3 tests/agents/receipts.py --pilothouse target/release/pilothouse [--calls N]

The model is scripted and runs N commands in Claude Code's own shell: small, large, empty, failing, with escapes, and the same
one again and again. The receipt of each, as Claude Code's hook reports it, must be the text that was in the next request.
Prints how many are; fails if one is not.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from place import Place, install, until  # noqa: E402
from shells import Native, Shell, prepare  # noqa: E402

KINDS = [
    "echo out {0}; echo err {0} >&2",
    "seq -f 'a line of {0} that is number %.0f' 1 4000",
    "true {0}",
    "echo bad {0}; exit 3",
    "printf '\\033[31mred {0}\\033[0m\\n\\ta\\tb\\r\\nh\\303\\251\\n\\n'",
    "seq 1 9000 >&2; echo {0}; false",
    "date +%s.%N",
]


def script(calls):
    def play(shell):
        for number in range(calls):
            yield shell.run(KINDS[number % len(KINDS)].format(number))
    return play


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilothouse", type=Path, default=Path("target/release/pilothouse"))
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/pilothouse-agents")
    parser.add_argument("--programs", type=Path, action="append", default=[])
    parser.add_argument("--calls", type=int, default=100)
    arguments = parser.parse_args()
    programs = arguments.programs or install(arguments.cache / "programs")
    model = Native()
    place = Place(arguments.cache / "receipts", programs, arguments.pilothouse.resolve(), model.port)
    prepare(place, "claude", True)
    try:
        conversation = model.play("receipts", script(arguments.calls)(Shell("claude")))
        settings = ["--allowedTools", "Bash", "--max-turns", str(arguments.calls + 9)]
        agent = place.start(["pilothouse", "claude", "-p", "SCRIPT:receipts go", *settings])
        agent.wait(timeout=60 + 5 * arguments.calls)
        assert not conversation.failure, conversation.failure
        read = [answer.text for answer in conversation.answers]
        assert len(read) == arguments.calls, f"{len(read)} of {arguments.calls} calls"
        until(lambda: len(place.rows("told")) >= arguments.calls, 20, "every report")
        rows = place.run_pilothouse("receipt", "list", "--limit", str(arguments.calls))["receipts"]
        same = cut = 0
        for text, row in zip(read, reversed(rows), strict=True):
            shown = place.run_pilothouse("receipt", "show", row["id"])
            same += shown["receipt"] == text
            cut += bool(shown.get("native", {}).get("is_cut"))
            if shown["receipt"] != text:
                print(json.dumps({"cmd": shown["input"]["cmd"], "read": text[:400], "receipt": shown["receipt"][:400]}), flush=True)
        print(f"{same} of {arguments.calls} receipts are what the model read; {cut} of them cut by the agent", flush=True)
        sys.exit(0 if same == arguments.calls else 1)
    finally:
        place.close()


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, TimeoutError, ValueError, subprocess.SubprocessError) as error:
        print(error, flush=True)
        sys.exit(1)
