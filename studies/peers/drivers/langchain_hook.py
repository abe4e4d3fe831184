"""LangChain's side of the hook row: `before_model` of SummarizationMiddleware before each message of one conversation.

langchain_hook.py SUITE MESSAGES TRIGGER ANSWER
"""

import json
import sys
import time

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage

path, messages, trigger, answer = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
with open(path) as suite:
    suite.readline()
    scenario = json.loads(suite.readline())
kinds = {"user": HumanMessage, "assistant": AIMessage}
said = [
    kinds[m["role"]](m["parts"][0]["text"]) for m in scenario["messages"] if m["role"] in kinds
][:messages]
assert len(said) == messages, f"{len(said)} messages, asked for {messages}"

hook = SummarizationMiddleware(FakeListChatModel(responses=[answer]), trigger=("tokens", trigger))
history, compactions = [], 0
start = time.process_time()
for message in said:
    history.append(message)
    update = hook.before_model({"messages": history}, None)
    if update:
        history = update["messages"][1:]  # the first says that all before it go
        compactions += 1
cpu_s = time.process_time() - start
print(
    json.dumps(
        {"cpu_s": cpu_s, "messages": messages, "compactions": compactions, "left": len(history)}
    )
)
