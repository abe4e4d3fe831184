import json
import sys
from pathlib import Path

from strands import Agent
from strands.agent.conversation_manager import SummarizingConversationManager
from strands.models.openai import OpenAIModel

address, conversation = sys.argv[1:]
messages, call = [], 0
for one in json.loads(Path(conversation).read_text(encoding="utf-8")):
    content = [{"text": one["text"]}]
    if "edits" in one:
        call += 1
        arguments = {"file_path": one["edits"], "old_string": "a", "new_string": "b"}
        content.append({"toolUse": {"toolUseId": f"c{call}", "name": "edit", "input": arguments}})
    if one["role"] == "tool":
        result = {"toolUseId": f"c{call}", "status": "success", "content": content}
        content = [{"toolResult": result}]
    role = "assistant" if one["role"] == "assistant" else "user"
    messages.append({"role": role, "content": content})
model = OpenAIModel(client_args={"base_url": address, "api_key": "x"}, model_id="mock")
manager = SummarizingConversationManager(summary_ratio=0.8, preserve_recent_messages=1)
agent = Agent(model=model, messages=messages, conversation_manager=manager, callback_handler=None)
manager.reduce_context(agent)
