"""The conversation of the study as LangChain's messages."""

import json
from pathlib import Path

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage


def messages(path):
    made, call = [], 0
    for one in json.loads(Path(path).read_text(encoding="utf-8")):
        if one["role"] == "user":
            made.append(HumanMessage(one["text"]))
        elif one["role"] == "tool":
            made.append(ToolMessage(one["text"], tool_call_id=f"c{call}"))
        elif "edits" in one:
            call += 1
            arguments = {"file_path": one["edits"], "old_string": "a", "new_string": "b"}
            calls = [{"name": "edit", "args": arguments, "id": f"c{call}"}]
            made.append(AIMessage(one["text"], tool_calls=calls))
        else:
            made.append(AIMessage(one["text"]))
    return made
