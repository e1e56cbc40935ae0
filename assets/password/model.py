"""A model that asks Claude Code for one command and then is done. Prints its port."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import dumps, loads
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/agents"))

from model import Anthropic  # noqa: E402

COMMAND = sys.argv[1]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer("application/json", "{}")

    do_GET = do_HEAD

    def do_POST(self):
        body = loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if not self.path.split("?")[0].endswith("/messages"):
            return self.answer("application/json", '{"input_tokens": 10}')
        api = Anthropic()
        has_shell, is_done = "Bash" in api.tools(body), bool(list(api.results(body)))
        calls = [("Bash", {"command": COMMAND, "description": "Install the release"})] if has_shell and not is_done else []
        answer = api.reply(body, calls, "Installed.", 1)
        if isinstance(answer, list):
            text = "".join(f"event: {name}\ndata: {dumps(event)}\n\n" for name, event in answer)
            return self.answer("text/event-stream", text)
        return self.answer("application/json", dumps(answer))

    def answer(self, kind, text):
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
