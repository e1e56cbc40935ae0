#!/bin/bash
# A minimal agent: asks its model, runs the requested command in its shell, and sends the model the result.
if [ "$1" = --settings ]; then
  while IFS== read -r name value; do export "$name=$value"; done < <(grep -o '"env":{[^}]*}' <<<"$2" |
    grep -o '"[A-Z_]*":"[^"]*"' | sed 's/^"\([A-Z_]*\)":"\(.*\)"$/\1=\2/')
  shift 2
fi
[ "$1" = -p ] && shift 2 # and --no-session-persistence
prompt=$1 port=${ANTHROPIC_BASE_URL##*:}
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
  printf 'POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n%s' "${#1}" "$1" >&3
  cat <&3
  exec 3>&-
}
answer=$(ask "{\"tools\":[{\"name\":\"Bash\"}],\"messages\":[{\"role\":\"user\",\"content\":\"$prompt\"}]}")
command=$(sed -n 's/.*"command":"\(.*\)","description".*/\1/p' <<<"$answer" | sed 's/\\"/"/g; s/\\\\/\\/g')
export CLAUDECODE=1 CLAUDE_CODE_CHILD_SESSION=1
named=$(sed -n 's/.*"CLAUDE_CODE_SHELL": *"\([^"]*\)".*/\1/p' "$HOME/.claude/settings.json" 2>/dev/null)
shell=${CLAUDE_CODE_SHELL:-${named:-/bin/bash}}
case ${shell##*/} in *bash* | *zsh*) ;; *) shell=/bin/bash ;; esac
printed=$("$shell" -c "$command" </dev/null 2>&1 | cat)
result="{\"type\":\"tool_result\",\"content\":\"${printed//$'\n'/\\n}\"}"
ask "{\"messages\":[{\"role\":\"user\",\"content\":\"$prompt\"},{\"role\":\"user\",\"content\":[$result]}]}" >/dev/null
echo Done.
