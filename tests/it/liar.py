"""A runtime of another machine that lies: `liar.py FOLDER FIRST STEP MOST WORDS…`, with the words of a relay command.

Each connection of a console tells the next kind of lie of FIRST, FIRST + STEP, … below MOST; after the last of them,
there is a file `finished-FIRST`."""
import json, os, struct, sys, time

folder, first, step, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
words = sys.argv[5:]
out = sys.stdout.buffer
with open(os.path.join(folder, "pieces.json")) as pieces:
    PIECES = json.load(pieces)
LONG = float(os.environ.get("LIE_SECONDS", "0.6"))
BEGAN = time.monotonic()


def line(value):
    out.write(json.dumps(value).encode() + b"\n")
    out.flush()


def raw(payload, length=None):
    out.write(struct.pack(">I", len(payload) if length is None else length) + payload)
    out.flush()


def frame(value):
    raw(json.dumps(value).encode())


def piece(kind, **fields):
    return {**PIECES[kind], **fields}


def task(n, **fields):
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    digits = "".join(alphabet[(n >> (5 * at)) % 32] for at in range(8))
    return {"task": piece("task", id="task_" + digits, number=n, **fields)}


def notice(n, text="x"):
    return {"notice": {"seq": n, "at": "2026-01-01T00:00:00Z", "is_error": False, "text": text}}


def held(n, **fields):
    return {"held": piece("held", ticket=n, **fields)}


def agent(n, **fields):
    return {"agent": piece("agent", label="a%d" % n, **fields)}


def call(n, **fields):
    return {"call": piece("call", seq=n, **fields)}


def update(gone=(), **rest):
    frame({"update": {"rest": {**PIECES["rest"], **rest}, "gone": list(gone)}})


def publish(items, gone=(), **rest):
    frame({"items": items})
    update(gone, **rest)


def endless(make):
    n = 0
    while time.monotonic() - BEGAN < LONG:
        make(n)
        n += 1
    time.sleep(0.1)


def screen(n, cols, rows, lines):
    return {"screen": {**PIECES["screen"], "task": task(n)["task"]["id"], "first": True,
                       "size": {"cols": cols, "rows": rows}, "rows": lines}}


def slow(payload):
    raw(b"", 1 << 20)
    for byte in payload:
        out.write(bytes([byte]))
        out.flush()
        time.sleep(0.2)


def flicker(n):
    publish([held(1)], [] if n % 2 else [{"held": 1}])
    time.sleep(0.05)


MB = "x" * (1 << 20)
LIES = [
    lambda: endless(lambda n: frame({"items": [notice(n * 1000 + at) for at in range(1000)]})),
    lambda: endless(lambda n: frame({"items": [notice(n, MB)]})),
    lambda: endless(lambda n: frame({"items": [task(n * 100 + at) for at in range(100)]})),
    lambda: endless(lambda n: frame({"items": [held(n * 100 + at) for at in range(100)]})),
    lambda: endless(lambda n: frame({"items": [agent(n * 1000 + at) for at in range(1000)]})),
    lambda: endless(lambda n: frame({"items": [call(n * 500 + at) for at in range(500)]})),
    lambda: publish([notice(1, "y" * 40_000)] * 60, [{"notice": 1}] * 60_000),
    lambda: update([{"notice": 9}, {"notice": 9}, {"notice": 1 << 64}]),
    lambda: update([{"notice": n} for n in range(200_000)]),
    lambda: update(notices=[notice(n)["notice"] for n in range(50_000)]),
    lambda: update(recording=MB + MB),
    lambda: update(tasks=[task(n)["task"] for n in range(500)]),
    lambda: update(workspace="/" + MB[: 900_000]),
    lambda: raw(b"", 0xFFFFFFFF),
    lambda: raw(b"", 17 << 20),
    lambda: slow(b"[" * 20),
    lambda: raw(b"not JSON"),
    lambda: raw(b"[" * 100_000 + b"]" * 100_000),
    lambda: raw(b"[]"),
    lambda: raw(b""),
    lambda: raw(b"{\"items\":[\"\xff\xfe\"]}"),
    lambda: raw(b'{"items":[],"items":[]}'),
    lambda: frame({"hologram": MB}),
    lambda: frame({"event": {"log": "x"}}),
    lambda: endless(lambda n: frame({"reply": {"id": n, "reply": {"Err": MB}}})),
    lambda: endless(lambda n: frame({"cards": [{"id": {"held": n * 9000 + at}, "nonce": "0" * 32} for at in range(9000)]})),
    lambda: endless(lambda n: frame({"cards": [{"id": "gate", "nonce": MB}]})),
    lambda: endless(lambda n: frame(screen(n, 1000, 1000, [[at, {"runs": [{"text": "x" * 9_000}]}] for at in range(100)]))),
    lambda: endless(lambda n: frame(screen(1, 9, 1000, [[n % 1000, {"runs": [{"text": MB}]}]]))),
    lambda: endless(lambda n: frame(screen(1, 1000, 1000, [[n % 1000, {"runs": [{"text": "x"}] * 50_000}]]))),
    lambda: frame(screen(1, 65_535, 65_535, [[65_535, {"runs": []}]])),
    lambda: publish([held(1, description=MB * 13)]),
    lambda: publish([held(n, since="%s-01-01T00:00:00Z" % year) for n, year in ((1, "-009999"), (2, "9999"))]),
    lambda: publish([call((1 << 64) - 1 - n) for n in range(9)] + [held((1 << 64) - 1)]),
    lambda: publish([agent(1, client="\x1b[2J\x1b]0;owned\x07\u202e" * 2_000)]),
    lambda: publish([notice(1, "\x1b[2J\x1b]52;c;AAAA\x07\u202e" * 9_000)]),
    lambda: publish([{"task": piece("task", cmd="\x1b[2J\r\n" * 20_000)}]),
    lambda: update(metrics={**PIECES["rest"]["metrics"], "tasks_started": (1 << 64) - 1, "output_bytes_in": (1 << 64) - 1}),
    lambda: endless(lambda n: publish([notice(1, "%d" % n + MB)])),
    lambda: endless(flicker),
    lambda: raw(b'{"items":', 5_000),
    lambda: time.sleep(LONG),
    lambda: endless(lambda n: update([], recording="r%d" % n)),
]


def relay():
    # The line that says who connects.
    sys.stdin.buffer.readline()
    line({"v": PIECES["link"], "ok": True, "workspace": "/srv/liar", "runtime_pid": 7})
    counter = os.path.join(folder, "next-%d" % first)
    at = int(open(counter).read()) if os.path.exists(counter) else first
    if at >= min(most, len(LIES)):
        publish([])
        open(os.path.join(folder, "finished-%d" % first), "w").close()
        time.sleep(600)
    with open(counter + ".new", "w") as new:
        new.write(str(at + step))
    os.rename(counter + ".new", counter)
    try:
        publish([])
        LIES[at]()
        time.sleep(0.1)
    except BrokenPipeError:
        pass


if words[-1] == "jsonl":
    runtimes = [{"id": "0123456789ab", "workspace": "/srv/liar", "pid": 7, "version": "0.1.0", "link": PIECES["link"],
                 "tasks": 0, "needs": 0}]
    line({"ok": True, "data": {"machine": "m", "version": "0.1.0", "link": PIECES["link"], "load": None, "runtimes": runtimes}})
else:
    relay()
os._exit(0)
