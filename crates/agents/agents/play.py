"""What the programs of frameworks share: the conversation's tools, and the turns of its user."""

import json
import os
import sys
import urllib.request

ADDRESS = os.environ["COMPACTOMETER_PLAY"]
WINDOW = int(os.environ["WINDOW"])
SYSTEM = os.environ["SYSTEM"]
MODEL = {"model": "mock", "base_url": f"http://{ADDRESS}/v1", "api_key": "x"}


def ask(path, body):
    request = urllib.request.Request(
        f"http://{ADDRESS}{path}",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def tools():
    """The tools of the conversation: name, description and a JSON schema of the parameters."""
    return ask("/play/tools", {})["tools"]


def call(name, arguments):
    """What a tool of the conversation answered."""
    return ask("/play/call", {"name": name, "arguments": arguments})["text"]


def turns():
    """The user's turns. One has ended when the next is asked for."""
    for line in sys.stdin:
        yield json.loads(line)
        print("turn ended", flush=True)
