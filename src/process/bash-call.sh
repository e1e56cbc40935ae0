# Read by bash-env for a call that may be the agent's, for the script that starts the agent, and for a user who has a
# BASH_ENV of their own: returns 0 if that is to be read. Nothing here starts a process, but for the shell of a call that may
# become a task.
if [[ -n ${BASH_EXECUTION_STRING+x} && $$ != "${PILOTHOUSE_AGENT_PID-}" &&
  ${PILOTHOUSE_TASK_KIND-} != command && ${PILOTHOUSE_SHELL-} != off ]] &&
  [[ $PPID == "${PILOTHOUSE_AGENT_PID-}" || /proc/$PPID/fd/1 -ef /proc/${PILOTHOUSE_AGENT_PID-}/fd/1 ||
    /proc/$PPID/exe -ef /proc/${PILOTHOUSE_AGENT_PID-}/exe ]] &&
  [[ ${BASH##*/} == bash && $BASH_VERSION != [1-3].* && $BASH_VERSION != 4.[0-3].* && -x ${BASH_ENV%/*}/told/bash ]] &&
  mapfile -d '' -t PILOTHOUSE_CALL </proc/$$/cmdline 2>/dev/null; then
  PILOTHOUSE_FILE=${BASH_ENV%/*}/told/bash
  if [[ -n ${PILOTHOUSE_BASH_ENV+x} ]]; then BASH_ENV=$PILOTHOUSE_BASH_ENV; else unset BASH_ENV; fi
  unset PILOTHOUSE_BASH_ENV PILOTHOUSE_FLAGS
  PILOTHOUSE_REAL_SHELL=$BASH PILOTHOUSE_LAST_WORD=$1 PILOTHOUSE_SHELL_NAME=${PILOTHOUSE_CALL[0]} exec "$PILOTHOUSE_FILE" "${PILOTHOUSE_CALL[@]:1}"
fi
PILOTHOUSE_FILE=${PILOTHOUSE_BASH_ENV-}
# The agent itself, or a script with the very streams of the process it will become: what that starts is not decided yet.
if [[ $$ != "${PILOTHOUSE_AGENT_PID-}" && ( -n ${BASH_EXECUTION_STRING+x} ||
  ! /proc/$$/fd/0 -ef /proc/${PILOTHOUSE_AGENT_PID-}/fd/0 || ! /proc/$$/fd/1 -ef /proc/${PILOTHOUSE_AGENT_PID-}/fd/1 ) ]]; then
  if [[ -n ${PILOTHOUSE_BASH_ENV+x} ]]; then BASH_ENV=$PILOTHOUSE_BASH_ENV; else unset BASH_ENV; fi
  if [[ -n ${PILOTHOUSE_SHLVL+x} ]]; then SHLVL=$((SHLVL - 1)); fi
  unset PILOTHOUSE_BASH_ENV PILOTHOUSE_AGENT PILOTHOUSE_AGENT_NAME PILOTHOUSE_AGENT_PID PILOTHOUSE_SHELL_DOOR PILOTHOUSE_SHLVL
fi
unset PILOTHOUSE_CALL PILOTHOUSE_LAST_WORD
# As bash does with its own: the value is expanded, is not looked for in PATH, and may name nothing.
if [[ $PILOTHOUSE_FILE == *[\$\`]* ]]; then eval "PILOTHOUSE_FILE=\"${PILOTHOUSE_FILE//\"/\\\"}\""; fi
if [[ -n $PILOTHOUSE_FILE && $PILOTHOUSE_FILE != */* ]]; then PILOTHOUSE_FILE=./$PILOTHOUSE_FILE; fi
if [[ ! -r $PILOTHOUSE_FILE || -d $PILOTHOUSE_FILE ]]; then
  if [[ $PILOTHOUSE_FLAGS == *x* ]]; then { unset PILOTHOUSE_FILE PILOTHOUSE_FLAGS; set -x; return 1; } 2>/dev/null; fi
  unset PILOTHOUSE_FILE PILOTHOUSE_FLAGS
  return 1
fi
if [[ $PILOTHOUSE_FLAGS == *x* ]]; then unset PILOTHOUSE_FLAGS; set -x; else unset PILOTHOUSE_FLAGS; fi
