"""What the protocol's own Python client sees of a server: one JSON document on stdout.

Arguments: the lifecycle (`legacy` shakes hands, `auto` asks first what the server can), then the server's command.
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import Implementation


async def refused(request):
    try:
        await request
    except MCPError as error:
        return error.error.code
    return None


async def main(mode, command, *arguments):
    server = StdioServerParameters(command=command, args=arguments)
    name = Implementation(name="python sdk", version="1")
    async with Client(server, client_info=name, mode=mode, read_timeout_seconds=30) as client:

        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            return {"failed": result.is_error, "said": json.loads(result.content[0].text)}

        seen = {
            "protocol": client.protocol_version,
            "server": client.server_info.name,
            "instructions": client.instructions,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "before": await call("block_list"),
            "appended": await call("block_append", name="yard", content="A ladder"),
            "missing": await call("block_read", name="yrad"),
            "undone": await call("block_undo", name="yard"),
            "unknown": await refused(client.call_tool("recompile", {"jsx": "x"})),
            "resources": [str(found.uri) for found in (await client.list_resources()).resources],
            "templates": [
                found.uri_template
                for found in (await client.list_resource_templates()).resource_templates
            ],
            "block": (await client.read_resource("pscale://yard")).contents[0].text,
            "node": (await client.read_resource("pscale://yard/0.1")).contents[0].text,
            "nowhere": await refused(client.read_resource("pscale://yrad")),
            "prompts": [prompt.name for prompt in (await client.list_prompts()).prompts],
            "orient": (await client.get_prompt("orient")).messages[0].content.text,
        }
        # What was read is not kept by the client as if it could not change.
        await call("block_append", name="yard", content="A second saw")
        seen["later"] = (await client.read_resource("pscale://yard")).contents[0].text
        print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
