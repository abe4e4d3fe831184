"""LLMSummarizingCondenser of OpenHands as a strategy: `compactometer add openhands-condenser` installs it."""

import importlib.metadata
import os

# Without these the package asks a server for prices, and logs each step.
os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LOG_LEVEL": "ERROR"}

from compactometer import strategy
from openhands.sdk import LLM, LLMSummarizingCondenser, Message, TextContent
from openhands.sdk.context.view import View
from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent, SystemPromptEvent
from openhands.sdk.event.condenser import Condensation, CondensationSummaryEvent
from openhands.sdk.llm import MessageToolCall
from openhands.sdk.mcp import MCPToolAction, MCPToolObservation


def theirs(message, calls):
    """A message as events of the package, whose ids begin with that of ours."""
    texts = [TextContent(text=part["text"]) for part in message.parts if part["type"] == "text"]
    made = [part for part in message.parts if part["type"] == "tool_call"]
    for number, part in enumerate(made):
        tool = {"tool_name": part["name"], "tool_call_id": part["id"]}
        call = {key: part[key] for key in ("id", "name", "arguments")}
        calls[part["id"]] = {"id": f"{message.id}.{number}", **tool}
        yield ActionEvent(
            **calls[part["id"]],
            thought=[] if number else texts,
            action=MCPToolAction(data=strategy.arguments(part["arguments"])),
            tool_call=MessageToolCall(**call, origin="completion"),
            llm_response_id=message.id,
        )
    if message.role == "tool":
        results = [part for part in message.parts if part["type"] == "tool_result"]
        for number, part in enumerate(results):
            call = calls[part["call_id"]]
            result = MCPToolObservation.from_text(part["text"], tool_name=call["tool_name"])
            one = {"id": f"{message.id}.{number}", "action_id": call["id"], "observation": result}
            yield ObservationEvent(**{**call, **one})
    elif message.role == "system":
        yield SystemPromptEvent(id=message.id, system_prompt=texts[0], tools=[])
    elif message.id[0] == "w":
        yield CondensationSummaryEvent(id=message.id, summary=message.text, source="environment")
    elif not made:
        source = "user" if message.role == "user" else "agent"
        said = Message(role=message.role, content=texts)
        yield MessageEvent(id=message.id, source=source, llm_message=said)


class OpenhandsCondenser(strategy.Strategy):
    about = "LLMSummarizingCondenser of OpenHands"
    version = importlib.metadata.version("openhands-sdk")
    # The first events, which always stay, with the system prompt; 4 in the package's own agent, where
    # a result may be one.
    parameters = {"keep_first": 2}
    tail_share = 0.5

    def compact(self, request):
        model = LLM(
            model=f"openai/{self.model.name}",
            base_url=self.model.base_url,
            api_key="none",
            api_mode="chat",
            max_output_tokens=request.budget.written,
            temperature=0,
            num_retries=0,
        )
        keep_first = int(self.settings["keep_first"])
        if request.messages[0].role != "system":
            keep_first -= 1
        # The package reduces to a half of its limit.
        stays = sum(message.tokens for message in request.fixed) + request.budget.tail
        limits = {"max_size": 1_000_000, "max_tokens": 2 * stays}
        condenser = LLMSummarizingCondenser(llm=model, keep_first=keep_first, **limits)
        calls = {}
        events = [event for message in request.messages for event in theirs(message, calls)]
        view = View.from_events(events)
        condensed = condenser.condense(view, agent_llm=model)
        if not isinstance(condensed, Condensation):
            raise strategy.Skip()
        ours = {message.id: message for message in request.messages}
        fixed = {message.id for message in request.fixed}
        forgotten = {one for one in condensed.forgotten_event_ids if one.split(".")[0] not in fixed}
        kept = condensed.model_copy(update={"forgotten_event_ids": forgotten}).apply(view.events)
        whole = {event.id.split(".")[0]: event for event in kept}
        return [ours.get(name) or strategy.Written(event.summary) for name, event in whole.items()]


strategy.run(OpenhandsCondenser, "openhands-condenser")
