"""The environment of one run: a home, a workspace, settings of the agents, and the processes started there."""

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

# The agents that have played every situation over MCP, and all whose own shell is routed.
AGENTS = ("claude", "codex", "gemini", "opencode")
ROUTED = (*AGENTS, "copilot", "pi", "qwen", "kilo", "cline")
VERSIONS = {
    "claude": ("@anthropic-ai/claude-code", "2.1.332"),
    "codex": ("@openai/codex", "0.171.0"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
    "opencode": ("opencode-ai", "1.18.33"),
    "copilot": ("@github/copilot", "1.0.102"),
    "pi": ("@earendil-works/pi-coding-agent", "1.6.0"),
    "qwen": ("@qwen-code/qwen-code", "0.24.4"),
    "kilo": ("@kilocode/cli-linux-x64", "7.7.9"),
    "cline": ("cline", "3.0.65"),
}
NODE = "22.23.3"


def install(folder):
    """Installs the pinned agents in `folder`, once, and returns the folders of their programs."""
    wanted = [f"{package}@{version}" for package, version in VERSIONS.values()] + [f"node@{NODE}"]
    done = folder / "installed"
    if not done.exists() or done.read_text().split() != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", *wanted], cwd=folder, check=True)
        done.write_text("\n".join(wanted))
    modules = folder / "node_modules"
    return [modules / "node/bin", modules / ".bin", modules / "@kilocode/cli-linux-x64/bin"]


def until(fact, seconds=30, what="a fact"):
    """Waits until `fact()` is truthy, and returns its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = fact()
        if value:
            return value
        time.sleep(0.05)
    raise TimeoutError(f"waited {seconds} s in vain for {what}")


class Place:
    """A home with a workspace. `close` ends everything started in it, and removes it."""

    def __init__(self, root, programs, pilothouse, port):
        self.root, self.pilothouse, self.port = root, pilothouse, port
        shutil.rmtree(root, ignore_errors=True)
        self.home, self.workspace, self.run = root / "home", root / "work space", root / "run"
        for folder in (self.home, self.workspace, self.run, root / "bin"):
            folder.mkdir(parents=True)
        self.run.chmod(0o700)
        (root / "bin/pilothouse").symlink_to(pilothouse)
        subprocess.run(["git", "init", "-q", "."], cwd=self.workspace, check=True)
        keep = {name: os.environ[name] for name in ("LANG", "USER", "LOGNAME", "SHELL", "TZ") if name in os.environ}
        path = os.pathsep.join(map(str, [*programs, root / "bin", os.environ["PATH"]]))
        self.environment = {
            **keep, "PATH": path, "HOME": str(self.home), "TERM": "xterm-256color", "XDG_RUNTIME_DIR": str(self.run),
            # Nothing leaves the machine.
            "HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost",
            "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ANTHROPIC_BASE_URL": self._url(), "ANTHROPIC_API_KEY": "none", "CODEX_HOME": str(self.home / ".codex"),
            "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": self._url(),
            "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_PROVIDER_BASE_URL": f"{self._url()}/v1",
            "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_MODEL": "gpt-4.1",
            "PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "CLINE_TELEMETRY_DISABLED": "1",
            # Cline's bash takes its socket for a remote shell's unless there is a shell above it.
            "SHLVL": "1",
        }
        self.first = self.second_done = None  # shared by two sessions
        self.running, self.consoles = [], 0
        self.trouble = self.terminal = None
        self._settings()

    def _url(self):
        return f"http://127.0.0.1:{self.port}"

    def _settings(self):
        """Writes each agent's user settings: the scripted model, and Pilothouse."""
        server = {"command": "pilothouse", "args": ["mcp"]}
        self._write(self.workspace / "mcp.json", {"mcpServers": {"pilothouse": {"type": "stdio", **server, "alwaysLoad": True}}})
        known = {"hasCompletedOnboarding": True, "hasTrustDialogAccepted": True, "projectOnboardingSeenCount": 9}
        self._write(self.home / ".claude.json", {
            **known, "theme": "dark", "customApiKeyResponses": {"approved": ["none"]},
            "projects": {str(self.workspace): known},
        })
        codex = self.home / ".codex/config.toml"
        codex.parent.mkdir()
        codex.write_text(
            f'model = "gpt-5.5"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\n'
            f'base_url = "{self._url()}/v1"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0\n'
            f'supports_websockets = false\n[mcp_servers.pilothouse]\ncommand = "pilothouse"\nargs = ["mcp"]\n'
            f'tool_timeout_sec = 300\ndefault_tools_approval_mode = "approve"\n[features]\nshell_tool = false\n'
            f'[projects."{self.workspace}"]\ntrust_level = "trusted"\n'
        )
        self._write(self.home / ".gemini/settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "telemetry": {"enabled": False}, "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
            "mcpServers": {"pilothouse": {**server, "trust": True, "timeout": 300000}},
        })
        provider = {
            "npm": "@ai-sdk/openai-compatible", "name": "scripted",
            "options": {"baseURL": f"{self._url()}/v1", "apiKey": "none"},
            "models": {"m": {"name": "m", "limit": {"context": 100000, "output": 4000}}},
        }
        self._write(self.home / ".config/opencode/opencode.json", {
            "model": "scripted/m", "autoupdate": False, "share": "disabled", "provider": {"scripted": provider},
            "mcp": {"pilothouse": {"type": "local", "command": ["pilothouse", "mcp"], "enabled": True, "timeout": 300000}},
        })

        self._write(self.home / ".config/kilo/kilo.json", {
            # Where a snapshot takes long, its screen asks whether to go on without them.
            "model": "scripted/m", "autoupdate": False, "share": "disabled", "snapshot": False, "provider": {"scripted": provider},
            "permission": {"bash": "allow", "external_directory": "allow"},
        })
        model = {"id": "m", "name": "m", "reasoning": False, "input": ["text"], "contextWindow": 100000, "maxTokens": 4000,
                 "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
        self._write(self.home / ".pi/agent/models.json", {"providers": {"scripted": {
            "baseUrl": f"{self._url()}/v1", "api": "openai-completions", "apiKey": "none", "models": [model],
        }}})
        self._write(self.home / ".qwen/settings.json", {
            "security": {"auth": {"selectedType": "openai"}}, "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False},
            # It would ask its model, with its shell among the tools, what to remember.
            "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        })
        compatible = "openai-compatible"
        self._write(self.home / ".cline/data/settings/providers.json", {
            "version": 1, "lastUsedProvider": compatible, "modes": {},
            "providers": {compatible: {
                "settings": {"provider": compatible, "apiKey": "none", "model": "m", "baseUrl": f"{self._url()}/v1"},
                "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
            }},
        })

    @staticmethod
    def _write(path, value):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1))

    def config(self, text):
        """Writes Pilothouse's own settings."""
        path = self.home / ".config/pilothouse/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def agent(self, agent, name, environment=None):
        """Starts an agent non-interactively, with the prompt that plays `name`."""
        prompt = f"SCRIPT:{name} go"
        command = {
            "claude": ["claude", "-p", prompt, "--mcp-config", "mcp.json", "--strict-mcp-config",
                       "--allowedTools", "mcp__pilothouse__*"],
            "codex": ["codex", "exec", "--skip-git-repo-check", prompt],
            "gemini": ["gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", prompt],
            "opencode": ["opencode", "run", prompt],
        }[agent]
        return self.start(command, environment)

    def screen(self, agent, name):
        """Starts an agent interactively in `terminal`, with the prompt that plays `name`."""
        prompt = f"SCRIPT:{name} go"
        command = {
            "claude": ["claude", "--mcp-config", "mcp.json", "--strict-mcp-config",
                       "--allowedTools", "mcp__pilothouse__*"],
            "codex": ["codex"],
            "gemini": ["gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-i", prompt],
            "opencode": ["opencode", "--prompt", prompt],
        }[agent]
        self.terminal = Terminal(self, agent, command)
        if agent == "codex":  # it first offers a newer model, and sends prompts before its tools are ready
            self.terminal.wait("Use existing model", 60)
            self.terminal.keys("Down", "Enter")
            self.terminal.wait("›")
            until(lambda: "MCP" not in self.terminal.shown(), what="its servers")
        if agent == "claude":  # it sends prompts before its tools are ready
            self.terminal.wait("❯", 60)
            self.terminal.text("/mcp")
            self.terminal.wait("Show|Manage|MCP")
            self.terminal.keys("Enter")
            self.terminal.wait(r"✔ pilothouse", 60)
            self.terminal.keys("Escape")
            until(lambda: "MCP servers" not in self.terminal.shown(), what="the end of the list")
        if agent in ("claude", "codex"):
            self.terminal.text(prompt)
            time.sleep(1)  # a key that comes too soon is taken for part of a paste
            self.terminal.keys("Enter")

    def start(self, command, environment=None):
        """Starts a program in the workspace, in a session of its own; its output goes to a file."""
        with (self.root / f"printed-{len(self.running)}.txt").open("wb") as printed:
            process = subprocess.Popen(
                command, cwd=self.workspace, env={**self.environment, **(environment or {})},
                stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True,
            )
        self.running.append(process)
        return process

    def run_pilothouse(self, *arguments):
        """Runs a Pilothouse command in the workspace and returns its `data`."""
        done = subprocess.run(
            [self.pilothouse, *arguments], cwd=self.workspace, env=self.environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60, check=False,
        )
        try:
            return json.loads(done.stdout).get("data")
        except ValueError:
            return None

    def rows(self, kind):
        """The rows of this kind in the workspace's newest recording."""
        return (self.run_pilothouse("audit", "show", "latest", "--kind", kind) or {}).get("rows", [])

    def tasks(self):
        """All tasks of the runtime, including ended ones."""
        return (self.run_pilothouse("task", "list", "--scope", "all") or {}).get("tasks", [])

    def console(self):
        """Opens a console in a terminal of its own."""
        self.consoles += 1
        console = Terminal(self, f"console-{self.consoles}", [str(self.pilothouse)])
        console.wait("NO SANDBOX")
        return console

    def runtime(self):
        """The process id of this workspace's runtime, from its lock file."""
        account = Path(pwd.getpwuid(os.getuid()).pw_dir)
        for folder in (Path(f"/run/user/{os.getuid()}/pilothouse"), account / ".local/state/pilothouse/run"):
            for lock in folder.glob("*.lock"):
                address = lock.read_text(errors="replace")
                found = re.search(r'"pid":\s*(\d+)', address)
                # A runtime that was killed has left its file.
                if found and str(self.root) in address and Path("/proc", found.group(1)).exists():
                    return int(found.group(1))
        return None

    def close(self):
        """Ends everything started here, and removes the folders."""
        self.run_pilothouse("serve", "--stop")
        subprocess.run(["tmux", "-S", self.root / "tmux", "kill-server"], capture_output=True, check=False)
        for process in self.running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for left in Path("/proc").glob("[0-9]*/cmdline"):  # processes that an agent has left in the background
            with suppress(OSError):
                if str(self.root).encode() in left.read_bytes():
                    os.kill(int(left.parent.name), signal.SIGKILL)
        shutil.rmtree(self.root, ignore_errors=True)


class Terminal:
    """A program in a terminal of its own, driven by keys."""

    def __init__(self, place, name, command):
        self.name, self.tmux = name, ["tmux", "-S", str(place.root / "tmux")]
        # Without this, a window that is called the same comes first.
        self.pane = f"={name}:"
        subprocess.run(
            [*self.tmux, "-f", "/dev/null", "new-session", "-d", "-s", name, "-x", "120", "-y", "40", *command],
            cwd=place.workspace, env=place.environment, check=True,
        )

    def shown(self):
        """The text on its screen."""
        return subprocess.run(
            [*self.tmux, "capture-pane", "-p", "-t", self.pane], capture_output=True, text=True, check=False
        ).stdout

    def keys(self, *keys):
        """Presses keys, named as in tmux."""
        subprocess.run([*self.tmux, "send-keys", "-t", self.pane, *keys], check=True)

    def text(self, text):
        """Types text."""
        subprocess.run([*self.tmux, "send-keys", "-t", self.pane, "-l", text], check=True)

    def close(self):
        """Closes the terminal, as a person closes a window."""
        subprocess.run([*self.tmux, "kill-session", "-t", self.name], check=True)

    def wait(self, pattern, seconds=15):
        """Waits until the screen matches `pattern`."""
        try:
            return until(lambda: re.search(pattern, self.shown()), seconds, f"{pattern!r} on the screen")
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.shown()}") from None
