"""Drives `pilothouse mcp` with the MCP SDK for Python, as an agent would.

usage: mcp_client.py PROGRAM MODE PROFILE

MODE is how the SDK starts the session: legacy, auto or 2026-07-28. PROFILE is receipt or
structured. Prints one line at the end; any failed expectation is an exception.
"""

import os
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters, stdio_client

ENVELOPE = "dev.pilothouse/envelope"
TOOLS = ["ExecCommand", "ExecCommandBatch", "TaskList", "TaskStatus", "TaskOutput", "TaskInput", "TaskStop",
         "Question"]


class Agent:
    """Calls tools and checks every result in the same way."""

    def __init__(self, client, profile):
        self.client = client
        self.profile = profile

    async def call(self, tool, arguments, **options):
        """Calls a tool; returns its receipt and its canonical envelope."""
        result = (await self.client.call_tool(tool, arguments, **options)).model_dump(by_alias=True)
        envelope = result["_meta"][ENVELOPE]
        assert list(envelope) == ["tool_name", "status", "summary_text", "result", "error"], envelope
        assert envelope["tool_name"] == tool, envelope
        assert bool(result["isError"]) == (envelope["status"] == "error"), result
        if self.profile == "structured":
            assert result["structuredContent"] == envelope, result
        else:
            assert result.get("structuredContent") is None, result
        assert [part["type"] for part in result["content"]] == ["text"], result
        return result["content"][0]["text"], envelope


async def listing(agent):
    tools = (await agent.client.list_tools()).model_dump(by_alias=True)["tools"]
    assert [tool["name"] for tool in tools] == TOOLS, tools
    for tool in tools:
        assert bool(tool.get("outputSchema")) == (agent.profile == "structured"), tool["name"]
        reads = tool["name"] in ("TaskList", "TaskStatus", "TaskOutput")
        assert bool(tool["annotations"].get("readOnlyHint")) == reads, tool["name"]


async def a_quick_command(agent):
    receipt, envelope = await agent.call("ExecCommand", {"cmd": "echo out; echo err >&2; exit 3"})
    assert receipt.startswith("Process exited with code 3"), receipt
    assert envelope["result"]["exit_status"] == 3, envelope
    assert envelope["result"]["stdout_preview"] == "out\n", envelope


async def several_commands_in_one_call(agent):
    items = [{"cmd": "echo one"}, {"cmd": "exit 3"}, {"cmd": "python3", "tty": True}]
    receipt, envelope = await agent.call("ExecCommandBatch", {"items": items})
    assert receipt.startswith("ExecCommandBatch completed 1/3 items\n[1] exit=0\n[2] exit=3 exit 3\n"), receipt
    statuses = [item["status"] for item in envelope["result"]["items"]]
    assert statuses == ["completed", "failed", "rejected"], envelope


async def a_conversation_with_a_task(agent):
    ask = {"cmd": "printf 'name? '; read -r name; echo hello $name; sleep 60", "tty": True, "yield_time_ms": 250}
    _, envelope = await agent.call("ExecCommand", ask)
    assert envelope["result"]["disposition"] == "promoted_to_task", envelope
    task = envelope["result"]["task_handle"]["task_id"]

    _, envelope = await agent.call("TaskInput", {"task_id": task, "input": "ada\n", "yield_time_ms": 2000})
    assert envelope["result"]["accepted_input"], envelope
    with anyio.fail_after(20):
        while True:
            _, envelope = await agent.call("TaskOutput", {"task_id": task, "block": False})
            if "hello ada" in (envelope["result"]["task"]["output_preview"] or ""):
                break
            await anyio.sleep(0.02)

    # Progress arrives while a call blocks, and cancelling the call leaves the task running.
    beats = []

    async def beat(progress, total, message):
        beats.append(progress)
        waiting.cancel()

    with anyio.move_on_after(40) as waiting:
        await agent.call("TaskOutput", {"task_id": task, "timeout_ms": 45_000}, progress_callback=beat)
    assert beats and beats == sorted(beats), beats
    _, envelope = await agent.call("TaskStatus", {"task_id": task})
    assert envelope["result"]["task"]["status"] == "running", envelope

    receipt, envelope = await agent.call("TaskStop", {"task_id": task})
    assert envelope["result"]["effect"] in ("cancelling", "cancelled"), envelope
    _, envelope = await agent.call("TaskOutput", {"task_id": task, "timeout_ms": 20_000})
    assert envelope["result"]["task"]["status"] == "cancelled", envelope


async def what_cannot_be_done(agent):
    receipt, envelope = await agent.call("TaskStatus", {"task_id": "task_00000000"})
    assert envelope["error"]["kind"] == "task_not_found", envelope
    assert "task_not_found" in receipt, receipt
    _, envelope = await agent.call("ExecCommand", {"comand": "true"})
    assert envelope["error"]["kind"] == "invalid_tool_input", envelope
    try:
        await agent.client.call_tool("Teleport", {})
    except MCPError as error:
        assert "Teleport" in str(error), error
    else:
        raise AssertionError("an unknown tool is a protocol error")


async def main(program, mode, profile):
    args = ["mcp", "--profile", profile, "--label", f"python-{mode}"]
    server = StdioServerParameters(command=program, args=args, env=dict(os.environ))
    async with Client(stdio_client(server), mode=mode) as client:
        # A client that sends the protocol revision at once never asks for the server's identity.
        if mode in ("legacy", "auto"):
            assert "operator" in client.instructions, client.instructions
        agent = Agent(client, profile)
        await listing(agent)
        await a_quick_command(agent)
        await several_commands_in_one_call(agent)
        await a_conversation_with_a_task(agent)
        await what_cannot_be_done(agent)
        print(f"ok {mode} {profile} {client.protocol_version}")


anyio.run(main, *sys.argv[1:])
