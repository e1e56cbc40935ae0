#!/bin/bash
# A trap on EXIT changes how a shell that a signal ended reports that, in some shells.
#
# mksh 59c and its lksh: `trap : EXIT` makes a shell that TERM ends exit with status 0: for its parent, it has succeeded. ksh93u+m
# 1.0.4: the exit status is 15, the bare number of the signal. bash, dash, zsh and yash end by the signal with and without the
# trap (128 + 15 for the shell that waits). Whoever puts a trap on EXIT around somebody else's command, to clean up after it,
# turns an ended command into a success there.
#
# Seen on Debian 12 (amd64) with mksh 59c-28+deb12u1 and ksh93u+m 1.0.4-3; this script fetches both into a folder of its own,
# prints what it sees, and fails if that is something else.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download mksh=59c-28+deb12u1 ksh93u+m=1.0.4-3 >/dev/null
for package in ./*.deb; do dpkg -x "$package" "$folder/root"; done

wrong=0
# Runs a shell that ends itself with TERM, with a trap on EXIT and without; compares both statuses with what was seen.
see() {
    local name="$1" shell="$2" with="$3" without="$4" status=(0 0)
    "$shell" -c 'trap : EXIT; kill -TERM $$; sleep 1' 2>/dev/null || status[0]=$?
    "$shell" -c 'kill -TERM $$; sleep 1' 2>/dev/null || status[1]=$?
    echo "$name: with a trap on EXIT ${status[0]}, without ${status[1]}"
    [[ "${status[*]}" == "$with $without" ]] || wrong=1
}
{
    see mksh "$folder/root/bin/mksh" 0 143
    see lksh "$folder/root/bin/lksh" 0 143
    see ksh93 "$folder/root/bin/ksh93" 15 143
    see bash bash 143 143
} 2>/dev/null
# Output seen:
#   mksh: with a trap on EXIT 0, without 143
#   lksh: with a trap on EXIT 0, without 143
#   ksh93: with a trap on EXIT 15, without 143
#   bash: with a trap on EXIT 143, without 143
exit "$wrong"
