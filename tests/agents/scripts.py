"""Third-party shell scripts, run by bash and by Pilothouse as an agent's shell: output, files and exit codes must be the same.

    python3 tests/agents/scripts.py --pilothouse target/release/pilothouse [--only PATTERN] [--show]

The list is fixed: scripts.txt beside this file gives each script's package, its path in the package, its SHA-256 and the command
that runs it. The packages come from the distribution (`apt-get download` and `apt-get source`, into the cache). Each command runs
twice in bash, to exclude those whose results vary, and then through Pilothouse, every time in a fresh copy of one small folder.
Fails if any result differs.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
# How many seconds a script may take.
PATIENCE = 180
# Where source packages are downloaded from, in addition to the machine's own sources.
SOURCES = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main\n"
# Runs a completion: `complete NAME WORD...`, where the last word is to be completed.
COMPLETE = """. {bash_completion}
. {script}
set -- {words}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${{#COMP_LINE}}; COMP_TYPE=9; COMP_KEY=9
function=$(complete -p "$1" 2>/dev/null | sed -n 's/.* -F \\([^ ]*\\) .*/\\1/p')
echo "function: $function"
[ "$function" ] && "$function" "$1" "${{!#}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
echo "code $?"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@dataclass
class Script:
    """A line of the list. `package` is `name=version`, or `source:name=version`."""

    digest: str
    package: str
    path: str
    command: str

    def __str__(self):
        return f"{self.package} {self.path}: {self.command}"


def listed():
    """Reads the list."""
    lines = (HERE / "scripts.txt").read_text().splitlines()
    fields = (line.split(maxsplit=3) for line in lines if line and not line.startswith("#"))
    return [Script(*line) for line in fields]


class Packages:
    """Packages of the distribution, unpacked into the cache; none is installed."""

    def __init__(self, cache):
        self.cache = cache
        self.options = []

    def folder(self, package):
        """The folder of a package, or `None` if it is not available."""
        folder = self.cache / package.replace(":", "-")
        if not folder.exists():
            got = self._source(package[7:]) if package.startswith("source:") else self._binary(package)
            if got is None:
                return None
            got.rename(folder)
        return folder

    def _binary(self, package):
        into = self._empty()
        if not self._apt(into, "download", package):
            return None
        for archive in into.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", archive, into], check=True)
            archive.unlink()
        return into

    def _source(self, package):
        if not self.options:
            self._update()
        into = self._empty()
        if not self._apt(into, "source", "--download-only", package):
            return None
        archive = next(into.glob("*.orig.tar.*[!c]"))
        subprocess.run(["tar", "-xf", archive, "-C", into, "--strip-components=1"], check=True)
        for archive in into.glob(f"{package.split('=')[0]}_*"):
            archive.unlink()
        return into

    def _update(self):
        """Tells apt about the source packages, using separate lists."""
        own = self.cache / "apt"
        for part in ("lists/partial", "archives/partial"):
            (own / part).mkdir(parents=True, exist_ok=True)
        (own / "sources.list").write_text(SOURCES)
        self.options = ["-o", f"Dir::Etc::sourcelist={own}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
                        "-o", f"Dir::State::lists={own}/lists", "-o", f"Dir::Cache={own}"]
        self._apt(own, "update")

    def _apt(self, folder, *arguments):
        options = self.options if arguments[0] in ("source", "update") else []
        done = subprocess.run(["apt-get", "-q", *options, *arguments], cwd=folder, capture_output=True, check=False)
        return done.returncode == 0

    def _empty(self):
        folder = self.cache / "coming"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


def small_folder(folder):
    """Creates the folder that each script starts in: a few files, archives, a C program and a repository."""
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\nthree\n")
    (folder / "b.txt").write_text("one\n2\nthree\nfour with 'quotes' and \u00e9\n")
    (folder / "page.1").write_text('.TH PAGE 1 2020-01-01\n.SH NAME\npage \\- a page\n')
    (folder / "program.sh").write_text("#!/bin/sh\necho a program\n")
    (folder / "program.sh").chmod(0o755)
    (folder / "hello.c").write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n')
    pack = "gzip -nk a.txt; gzip -nk b.txt; bzip2 -k a.txt b.txt; xz -k a.txt b.txt; zstd -qk a.txt"
    subprocess.run(["bash", "-c", pack], cwd=folder, check=False)
    when = {name: "2020-01-01T00:00:00Z" for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
    make = """git init -q -b main repository && cd repository && git config user.name a && git config user.email a@b
        cp ../a.txt . && mkdir part && cp ../b.txt part && git add . && git commit -qm first
        git tag -m tagged v1 && git checkout -qb other && echo more >> a.txt && git commit -qam second
        git checkout -q main && echo here >> part/b.txt && git commit -qam third"""
    subprocess.run(["bash", "-c", make], cwd=folder, env={**os.environ, **when}, check=True)


def effects(folder):
    """The contents of a folder: the mode (which includes the kind) and a digest of each file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        if path.name == "index" and path.parent.name == ".git":
            continue  # it contains times and inode numbers of files
        if path.is_symlink():
            content = os.readlink(path)
        else:
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path.relative_to(folder))] = (oct(status.st_mode), content)
    return found


class Bench:
    """Runs scripts in bash and through Pilothouse, each in a fresh copy of the same folder."""

    def __init__(self, root, pilothouse, template, packages):
        self.root, self.template, self.packages = root, template, packages
        self.work, self.door = root / "work", root / "pilothouse-bash"
        shutil.rmtree(root, ignore_errors=True)
        for part in ("run", "door", "home"):
            (root / part).mkdir(parents=True)
        (root / "run").chmod(0o700)
        self.door.symlink_to(pilothouse)
        self.pilothouse = pilothouse
        self.environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": str(root / "home"), "LANG": "C.UTF-8", "TERM": "dumb",
            "USER": "nobody", "LOGNAME": "nobody", "SHELL": "/bin/bash", "TZ": "UTC", "XDG_RUNTIME_DIR": str(root / "run"),
            # The home is recreated for each run; Pilothouse's state is kept.
            "XDG_STATE_HOME": str(root / "state"),
            "GIT_AUTHOR_DATE": "2020-01-02T00:00:00Z", "GIT_COMMITTER_DATE": "2020-01-02T00:00:00Z",
        }

    def run(self, script, line, by_us):
        """Runs a command line; returns its exit code, its output, and the contents of its folder."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.template, self.work, symlinks=True)
        shutil.rmtree(self.root / "home")
        (self.root / "home").mkdir()
        environment = dict(self.environment)
        if by_us:
            environment["PILOTHOUSE_SHELL_DOOR"] = str(self.root / "door")
        shell = str(self.door) if by_us else "/bin/bash"
        process = subprocess.Popen(
            [shell, "-c", line], cwd=self.work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return None
        return process.returncode, out, err, effects(self.work)

    def line(self, script, folder):
        """The command line of a script: `$S` in its command is the script's path; `complete` runs a completion."""
        path = folder / script.path
        if not script.command.startswith("complete "):
            return script.command.replace("$S", f"'{path}'")
        return COMPLETE.format(
            bash_completion=f"'{folder}/usr/share/bash-completion/bash_completion'", script=f"'{path}'",
            words=script.command.removeprefix("complete "),
        )

    def verdict(self, script):
        """The verdict on one script, and the differences."""
        folder = self.packages.get(script.package)
        path = folder and folder / script.path
        if path is None or not path.is_file():
            return "not to be had", ""
        if hashlib.sha256(path.read_bytes()).hexdigest() != script.digest:
            return "another version", ""
        line = self.line(script, folder)
        plain = [self.run(script, line, False) for _ in range(2)]
        if plain[0] != plain[1] or plain[0] is None:
            return "differs by itself", ""
        ours = self.run(script, line, True)
        if ours == plain[0]:
            return "the same", ""
        return "DIFFERS", difference(plain[0], ours)

    def tasks(self):
        """The number of tasks that there were."""
        done = subprocess.run(
            [self.pilothouse, "task", "list", "--scope", "all", "--output", "json"], cwd=self.root / "door", env=self.environment,
            capture_output=True, text=True, check=False,
        )
        found = re.search(r'"total":\s*(\d+)', done.stdout)
        return int(found.group(1)) if found else 0

    def close(self):
        subprocess.run([self.pilothouse, "serve", "--stop"], cwd=self.root / "door", env=self.environment, capture_output=True, check=False)
        shutil.rmtree(self.root, ignore_errors=True)


def difference(plain, ours):
    """The differences, in a few lines."""
    if ours is None:
        return "  it did not end"
    lines = []
    for name, by_bash, by_us in zip(("code", "stdout", "stderr"), plain, ours):
        if by_bash != by_us:
            lines.append(f"  {name}: {by_bash[-300:] if name != 'code' else by_bash!r}\n    by us: {by_us[-300:] if name != 'code' else by_us!r}")
    for path in sorted(set(plain[3]) | set(ours[3])):
        if plain[3].get(path) != ours[3].get(path):
            lines.append(f"  {path}: {plain[3].get(path)} by us: {ours[3].get(path)}")
    return "\n".join(lines[:12])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilothouse", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/pilothouse-agents")
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true", help="each script with its verdict")
    asked = parser.parse_args()
    cache, scripts = asked.cache.resolve(), [script for script in listed() if re.search(asked.only, str(script))]
    store = Packages(cache / "packages")
    packages = {name: store.folder(name) for name in dict.fromkeys(script.package for script in scripts)}
    template = cache / "scripts/template"
    shutil.rmtree(template, ignore_errors=True)
    small_folder(template)
    benches = [Bench(cache / f"scripts/{n}", asked.pilothouse.resolve(), template, packages) for n in range(2)]
    free, counts, lock = benches.copy(), {}, threading.Lock()

    def one(script):
        with lock:
            bench = free.pop()
        verdict, why = bench.verdict(script)
        with lock:
            free.append(bench)
            counts[verdict] = counts.get(verdict, 0) + 1
            if asked.show or verdict != "the same":
                print(f"{verdict}: {script}\n{why}".rstrip(), flush=True)

    with ThreadPoolExecutor(len(benches)) as pool:
        list(pool.map(one, scripts))
    tasks = sum(bench.tasks() for bench in benches)
    for bench in benches:
        bench.close()
    print(f"{len(scripts)} scripts, {tasks} tasks: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    ran = counts.get("the same", 0) + counts.get("DIFFERS", 0)
    sys.exit(bool(counts.get("DIFFERS")) or tasks < ran)


if __name__ == "__main__":
    main()
