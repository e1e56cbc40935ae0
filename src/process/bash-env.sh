# Every non-interactive bash below an agent that Pilothouse started reads this first (BASH_ENV). What the agent itself may
# have called goes to bash-call; everything else goes on at once, as if this were not here. Nothing here starts a process.
# The last word of a command is what `$_` is after it, and a `[[` leaves it alone. Nothing is traced: standard error is closed.
if { [[ ( $PPID == "${PILOTHOUSE_AGENT_PID-}" || $$ == "${PILOTHOUSE_AGENT_PID-}" || $_ == *$'\n'* ||
  -n ${PILOTHOUSE_BASH_ENV+x}${PILOTHOUSE_SHLVL+x} || /proc/$PPID/fd/1 -ef /proc/${PILOTHOUSE_AGENT_PID-}/fd/1 ||
  /proc/$PPID/exe -ef /proc/${PILOTHOUSE_AGENT_PID-}/exe ) && -n =${PILOTHOUSE_FLAGS:=$-}${PILOTHOUSE_LAST_WORD:=$_} ]] &&
  set +x || ! eval "unset BASH_ENV PILOTHOUSE_AGENT PILOTHOUSE_AGENT_NAME PILOTHOUSE_AGENT_PID PILOTHOUSE_SHELL_DOOR #" "$_"
} 2>&-; then
  if . "${BASH_ENV%/*}/bash-call" "$PILOTHOUSE_LAST_WORD"; then . "$PILOTHOUSE_FILE"; unset PILOTHOUSE_FILE; fi
fi
