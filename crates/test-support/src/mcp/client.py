"""What the protocol's own Python client gets from a server: one JSON document on stdout.

Arguments: the lifecycle (`legacy` shakes hands, `auto` asks first what the server can), a file with an array of [tool, arguments], then the
server's command.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(mode, calls, command, *arguments):
    server = StdioServerParameters(command=command, args=arguments)
    with open(calls, encoding="utf-8") as file:
        calls = json.load(file)
    async with Client(server, mode=mode, read_timeout_seconds=120) as client:
        seen = {"tools": [tool.name for tool in (await client.list_tools()).tools], "results": []}
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            seen["results"].append({"failed": result.is_error, "text": result.content[0].text})
        print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
