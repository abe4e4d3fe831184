import asyncio
import json
import sys
from pathlib import Path

from agent_framework import Agent, Content, Message, SummarizationStrategy
from agent_framework.openai import OpenAIChatCompletionClient

address, conversation = sys.argv[1:]
client = OpenAIChatCompletionClient(model="mock", base_url=address, api_key="x")


def messages():
    made, call = [], 0
    for one in json.loads(Path(conversation).read_text(encoding="utf-8")):
        if one["role"] == "tool":
            result = Content.from_function_result(f"c{call}", result=one["text"])
            made.append(Message("tool", [result]))
        elif "edits" in one:
            call += 1
            arguments = {"file_path": one["edits"], "old_string": "a", "new_string": "b"}
            made.append(
                Message(
                    "assistant",
                    [
                        one["text"],
                        Content.from_function_call(f"c{call}", "edit", arguments=arguments),
                    ],
                )
            )
        else:
            made.append(Message(one["role"], [one["text"]]))
    return made


async def main():
    strategy = SummarizationStrategy(client=client, target_count=2, threshold=2)
    await Agent(client, "Be careful.", compaction_strategy=strategy).run(messages())


asyncio.run(main())
