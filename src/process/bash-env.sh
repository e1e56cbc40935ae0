# Every non-interactive bash below an agent that Pilothouse started reads this first (BASH_ENV). What the agent itself may
# have called goes to bash-call; everything else goes on at once, as if this were not here. Nothing here starts a process.
pilothouse_env() {
  unset -f pilothouse_env
  if [[ -n ${PILOTHOUSE_BASH_ENV+x} || $PPID == "${PILOTHOUSE_AGENT_PID-}" || $$ == "${PILOTHOUSE_AGENT_PID-}" ||
    /proc/$PPID/fd/1 -ef /proc/${PILOTHOUSE_AGENT_PID-}/fd/1 || /proc/$PPID/exe -ef /proc/${PILOTHOUSE_AGENT_PID-}/exe ]]; then
    PILOTHOUSE_FLAGS=$-
    set +x
    return 0
  fi
  if [[ -n ${PILOTHOUSE_SHLVL+x} ]]; then SHLVL=$((SHLVL - 1)); fi
  unset BASH_ENV PILOTHOUSE_AGENT PILOTHOUSE_AGENT_NAME PILOTHOUSE_AGENT_PID PILOTHOUSE_SHELL_DOOR PILOTHOUSE_SHLVL
  return 1
}
# The last word of a command is what `$_` is after it.
if { pilothouse_env "$_"; } 2>/dev/null; then
  if . "${BASH_ENV%/*}/bash-call" "$_"; then . "$PILOTHOUSE_FILE"; unset PILOTHOUSE_FILE; fi
fi
