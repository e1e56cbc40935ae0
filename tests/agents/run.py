"""Runs the real agents through the situations, against a scripted model, and records what each model was given.

    python3 tests/agents/run.py --pilothouse target/release/pilothouse [--agent A]... [--situation S]... [--write]

Prints the table; `--write` also regenerates the fixtures beside this file and docs/reference/agents-seen.md. The only
network access is the installation of the pinned agents from npm.
"""

import argparse
import json
import os
import re
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from model import Model  # noqa: E402
from place import AGENTS, VERSIONS, Place, install, until  # noqa: E402
from situations import ENVIRONMENT, ON_SCREEN, SITUATIONS, second_session  # noqa: E402

HERE = Path(__file__).parent


def receipts(place):
    """The receipts that the runtimes of this place gave to agents, in order."""
    found = []
    for recording in (place.run_pilothouse("audit", "list") or {}).get("recordings", []):
        listed = place.run_pilothouse("receipt", "list", "--recording", recording["recording"], "--limit", "100") or {}
        for row in listed.get("receipts", []):
            if row["actor"].startswith("agent:"):
                shown = place.run_pilothouse("receipt", "show", row["id"]) or {}
                found.append((row["at"], shown.get("receipt", "")))
    return [receipt for _, receipt in sorted(found)]


def form(text, sent):
    """How a receipt reached the model: the receipt, and its form.

    `text`: unchanged, or between the client's own markers; `dump`: complete, inside a JSON text; `cut`: truncated;
    `client`: the client answered itself, and the call never reached us.
    """
    bare = re.sub(r"^<untrusted_context>\n|\n</untrusted_context>$", "", text)
    bare = re.sub(r"^Wall time: [\d.]+ seconds\nOutput:\n", "", bare)
    if bare in sent:
        return bare, "text"
    for receipt in sent:
        once = json.dumps(receipt, ensure_ascii=False)[1:-1]
        if once in text or json.dumps(once, ensure_ascii=False)[1:-1] in text:
            return receipt, "dump"
    # The runtime was gone: the shim answered instead, and that is not recorded.
    gone = re.compile(r"\w+ failed: [^\n]+\nkind=runtime_shutting_down [^\n]+\nhint: [^\n\"]+")
    if gone.match(bare):
        return bare, "text"
    for unescaped in (text.replace("\\n", "\n"), text.replace("\\\\n", "\n")):
        if found := gone.search(unescaped):
            return found[0], "dump"
    return bare, "cut" if re.search("task_|exited|kind=", bare) else "client"


def plainly(place):
    """Returns a function that replaces what differs from run to run: paths, ids in the order they appear, times."""
    ids = {}

    def plain(text):
        text = text.replace(str(place.workspace), "<workspace>")
        text = re.sub(re.escape(str(place.home)) + r"/\S*?/recordings/[^/\s]+", "<recording>", text)
        text = text.replace(str(place.root), "<place>")
        text = re.sub(r"\b20\d\d-\d\d-\d\dT[\d:.]+Z", "<date>", text)
        text = re.sub(r"task_[a-z0-9]{8}", lambda found: ids.setdefault(found[0], f"task_{len(ids) + 1:08}"), text)
        return re.sub(r"\b\d+(\.\d+)? ?(ms|s)\b", "<time>", text)

    return plain


def short(text):
    """A fixture's text: if long, its beginning and end, with the length of what lies between."""
    return text if len(text) <= 4000 else f"{text[:2000]}\n[{len(text) - 3000} characters left out here]\n{text[-1000:]}"


