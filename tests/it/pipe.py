"""Runs a program and carries its bytes like a bad connection: delayed, in pieces, and not for long.

pipe.py DELAY_MS LIVES_MS PROGRAM...
"""
import os, random, subprocess, sys, threading, time

delay, lives = int(sys.argv[1]) / 1000, int(sys.argv[2]) / 1000
child = subprocess.Popen(sys.argv[3:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def carry(source, sink):
    """Copies in pieces, each delayed; passes on the end of input as a half-close."""
    queue, ready = [], threading.Condition()

    def read():
        while True:
            piece = os.read(source, 65536)
            with ready:
                queue.append((time.monotonic() + delay, piece))
                ready.notify()
            if not piece:
                return

    threading.Thread(target=read, daemon=True).start()
    while True:
        with ready:
            while not queue:
                ready.wait()
            due, piece = queue.pop(0)
        time.sleep(max(0, due - time.monotonic()))
        if not piece:
            os.close(sink)
            return
        while piece:
            some = piece[: random.choice([1, 3, 4, 7, 100, 4096, 65536])]
            done = os.write(sink, some)
            piece = piece[done:]


def die():
    time.sleep(random.uniform(0.5, 1.5) * lives)
    child.kill() if random.random() < 0.5 else None
    os._exit(random.choice([0, 1, 255]))


if lives:
    threading.Thread(target=die, daemon=True).start()
threading.Thread(target=carry, args=(0, child.stdin.fileno()), daemon=True).start()
try:
    carry(child.stdout.fileno(), 1)
except OSError:
    pass
sys.exit(child.wait())
