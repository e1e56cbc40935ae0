#!/bin/bash
# Codex without a local environment starts none of its user's MCP servers over standard input and output.
#
# environments.toml (Codex 0.171.0) can name another default environment for commands and leave the local one out
# (`include_local = false`), so that a missing executor is an error and not a command that runs on this machine. Then each MCP server
# with a `command` in config.toml is refused ("local stdio MCP server ... requires a local environment"). The screen tells it
# behind F2; `codex exec` says nothing. With `include_local = true` the servers start, and the model may choose `local` for a
# command.
#
# This script installs Codex into a folder of its own, starts it with a server that leaves a file, without any model (its address
# answers nothing), and fails if the servers start otherwise than seen.
set -euo pipefail
# Codex wants no home below the temporary folder.
mkdir -p "${XDG_CACHE_HOME:=$HOME/.cache}"
folder="$(mktemp -d "$XDG_CACHE_HOME/finding.XXXXXX")"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --silent node@22.23.3 @openai/codex@0.171.0
export PATH="$folder/node_modules/node/bin:$folder/node_modules/.bin:$PATH" CODEX_HOME="$folder/codex"
mkdir -p "$CODEX_HOME" work
cat >"$CODEX_HOME/config.toml" <<TOML
model = "none"
model_provider = "none"
[model_providers.none]
name = "none"
base_url = "http://127.0.0.1:9/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[mcp_servers.mine]
command = "/bin/sh"
args = ["-c", "touch '$folder/started'; cat"]
TOML

# Starts Codex until the server has started, or for 15 s; says which.
starts() {
    rm -f started
    codex exec --skip-git-repo-check --cd work hello </dev/null >/dev/null 2>&1 &
    for _ in {1..150}; do
        if [[ -e started ]]; then break; fi
        sleep 0.1
    done
    kill "$!" 2>/dev/null || true
    wait "$!" 2>/dev/null || true
    if [[ -e started ]]; then echo started; else echo "not started"; fi
}
plain="$(starts)"
cat >"$CODEX_HOME/environments.toml" <<TOML
default = "other"
include_local = false
[[environments]]
id = "other"
program = "codex"
args = ["exec-server", "--listen", "stdio"]
TOML
alone="$(starts)"
sed -i 's/include_local = false/include_local = true/' "$CODEX_HOME/environments.toml"
both="$(starts)"
echo "no environments.toml: $plain; include_local = false: $alone; include_local = true: $both"
# Output seen:
#   no environments.toml: started; include_local = false: not started; include_local = true: started
[[ "$plain, $alone, $both" == "started, not started, started" ]]
