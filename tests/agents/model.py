"""A model that follows a script, for the four agents' APIs, on loopback.

A script is a generator: it yields `Call`s (or a list of them, for parallel calls), receives what the agent gave its model
for each (`Answer`), and ends by returning the model's last message. So a script reads like the conversation that it
plays, and can do other things between two calls.
"""

import json
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Call:
    """A call by the model: the name of a Pilothouse tool, and its arguments."""

    tool: str
    arguments: dict


@dataclass
class Answer:
    """What the agent gave its model in answer to a call."""

    call: Call
    text: str
    raw: object = None
    is_error: bool | None = None

    def task(self):
        """The last task id that it mentions."""
        ids = re.findall(r"task_[a-z0-9]{8}", self.text)
        return ids[-1] if ids else "task_none"


@dataclass
class Conversation:
    """One run of a script, and its messages."""

    script: object
    answers: list = field(default_factory=list)
    tools: list = field(default_factory=list)
    searched: bool = False
    pending: list = field(default_factory=list)
    last: str = "Done."
    started: bool = False
    over: bool = False
    failure: str | None = None
    lock: object = field(default_factory=threading.Lock)

    def next(self, results):
        """The model's next calls, given the `results` (raw, text, is_error) of all its calls so far."""
        fresh = results[len(self.answers):]
        if self.started and not self.over:
            if len(fresh) < len(self.pending):
                return self.pending  # the same request again: the agent retries
            got = [Answer(call, text, raw, error) for call, (raw, text, error) in zip(self.pending, fresh)]
            self.answers += got
            self._advance(got if len(got) > 1 else got[0])
        elif not self.started:
            self.started = True
            self._advance(None)
        return [] if self.over else self.pending

    def _advance(self, value):
        try:
            calls = self.script.send(value)
            self.pending = calls if isinstance(calls, list) else [calls]
        except StopIteration as stop:
            self.over, self.pending, self.last = True, [], stop.value or self.last
        except Exception as error:  # a failed assertion of a script is reported when the run is over
            self.over, self.pending, self.failure = True, [], f"{type(error).__name__}: {error}"


def text_of(content):
    """The text that a model reads in a tool result, whatever its format."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(part.get("text", part) if isinstance(part, dict) else part) for part in content)
    if isinstance(content, dict) and list(content) == ["output"]:
        return text_of(content["output"])
    return json.dumps(content)


class Anthropic:
    """The Messages API, as used by Claude Code."""

    def tools(self, body):
        return [tool["name"] for tool in body.get("tools", []) if "name" in tool]

    def results(self, body):
        for message in body["messages"]:
            for part in message["content"] if isinstance(message["content"], list) else []:
                if part.get("type") == "tool_result":
                    yield part.get("content"), text_of(part.get("content")), bool(part.get("is_error"))

    def reply(self, body, calls, last, turn):
        blocks = [
            {"type": "tool_use", "id": f"toolu_{turn}_{index}", "name": name, "input": arguments}
            for index, (name, arguments) in enumerate(calls)
        ] or [{"type": "text", "text": last}]
        message = {
            "id": f"msg_{turn}", "type": "message", "role": "assistant", "model": body.get("model"), "content": blocks,
            "stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if not body.get("stream"):
            return message
        events = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                empty = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events.append({"type": "content_block_start", "index": index, "content_block": empty})
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events.append({"type": "content_block_stop", "index": index})
        end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}})
        events.append({"type": "message_stop"})
        return [(event["type"], event) for event in events]


class Responses:
    """The Responses API, as used by Codex."""

    def tools(self, body):
        for tool in list(body.get("tools", [])) + [
            tool for item in body.get("input", []) if item.get("type") == "tool_search_output" for tool in item["tools"]
        ]:
            if tool.get("type") == "namespace":
                yield from ((tool["name"], inner["name"]) for inner in tool["tools"])
            elif "name" in tool:
                yield (tool.get("namespace"), tool["name"])

    def results(self, body):
        for item in body.get("input", []):
            if item.get("type") in ("function_call_output", "custom_tool_call_output"):
                yield item.get("output"), text_of(item.get("output")), None

    def search(self, body):
        """A call of the tool search, if the agent hides its tools behind one that has not been used yet."""
        kinds = {tool.get("type") for tool in body.get("tools", [])}
        if "tool_search" not in kinds or any(i.get("type") == "tool_search_output" for i in body.get("input", [])):
            return None
        return self._events([{
            "type": "tool_search_call", "id": "search_1", "call_id": "search_call_1", "execution": "client",
            "status": "completed", "arguments": {"query": "run a shell command", "limit": 8},
        }])

    def reply(self, body, calls, last, turn):
        items = []
        for index, ((namespace, name), arguments) in enumerate(calls):
            item = {"type": "function_call", "id": f"fc_{turn}_{index}", "call_id": f"call_{turn}_{index}",
                    "name": name, "arguments": json.dumps(arguments)}
            items.append({**item, "namespace": namespace} if namespace else item)
        says = {"type": "message", "id": f"m_{turn}", "role": "assistant",
                "content": [{"type": "output_text", "text": last, "annotations": []}]}
        return self._events(items or [says])

    def _events(self, items):
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                 "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        response = {"id": "resp_1", "object": "response", "status": "completed", "output": items, "usage": usage}
        events = [{"type": "response.created", "response": {"id": "resp_1"}}]
        events += [{"type": "response.output_item.done", "output_index": n, "item": i} for n, i in enumerate(items)]
        events.append({"type": "response.completed", "response": response})
        return [(event["type"], event) for event in events]


class Chat:
    """The Chat Completions API, as used by opencode."""

    def tools(self, body):
        return [tool["function"]["name"] for tool in body.get("tools", [])]

    def results(self, body):
        for message in body["messages"]:
            if message["role"] == "tool":
                yield message.get("content"), text_of(message.get("content")), None

    def reply(self, body, calls, last, turn):
        message = {"role": "assistant", "content": None if calls else last}
        if calls:
            message["tool_calls"] = [
                {"index": index, "id": f"call_{turn}_{index}", "type": "function",
                 "function": {"name": name, "arguments": json.dumps(arguments)}}
                for index, (name, arguments) in enumerate(calls)
            ]
        reason = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": f"c_{turn}", "created": 1, "model": body.get("model")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
        head["object"] = "chat.completion.chunk"
        first = {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
        end = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}
        return [(None, first), (None, end), (None, "[DONE]")]


class Gemini:
    """generateContent, as used by Gemini CLI."""

    def tools(self, body):
        return [f["name"] for tool in body.get("tools", []) for f in tool.get("functionDeclarations", [])]

    def results(self, body):
        for content in body.get("contents", []):
            for part in content.get("parts", []):
                if "functionResponse" in part:
                    response = part["functionResponse"].get("response")
                    yield response, text_of(response), "error" in (response or {})

    def reply(self, body, calls, last, turn):
        parts = [{"functionCall": {"name": name, "args": arguments}} for name, arguments in calls] or [{"text": last}]
        return [(None, {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            "modelVersion": "scripted",
        })]


def api_of(path):
    """The API that a path belongs to; `None` for anything else."""
    if path.endswith("/v1/messages"):
        return Anthropic()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return Chat()
    return Gemini() if "generatecontent" in path.lower() else None


def whole(name):
    """A tool's name, prefixed with its namespace if the API has namespaces."""
    return "".join(part or "" for part in name) if isinstance(name, tuple) else name