def one(agent, situation, programs, pilothouse, root):
    """Plays one situation with one agent; returns the row for the table and the fixture."""
    model = Model()
    place = Place(root / f"{agent}-{situation}-{os.getpid()}", programs, pilothouse, model.port)
    try:
        conversation = model.play(situation, SITUATIONS[situation](place))
        if situation in ON_SCREEN:
            place.screen(agent, situation)
            until(lambda: conversation.over, 120, "the end of the conversation")
        else:
            environment = ENVIRONMENT.get(situation, lambda _: {})(place)
            process = place.agent(agent, situation, environment)
            if situation == "two-sessions":
                second = model.play("second", second_session(place))
                place.agent(agent, "second").wait(timeout=120)
                place.second_done = True
                conversation.failure = second.failure
            process.wait(timeout=240)
        failure = conversation.failure or (None if conversation.over else "the agent ended before its model did")
        if place.trouble:
            failure = f"{place.trouble}; {failure}"
        sent = receipts(place)
        steps, plain = [], plainly(place)
        for answer in conversation.answers:
            receipt, how = form(answer.text, sent)
            steps.append({
                "tool": answer.call.tool, "arguments": json.loads(plain(json.dumps(answer.call.arguments))),
                "form": how, "characters": len(receipt), "given": short(plain(receipt)),
            })
        if not failure and any(step["form"] == "cut" for step in steps):
            failure = "a receipt was cut by the client"
        return {"agent": agent, "version": VERSIONS[agent][1], "situation": situation, "tools": conversation.tools,
                "searched": conversation.searched, "failure": failure, "steps": steps}
    except Exception as error:
        screen = place.terminal.shown() if place.terminal else ""
        return {"agent": agent, "version": VERSIONS[agent][1], "situation": situation, "tools": [], "searched": False,
                "failure": f"{type(error).__name__}: {error}\n{screen}", "steps": []}
    finally:
        if os.environ.get("PILOTHOUSE_KEEP"):
            print("kept", place.root, file=sys.stderr)
        else:
            place.close()


MEANING = {"text": "whole", "dump": "within JSON", "client": "answered by the client"}


def cell(row):
    """A cell of the table: how the receipts reached the model, and the length of the longest one."""
    if row is None:
        return ""
    if row["failure"]:
        return "**failed**"
    forms = sorted({step["form"] for step in row["steps"]} - {"text"})
    longest = max(step["characters"] for step in row["steps"])
    reached = ["whole"] if any(step["form"] == "text" for step in row["steps"]) else []
    return ", ".join(reached + [MEANING[form] for form in forms]) + f" ({longest:,})"


def table(rows):
    """The page docs/reference/agents-seen.md, made from the fixtures."""
    found = {(row["agent"], row["situation"]): row for row in rows}
    lines = [
        "# What the agents' models were given", "",
        "Made by `.ci/long agents`: the real agents, a scripted model, this program. Each cell says how the receipts came to the",
        "model, and in brackets how many characters the longest one had. The texts are in `tests/agents/fixtures`.", "",
        "| situation | " + " | ".join(f"{agent} {VERSIONS[agent][1]}" for agent in AGENTS) + " |",
        "|---|" + "---|" * len(AGENTS),
    ]
    for situation in SITUATIONS:
        lines.append(f"| {situation} | " + " | ".join(cell(found.get((agent, situation))) for agent in AGENTS) + " |")
    own = [
        f"- {row['agent']}, {row['situation']}: `{step['given'].strip()[:200]}`"
        for row in rows for step in row["steps"] if step["form"] == "client"
    ]
    lines += ["", "Answered by the client itself, so that the call never came to Pilothouse:", "", *sorted(own)] if own else []
    lines += ["", "*within JSON*: Gemini CLI gives its model an error as a JSON text of the whole answer; the receipt is in it, whole.", ""]
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--pilothouse", type=Path, required=True)
    arguments.add_argument("--agent", action="append", choices=AGENTS)
    arguments.add_argument("--situation", action="append", choices=list(SITUATIONS))
    arguments.add_argument("--cache", type=Path, default=Path.home() / ".cache/pilothouse-agents")
    arguments.add_argument("--write", action="store_true")
    chosen = arguments.parse_args()
    # Programs that ask for their working directory see the resolved path.
    chosen.cache = chosen.cache.resolve()
    programs = install(chosen.cache / "programs")
    rows, lock = [], threading.Lock()

    def play(agent):
        for situation in chosen.situation or SITUATIONS:
            began = time.monotonic()
            row = one(agent, situation, programs, chosen.pilothouse.resolve(), chosen.cache / "runs")
            with lock:
                rows.append(row)
                verdict = "ok" if not row["failure"] else "FAILED " + row["failure"]
                print(f"{agent:9} {situation:16} {time.monotonic() - began:5.1f} s  {verdict}", flush=True)
                if chosen.write and row["steps"]:
                    target = HERE / "fixtures" / agent / f"{situation}.json"
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_text(json.dumps(row, indent=1, ensure_ascii=False) + "\n")

    threads = [threading.Thread(target=play, args=(agent,)) for agent in chosen.agent or AGENTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if chosen.write:
        kept = [json.loads(path.read_text()) for path in sorted((HERE / "fixtures").glob("*/*.json"))]
        (HERE.parent.parent / "docs/reference/agents-seen.md").write_text(table(kept))
    sys.exit(any(row["failure"] for row in rows))


if __name__ == "__main__":
    main()
