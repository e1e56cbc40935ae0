"""Real programs that ask, and programs that work: what Pilothouse reports of each. As root, on Debian; it installs what is missing.

    python3 tests/prompts/run.py --pilothouse target/release/pilothouse [--cache FOLDER] [--only REGEX] [--write]

Each program runs with a terminal of its own, beside the streams, and as a command of an agent's own shell, as an ordinary user who is
created for the run. Results are kept in the cache: `--only` renews some. `--write` writes docs/reference/prompts.md.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import termios
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from programs import ASK, NOTES, SETUP, WORK

USER = "pilothouse-asks"
MODES = ("own", "beside", "door")
# How many programs run at once, and how long one may be silent before it counts as missed.
AT_ONCE, SILENT = 8, 12
# The seconds of silence after which a report is late.
LATE = {"certain": 2.5, "likely": 5}


def said(*argv, **options):
    """What a command prints, on both streams."""
    options = {**({} if "input" in options else {"stdin": subprocess.DEVNULL}), "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **options}
    return subprocess.run(argv, check=False, errors="replace", timeout=900, **options)


def source(row):
    """Where a program comes from: the kind, the names, and whether it runs as root."""
    words = row[1].removesuffix(" root")
    kind = words.partition(":")[0] if ":" in words else "apt"
    names = [words[4:]] if kind == "cmd" else [word.rpartition(":")[2] for word in words.split()]
    return kind, names, words != row[1]


def install(cache):
    cache.mkdir(parents=True, exist_ok=True)
    wanted = {kind: sorted({name for row in ASK for name in source(row)[1] if source(row)[0] == kind}) for kind in ("apt", "next", "pip", "npm")}
    missing = [name for name in wanted["apt"] if not version("apt", name, cache)]
    known = [name for name in missing if said("apt-cache", "show", name).returncode == 0]
    if known:
        said("apt-get", "install", "-y", "--no-install-recommends", *known, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if missing := [name for name in wanted["next"] if not version("next", name, cache)]:
        unpack_next(missing, cache / "next")
    if not (cache / "venv").exists():
        said("/usr/bin/python3", "-m", "venv", cache / "venv")
    if missing := [name for name in wanted["pip"] if not version("pip", name, cache)]:
        said(cache / "venv/bin/pip", "install", "-q", *missing)
    if missing := [name for name in wanted["npm"] if not version("npm", name, cache)]:
        (cache / "package.json").write_text('{"private": true}')
        said("npm", "install", "--no-audit", "--no-fund", *missing, cwd=cache)


def unpack_next(names, folder):
    """Unpacks packages of Debian's next release, which run beside this one."""
    (folder / "lists/partial").mkdir(parents=True, exist_ok=True)
    (folder / "list").write_text("deb http://deb.debian.org/debian trixie main\n")
    apt = ["apt-get", "-o", f"Dir::Etc::sourcelist={folder}/list", "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={folder}/lists"]
    said(*apt, "update")
    said(*apt, "download", *names, cwd=folder)
    for package in folder.glob("*.deb"):
        said("dpkg", "-x", package, folder)
    if (sudo := folder / "usr/lib/cargo/bin/sudo").exists():
        sudo.chmod(0o4755)


def version(kind, name, cache):
    with suppress(OSError, IndexError, KeyError, StopIteration):
        if kind == "npm":
            return json.loads((cache / "node_modules" / name / "package.json").read_text())["version"]
        if kind == "pip":
            found = said(cache / "venv/bin/python", "-c", f"import importlib.metadata as m; print(m.version('{name}'))")
        elif kind == "next":
            return re.findall(r"_(\d[^-+~]*)", next((cache / "next").glob(f"{name}_*.deb")).name)[0]
        elif kind == "apt":
            found = said("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", name)
            return re.findall(r"^installed (?:\d+:)?([^-+~]+)", found.stdout)[0]
        else:
            found = said(*shlex.split(name), env={**os.environ, "PATH": f"{cache}/node_modules/.bin:{os.environ['PATH']}"})
        return re.findall(r"\d+\.\d[\w.]*", found.stdout)[0] if found.returncode == 0 else None
    return None


