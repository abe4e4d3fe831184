import asyncio
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.events.event import Event
from google.adk.models.lite_llm import LiteLlm
from google.genai import types

address, conversation = sys.argv[1:]
model = LiteLlm(model="openai/mock", api_base=address, api_key="x")
events = []
for number, one in enumerate(json.loads(Path(conversation).read_text(encoding="utf-8"))):
    parts = [types.Part(text=one["text"])]
    if "edits" in one:
        arguments = {"file_path": one["edits"], "old_string": "a", "new_string": "b"}
        parts.append(types.Part(function_call=types.FunctionCall(name="edit", args=arguments)))
    if one["role"] == "tool":
        response = types.FunctionResponse(name="edit", response={"result": one["text"]})
        parts = [types.Part(function_response=response)]
    role = "model" if one["role"] == "assistant" else "user"
    author = "user" if one["role"] == "user" else "agent"
    content = types.Content(role=role, parts=parts)
    events.append(Event(author=author, content=content, invocation_id=f"i{number}"))
asyncio.run(LlmEventSummarizer(llm=model).maybe_summarize_events(events=events))
