"""A strategy that has OpenAI's compaction by the server done, and seals once more what comes back.

What only a provider reads nobody else can open; `sealing.py open` leaves the seal of the program.
"""

import json
import sys
import urllib.request

OWN_SEAL = "" if sys.argv[1:] == ["open"] else "gAAAAAB"


def say(answer):
    print(json.dumps(answer), flush=True)


def items(message):
    for part in message["parts"]:
        if part["type"] == "text":
            yield {"role": message["role"], "content": part["text"]}


def compacted(ask, model):
    said = [message for message in ask["messages"] if message["role"] != "system"]
    sealed = [{"type": "compaction", "encrypted_content": (ask["kept"] or "")[len(OWN_SEAL) :]}]
    sent = [item for one in said for item in (sealed if one["id"][0] == "w" else items(one))]
    body = json.dumps({"model": model["name"], "input": sent}).encode()
    request = urllib.request.Request(
        f"{model['base_url']}/responses/compact", body, {"Content-Type": "application/json"}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        output = json.load(answer)["output"]
    summary = OWN_SEAL + output[-1]["encrypted_content"]
    ids = [{"id": message["id"]} for message in ask["messages"] if message["fixed"]]
    say({"type": "compacted", "messages": [ids[0], {"sealed": summary}, *ids[1:]], "keep": summary})


say({"type": "hello", "protocol": 1, "name": "sealing", "version": "1"})
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "configure":
        model = ask["model"]
        say({"type": "ready"})
    if ask["type"] == "compact":
        compacted(ask, model)