class Place:
    """A home with a runtime of this user."""

    def __init__(self, pilothouse, cache, user):
        self.root = Path(tempfile.mkdtemp(prefix="ph", dir="/tmp"))
        self.pilothouse = pilothouse
        for folder in ("w", "run", "config/pilothouse"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "config/pilothouse/config.toml").write_text('[shell]\nterminal = "always"\n')
        (self.root / "setup").write_text(SETUP)
        (self.root / "pilothouse-bash").symlink_to(pilothouse.with_name("pilothouse-shell"))
        (self.root / "run").chmod(0o700)
        said("chown", "-R", f"{user}:", self.root)
        self.prefix = ["setpriv", "--reuid", user, "--regid", user, "--init-groups"] if user != "root" else []
        path = f"{cache}/next/usr/bin:{cache}/venv/bin:{cache}/node_modules/.bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/games"
        path = f"{path}:{Path.home()}/.cargo/bin" if user == "root" else path
        self.env = {"HOME": str(self.root), "USER": user, "LOGNAME": user, "PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8",
                    "SHELL": "/bin/bash", "XDG_RUNTIME_DIR": f"{self.root}/run", "XDG_CONFIG_HOME": f"{self.root}/config",
                    "PILOTHOUSE_LOCK_DIR": f"{self.root}/run/p", "PILOTHOUSE_SHELL_DOOR": f"{self.root}/w", "CACHE": str(cache)}
        self.tasks = {}
        self.popen(pilothouse, "serve")
        time.sleep(2)

    def popen(self, *argv):
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([*self.prefix, *map(str, argv)], cwd=self.root / "w", env=self.env, start_new_session=True, **streams)

    def call(self, *argv):
        answer = said(*self.prefix, self.pilothouse, *argv, "--output", "json", cwd=self.root / "w", env=self.env, stderr=subprocess.DEVNULL)
        return json.loads(answer.stdout)["data"] or {}

    def look(self):
        tasks = self.call("task", "list", "--scope", "all", "--limit", "100").get("tasks", [])
        self.tasks = {task["cmd"].split(";")[0]: task for task in tasks}

    def close(self):
        self.call("serve", "--stop")
        ended(self.root)
        shutil.rmtree(self.root, ignore_errors=True)


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def ended(folder):
    """Ends what a program of this folder has left."""
    for pid in processes():
        with suppress(OSError):
            if f"HOME={folder}\0".encode() in Path(f"/proc/{pid}/environ").read_bytes():
                os.kill(pid, signal.SIGKILL)