def named(tools, wanted):
    """The name under which an agent lists a tool of Pilothouse."""
    return next((name for name in tools if "pilothouse" in whole(name) and whole(name).endswith(wanted)), None)


class Model:
    """A server that plays conversations; the prompt (`SCRIPT:<name>`) selects which one."""

    def __init__(self):
        self.conversations = {}
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.send({"data": [], "models": []})

            def do_HEAD(self):
                self.send({})

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                self.send(model.answer(self.path.split("?")[0], json.loads(raw or b"{}")))

            def send(self, answer):
                stream = isinstance(answer, list)
                if stream:
                    lines = (
                        (f"event: {name}\n" if name else "") + f"data: {e if isinstance(e, str) else json.dumps(e)}\n\n"
                        for name, e in answer
                    )
                    data = "".join(lines).encode()
                else:
                    data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if stream else "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    with suppress(ConnectionError):  # the agent has been killed
                        self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # an agent that was killed
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def play(self, name, script):
        """Registers a script to be played for prompts with `SCRIPT:<name>`."""
        self.conversations[name] = Conversation(script)
        return self.conversations[name]

    def answer(self, path, body):
        api = api_of(path)
        if path.endswith("/count_tokens"):
            return {"input_tokens": 10}
        if api is None:
            return {}
        names = re.findall(r"SCRIPT:([\w-]+)", json.dumps(body))
        conversation = self.conversations.get(names[-1] if names else None)
        tools = list(api.tools(body))
        if conversation is None or not tools:
            return api.reply(body, [], "{}" if isinstance(api, Gemini) else "A title", 0)
        if isinstance(api, Responses):
            search = api.search(body)
            if search is not None:
                conversation.searched = True
                return search
        ours = [name for name in map(whole, tools) if "pilothouse" in name]
        if not ours:  # a request outside the conversation, e.g. for a title
            return api.reply(body, [], conversation.last, 0)
        with conversation.lock:
            conversation.tools = ours
            calls = conversation.next(list(api.results(body)))
            turn = len(conversation.answers)
        listed = [(named(tools, call.tool), call.arguments) for call in calls]
        missing = [call.tool for call, (name, _) in zip(calls, listed) if name is None]
        if missing:
            conversation.failure = conversation.failure or f"not among the tools: {', '.join(missing)}"
            conversation.over, conversation.pending, listed = True, [], []
        return api.reply(body, listed, conversation.last, turn)
