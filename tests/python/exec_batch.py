"""The pattern of the batch-dispatch guide, as agents paste it, driving the real program.

usage: exec_batch.py PROGRAM COUNT
"""

import sys

# --- the guide's pattern, word for word -------------------------------------------------------
import subprocess, json

PIPE_SAFE_BYTES = 32 * 1024  # 32 KB: conservative half of the 64 KB pipe buffer

def exec_batch(cli: list[str], operations: list[dict], ignore_errors: bool = False) -> list[dict]:
    payload = "\n".join(json.dumps(op) for op in operations)
    flags = ["--ignore-errors"] if ignore_errors else []

    if len(payload.encode()) > PIPE_SAFE_BYTES:
        import tempfile, os
        with tempfile.NamedTemporaryFile(mode="w", suffix=".jsonl", delete=False) as f:
            f.write(payload)
            tmp = f.name
        try:
            result = subprocess.run(
                cli + ["exec"] + flags + ["--input-file", tmp, "--output", "jsonl"],
                capture_output=True, text=True,
                stdin=subprocess.DEVNULL,
                timeout=120,
            )
        finally:
            os.unlink(tmp)
    else:
        result = subprocess.run(
            cli + ["exec"] + flags + ["--output", "jsonl"],
            input=payload,
            capture_output=True, text=True,
            timeout=120,
        )

    if result.returncode == 2:
        raise ValueError(f"Malformed JSONL stream: {result.stderr[:200]}")

    return [json.loads(line) for line in result.stdout.splitlines() if line.strip()]

def sort_for_safety(operations: list[dict], manifest: dict) -> list[dict]:
    def danger(op):
        cmd_key = op["_cmd"]
        level = manifest["commands"].get(cmd_key, {}).get("danger_level", "mutating")
        return {"safe": 0, "mutating": 1, "destructive": 2}[level]
    return sorted(operations, key=danger)
# --- end of the guide's pattern ---------------------------------------------------------------


def main() -> None:
    program, count = sys.argv[1], int(sys.argv[2])
    cli = [program]
    manifest = json.loads(subprocess.run(cli + ["manifest"], capture_output=True, check=True).stdout)["data"]

    kinds = [
        {"_cmd": "version"},
        {"_cmd": "task.list", "_opts": {"scope": "all"}},
        {"_cmd": "command.run", "_opts": {"dry-run": True}, "cmd": "printf done"},
        {"_cmd": "nope.nothing"},
    ]
    operations = [kinds[at % 4] for at in range(count - 1)] + [{"_cmd": "command.run", "cmd": "printf done"}]
    operations = sort_for_safety(operations, manifest)
    first_change = next(at for at, op in enumerate(operations) if op["_cmd"] == "command.run")
    assert all(op["_cmd"] != "task.list" for op in operations[first_change:]), "reads come first"

    answers = exec_batch(cli, operations, ignore_errors=True)
    assert len(answers) == count, (len(answers), count)
    for number, (op, answer) in enumerate(zip(operations, answers), 1):
        assert (answer["meta"]["_line"], answer["meta"]["_cmd"]) == (number, op["_cmd"]), answer
        assert answer["ok"] == (op["_cmd"] != "nope.nothing"), answer
    done = [answer for answer in answers if (answer["data"] or {}).get("stdout_preview") == "done"]
    assert len(done) == 1, done

    try:
        exec_batch(cli, [[]])
    except ValueError as refused:
        assert "Malformed" in str(refused)
    else:
        raise AssertionError("a malformed stream ends with 2")
    print(f"ok {count}")


main()
