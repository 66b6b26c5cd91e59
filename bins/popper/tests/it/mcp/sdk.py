"""What the protocol's own Python client gets from `popper mcp`: one JSON document on stdout.

Arguments: the lifecycle (`legacy` shakes hands, `auto` asks first what the server can), a file of laws, then the server's command.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(mode, laws, command, *arguments):
    server = StdioServerParameters(command=command, args=arguments)
    with open(laws, encoding="utf-8") as file:
        laws = json.load(file)
    async with Client(server, mode=mode, read_timeout_seconds=120) as client:

        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            return {"failed": result.is_error, "text": result.content[0].text}

        seen = {
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "check": await call("check", laws=laws, detail="full"),
            "wrong": await call("span", width=5),
        }
        print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
