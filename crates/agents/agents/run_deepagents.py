"""deepagents' agent, with its defaults."""

import play
from deepagents import create_deep_agent
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver


def tool(spec):
    return StructuredTool.from_function(
        lambda **arguments: play.call(spec["name"], arguments),
        name=spec["name"],
        description=spec["description"],
        args_schema=spec["parameters"],
    )


model = ChatOpenAI(
    **play.MODEL,
    max_retries=0,
    profile={"max_input_tokens": play.WINDOW, "tool_calling": True},
)
agent = create_deep_agent(
    model=model,
    tools=[tool(spec) for spec in play.tools()],
    system_prompt=play.SYSTEM,
    checkpointer=InMemorySaver(),
)
for turn in play.turns():
    agent.invoke(
        {"messages": [{"role": "user", "content": turn}]},
        {"configurable": {"thread_id": "1"}, "recursion_limit": 10_000},
    )