def terminal(folder):
    """The modes of the terminal of a program, and who reads it how: (text, text) as far as they are known."""
    number = 0
    for pid in processes():
        with suppress(OSError):
            if not number and os.readlink(f"/proc/{pid}/cwd").startswith(str(folder)):
                number = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[4])
    if not number:
        return "", ""
    device = f"/dev/pts/{(((number >> 8) & 0xFFF) - 136) * 256 + (number & 0xFF)}"
    readers = []
    for pid in processes():
        with suppress(OSError):
            own = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[4]) == number
            files = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
            ours = "pilothouse" in os.readlink(f"/proc/{pid}/exe")
            if (device in files or own and "/dev/tty" in files) and not ours:
                for thread in Path(f"/proc/{pid}/task").iterdir():
                    at = (thread / "wchan").read_text()
                    how = 0 if at in ("n_tty_read", "wait_woken") else 1 if re.search("poll|select", at) else 2
                    readers.append((how, -pid, (thread / "comm").read_text().strip()))
    with suppress(OSError, termios.error):
        handle = os.open(device, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        local = termios.tcgetattr(handle)[3]
        os.close(handle)
        modes = ("canonical" if local & termios.ICANON else "raw") + ("" if local & termios.ECHO else ", no echo")
        how, _, name = min(readers, default=(2, 0, ""))
        return modes.replace("raw, no echo", "raw"), f"{name} in {('read', 'poll')[how]}" if how < 2 else ""
    return "", ""


class Job:
    """One program in one way."""

    def __init__(self, name, place, number, mode, command, words):
        self.name, self.place, self.mode, self.words = name, place, mode, words
        self.folder = place.root / "w" / f"{number}{mode[0]}"
        self.folder.mkdir()
        shutil.chown(self.folder, place.env["USER"])
        port = 20000 + number * 3 + MODES.index(mode)
        self.key = f"cd {self.folder}"
        line = f"{self.key}; export HOME=$PWD PORT={port}; . {place.root}/setup; {command}"
        if mode == "door":
            place.popen(place.root / "pilothouse-bash", "-c", line)
        else:
            place.call("command", "run", line, "--yield-time-ms", "0", *(["--tty"] if mode == "own" else []))
        self.began, self.seen, self.result = time.monotonic(), None, None

    def look(self):
        """Looks once; tells whether it is done."""
        task, age = self.place.tasks.get(self.key), time.monotonic() - self.began
        if not task or task["status"] == "queued":
            return age > 30
        waiting = task.get("waiting")
        if waiting and waiting["kind"] != "stopped" and not (self.seen and self.is_right()):
            now = {**waiting, "after": round(task.get("quiet_ms", 0) / 1000, 1), "first": waiting["kind"], "at": age}
            if not self.seen:
                self.seen = now
            elif self.is_right(now):
                self.seen = {**now, "first": self.seen["first"], "at": self.seen["at"]}
        running = task["status"] in ("running", "cancelling")
        if running and not (self.seen and (self.is_right() or age > self.seen["at"] + 3)):
            if age < 45 and (age < SILENT + 4 or task.get("quiet_ms", 0) < SILENT * 1000):
                return False
        self.result = {"seen": self.seen, "ran": running}
        if self.words is not None:
            self.result["modes"], self.result["reader"] = terminal(self.folder) if running else ("", "")
            if not self.seen or not self.is_right():
                output = self.place.call("task", "output", task["task_id"], "--block=false")
                self.result["text"] = str(output.get("preview") or output)[-600:]
        return True

    def is_right(self, seen=None):
        return self.words is not None and self.words.lower() in ((seen or self.seen).get("question") or "").lower()

    def end(self):
        task = self.place.tasks.get(self.key)
        if task and task["status"] in ("running", "cancelling"):
            self.place.call("task", "stop", task["task_id"], "--force")
        ended(self.folder)


def play(jobs, places):
    """Runs these jobs, given as functions that start one, several at once; yields those that are done."""
    waiting, running = list(reversed(jobs)), []
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            running.append(waiting.pop()())
        for place in places:
            place.look()
        for job in list(running):
            if job.look():
                job.end()
                running.remove(job)
                yield job
        time.sleep(0.2)


def is_certain(seen):
    return seen["kind"] == "operator" or seen["kind"] != "key" and seen["evidence"] in ("tty_read", "echo_off")


def cell(result):
    """What was reported; a dash if the program does not ask."""
    if seen := (result or {}).get("seen"):
        return seen["kind"] + ("" if is_certain(seen) else ", likely")
    return "not reported" if result and result["ran"] and result["reader"] else "–"


def rate(kept, cache):
    """The rows of the page, and the numbers."""
    table, count = [], Counter()
    for name, origin, _, words, want in sorted(ASK, key=lambda row: row[0].lower()):
        kind, sources, _ = source((name, origin))
        found, results = version(kind, sources[-1], cache), kept.get(name, {})
        own, notes = results.get("own") or {}, [NOTES[name]] if name in NOTES else []
        reported, beside, door = (cell(results.get(mode)) for mode in MODES)
        for mode, text in zip(MODES, (reported, beside, door)):
            count.update({f"{mode} asked": text != "–", f"{mode} reported": text[0] not in "–n"})
        if found is None:
            notes.append("cannot be installed here")
        elif reported == "–" and name not in NOTES:
            notes.append("does not ask here")
        if seen := own.get("seen"):
            asked, needed = seen.get("question") or "", want.rstrip("?")
            is_right = seen["kind"] in (("line", "key") if needed == "text" else (needed,))
            is_shown, is_sure = words.lower() in asked.lower(), is_certain(seen)
            evidence = "certain" if is_sure else "likely"
            count.update({"right": is_right, "question": is_shown, evidence: 1, f"{evidence} in time": seen["after"] <= LATE[evidence]})
            shown = f"question: `{asked[:50].replace('|', '¦')}`" if asked else "question: none"
            notes += [text for text, holds in ((f"is a {needed}", not is_right), ("late", seen["after"] > LATE[evidence]),
                      (shown, not is_shown), (f"first seen as {seen['first']}", seen["first"] != seen["kind"]),
                      ("is certain", is_right and not is_sure and want in ("line", "secret"))) if holds]
        notes += [f"own shell: {door}"] if door != beside else []
        modes = "; ".join(filter(None, (own.get("modes"), own.get("reader"))))
        after = str(seen["after"]) if seen else ""
        table.append("| " + " | ".join((name.replace("|", "\\|"), found or "", modes, reported, after, beside, "; ".join(notes))) + " |")
    worked = {name: kept[f"work: {name}"]["seen"] for name, _ in WORK if kept.get(f"work: {name}")}
    false = {name: seen for name, seen in worked.items() if seen}
    count.update(worked=len(worked), false_certain=sum(map(is_certain, false.values())))
    return table, count, false


def page(table, count, false):
    wrong = "".join(f" `{name}` ({seen['kind']}, {'certain' if is_certain(seen) else 'likely'})" for name, seen in false.items())
    release = re.search(r'PRETTY_NAME="(.*)"', Path("/etc/os-release").read_text())[1]
    return f"""# Programs that ask

What Pilothouse reports of real programs while they ask: made by `.ci/long asking` (`tests/prompts/run.py`) on
{release}, Linux {os.uname().release.split('-')[0]}, two processors, eight programs at once.

- With a terminal of their own, {count['own asked']} programs ask. {count['own reported']} are reported ({count['own reported'] / count['own asked']:.1%}): {count['certain']} as a certain
  wait, {count['certain in time']} of these within {LATE['certain']} s, and {count['likely']} as a likely one, {count['likely in time']} within {LATE['likely']} s; {count['right']} as what they are
  ({count['right'] / count['own reported']:.1%}), {count['question']} with the words of their question.
- Beside the streams, {count['beside asked']} ask, of which {count['beside reported']} are reported; as commands of an agent's own shell
  {count['door asked']} and {count['door reported']}. The others read their standard input, which is empty, and end.
- Of {count['worked']} programs that work and do not ask, {count['false_certain']} are reported as a certain wait, {len(false) - count['false_certain']} as a likely one{wrong and ':' + wrong}.

*Terminal*: its modes while the program asks, and who reads it in which way. *Reported*: [the kind](../contract.md#waiting-for-input);
`likely` is weak evidence. A text that is typed in raw mode is reported as a `line` or a `key`; both are right. *After*: seconds
between the last output and the first report, with up to 0.3 s of looking. *Beside*: without a terminal of its own, beside
[its streams](../side-terminal.md); – if it does not ask there. ExecCommand sets `TERM=dumb`, with which many screens do not start;
an agent's own shell has its caller's (here `xterm-256color`). The note says where it differs.

| program | version | terminal | reported | after, s | beside | note |
|---|---|---|---|---|---|---|
""" + "\n".join(table) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilothouse", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--cache", type=Path, default=Path("/var/cache/pilothouse-prompts"))
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    install(given.cache)
    file, kept = given.cache / "results.json", {}
    if given.only and file.exists():
        kept = json.loads(file.read_text())
    said("useradd", "-m", "-s", "/bin/bash", USER)
    said("chpasswd", input=f"{USER}:asks-{os.urandom(8).hex()}\n")
    rules = {Path("/etc/doas.conf"): f"permit {USER}\n", Path("/etc/sudoers-rs"): f"{USER} ALL=(ALL) ALL\n"}
    for path in [path for path in rules if path.exists()]:
        del rules[path]
    for path, rule in rules.items():
        path.write_text(rule)
        path.chmod(0o440)
    for folder in ("dbus", "sshd"):
        Path("/run", folder).mkdir(exist_ok=True)
    bus = subprocess.Popen(["dbus-daemon", "--system", "--nofork", "--nopidfile"], stderr=subprocess.DEVNULL)  # for pkexec
    places = {user: Place(given.pilothouse, given.cache, user) for user in (USER, "root")}
    jobs = []
    for number, row in enumerate(ASK):
        if re.search(given.only, row[0]) and version(source(row)[0], source(row)[1][-1], given.cache):
            kept[row[0]] = {}
            place = places["root" if source(row)[2] else USER]
            jobs += [lambda row=row, n=number, m=mode, p=place: Job(row[0], p, n, m, row[2], row[3]) for mode in MODES]
    for number, (name, command) in enumerate(WORK, len(ASK)):
        if re.search(given.only, f"work: {name}"):
            jobs.append(lambda name=name, n=number, c=command: Job(f"work: {name}", places[USER], n, "own", c, None))
    try:
        for job in play(jobs, list(places.values())):
            if job.words is None:
                kept[job.name] = job.result
            else:
                kept[job.name][job.mode] = job.result
            print(job.name, job.mode, json.dumps(job.result), flush=True)
            file.write_text(json.dumps(kept))
    finally:
        for place in places.values():
            place.close()
        bus.kill()
        said("pkill", "-KILL", "-u", USER)
        said("userdel", "-r", USER)
        for line in Path("/etc/passwd").read_text().splitlines():
            if re.match(r"asks2\d{4}:", line):
                said("userdel", line.partition(":")[0])
        for path in rules:
            path.unlink()
    table, count, false = rate(kept, given.cache)
    print("\n".join(table), json.dumps(count), false, sep="\n")
    if given.write:
        (Path(__file__).parents[2] / "docs/reference/prompts.md").write_text(page(table, count, false))


if __name__ == "__main__":
    main()
