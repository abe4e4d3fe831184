"""LlmEventSummarizer of Google's ADK as a strategy: `compactometer add adk-summary` installs it."""

import asyncio
import importlib.metadata

from compactometer import strategy
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types


class CaseModel(BaseLlm):
    """The model of the case, for the package."""

    ask: object = None

    async def generate_content_async(self, llm_request, stream=False):
        prompt = "\n".join(part.text for content in llm_request.contents for part in content.parts)
        yield LlmResponse(
            content=types.Content(role="model", parts=[types.Part(text=self.ask(prompt))])
        )


def theirs(message, names):
    """A message as an event of the package."""
    parts = []
    for part in message.parts:
        if part["type"] == "text":
            parts.append(types.Part(text=part["text"]))
        elif part["type"] == "tool_call":
            parts.append(
                types.Part.from_function_call(
                    name=part["name"], args=strategy.arguments(part["arguments"])
                )
            )
        elif part["type"] == "tool_result":
            name, answer = names.get(part["call_id"], "tool"), {"result": part["text"]}
            parts.append(types.Part.from_function_response(name=name, response=answer))
    author = "user" if message.role == "user" else "agent"
    return Event(author=author, content=types.Content(role=author, parts=parts))


class AdkSummary(strategy.Strategy):
    about = "LlmEventSummarizer of Google's ADK"
    version = importlib.metadata.version("google-adk")
    # 0 messages: as many as the budget leaves beside the summary; else `event_retention_size`.
    parameters = {"messages": 0}
    tail_share = 0.5

    def compact(self, request):
        budget, count = request.budget, int(self.settings["messages"])
        free = [message for message in request.messages if not message.fixed]
        kept = free[-count:] if count else request.newest(budget.tail)
        old = [message for message in free if message not in kept]
        if not old:
            raise strategy.Skip()
        names = {
            part["id"]: part["name"]
            for message in request.messages
            for part in message.parts
            if part["type"] == "tool_call"
        }
        model = CaseModel(
            model=self.model.name, ask=lambda prompt: self.model.complete(prompt, budget.written)
        )
        summarizer = LlmEventSummarizer(model)
        events = [theirs(message, names) for message in old]
        event = asyncio.run(summarizer.maybe_summarize_events(events=events))
        content = event.actions.compaction.compacted_content
        text = "\n".join(part.text for part in content.parts if part.text)
        # The package shows it as a turn of the model, which not every provider takes as the first.
        return request.fixed_and(kept, first=[strategy.Written(text)])


strategy.run(AdkSummary, "adk-summary")
