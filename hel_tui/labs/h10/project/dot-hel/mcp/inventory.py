"""The inventory server of the lab: an MCP server over stdio in plain Python.

The port of `api` stands here and nowhere else. Every message received is appended to events.jsonl beside this
file: the lab tells from it what was called, and in which order.
"""


import json
import sys
from pathlib import Path

PORTS = {"api": 8437, "worker": 9123, "admin": 8611}
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
EVENTS = Path(__file__).resolve().parent / "events.jsonl"

TOOLS = [
    {
        "name": "list_services",
        "description": "List the names of all services.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "lookup_port",
        "description": "Look up the port assigned to a service.",
        "inputSchema": {
            "type": "object",
            "properties": {"service": {"type": "string", "description": "name of the service"}},
            "required": ["service"],
        },
        "annotations": {"readOnlyHint": True},
    },
]


class Refused(Exception):
    """A JSON-RPC error: code and message."""


def log(text):
    print(f"inventory: {text}", file=sys.stderr, flush=True)


def text_result(text, failed=False):
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def call(name, arguments):
    if name == "list_services":
        log(f"list_services: {len(PORTS)} services")
        return text_result("\n".join(sorted(PORTS)))
    if name == "lookup_port":
        service = arguments.get("service")
        if service not in PORTS:
            log(f"lookup_port: nobody knows {service!r}")
            return text_result(f"unknown service: {service}", failed=True)
        log(f"lookup_port: {service} is at {PORTS[service]}")
        return text_result(f"{service}: {PORTS[service]}")
    log(f"no tool {name} here")
    raise Refused(-32602, f"Unknown tool: {name}")


def answer(method, params):
    if method == "initialize":
        asked = params.get("protocolVersion")
        client = params.get("clientInfo", {})
        log(f"hello {client.get('name', '?')} {client.get('version', '')}".rstrip())
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "inventory", "version": "1.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        log(f"{len(TOOLS)} tools on offer")
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(params.get("name"), params.get("arguments") or {})
    log(f"no {method} here")  # new clients ask for server/discover first, then speak as this server does
    raise Refused(-32601, f"Method not found: {method}")


def main():
    log(f"ready, messages go to {EVENTS.name}")
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            log("a line that is not JSON was skipped")
            continue
        with EVENTS.open("a", encoding="utf-8") as events:
            events.write(json.dumps(message, ensure_ascii=False) + "\n")
        if not isinstance(message, dict) or "id" not in message or "method" not in message:
            continue  # notifications and responses are not answered
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = answer(message["method"], message.get("params") or {})
        except Refused as refused:
            code, text = refused.args
            reply["error"] = {"code": code, "message": text}
        print(json.dumps(reply), flush=True)
    log("goodbye")


if __name__ == "__main__":
    main()
