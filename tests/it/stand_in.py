"""Stands in for an agent: makes each call of a list as agents do, and prints what it saw of them as JSON."""
import json, socket, subprocess, sys

if sys.argv[1] == "--in-place":  # as a launcher that starts the agent in its place
    sys.exit(subprocess.run([sys.executable, sys.argv[0], sys.argv[2]]).returncode)
if sys.argv[1] == "--served":  # as a server of the agent that runs something of its own
    ran = subprocess.run(["bash", "-c", sys.argv[2]], stdin=subprocess.DEVNULL, capture_output=True)
    sys.stdout.buffer.write(ran.stdout)
    sys.exit(ran.returncode)

seen = []
for call in json.load(open(sys.argv[1])):
    ours, given = None, {"null": subprocess.DEVNULL, "pipe": subprocess.PIPE}.get(call.get("input", "null"))
    if given is None:
        ours, given = socket.socketpair()
        ours.shutdown(socket.SHUT_WR)
    ran = subprocess.Popen(call["argv"], stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           start_new_session=call.get("session", True))
    out, err = ran.communicate()
    seen.append([ran.returncode, out.decode("latin-1"), err.decode("latin-1")])
print(json.dumps(seen))
