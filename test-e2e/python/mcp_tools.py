"""Lists and calls every tool with the public package `mcp`, over HTTP and over standard input and output."""

import asyncio
import json
import os
import sys

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

BASE = os.environ["BASE"]
KEY = os.environ["AGENTMAIL_API_KEY"]


def ask(name, **given):
    print(json.dumps({"ask": name, **given}), flush=True)
    return json.loads(sys.stdin.readline())


async def use(server):
    """Names, and what each tool answered; the client checks every answer against its output schema."""
    async with Client(server) as client:
        names = []
        token = None
        while True:
            page = await client.list_tools(cursor=token)
            names += [tool.name for tool in page.tools]
            token = page.next_cursor
            if token is None:
                break
        failed = []
        called = []
        for name, arguments in ask("calls"):
            answer = await client.call_tool(name, arguments)
            called.append(name)
            if answer.is_error or not answer.structured_content or not answer.content[0].text:
                failed.append([name, answer.structured_content])
        wrong = await client.call_tool("get_inbox", {"inboxId": "nobody@nowhere.invalid"})
        return {
            "server": client.server_info.name,
            "instructions": client.instructions,
            "names": names,
            "called": called,
            "failed": failed,
            "refused": [wrong.is_error, wrong.structured_content["code"], wrong.content[0].text],
        }


async def main():
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {KEY}"}, timeout=30) as web:
        http = await use(streamable_http_client(f"{BASE}/mcp", http_client=web))
    program = ask("program")
    variables = {"AGENTMAIL_API_KEY": KEY, "AGENTMAIL_BASE_URL": BASE}
    stdio = await use(StdioServerParameters(command=program["command"], args=program["args"], env=variables))
    print(json.dumps({"result": {"http": http, "stdio": stdio}}), flush=True)


asyncio.run(main())
