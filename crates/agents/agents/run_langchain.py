"""LangChain's agent with its middleware that summarizes, as its documentation sets it up."""

import play
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
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


model = ChatOpenAI(**play.MODEL, max_retries=0)
agent = create_agent(
    model,
    [tool(spec) for spec in play.tools()],
    system_prompt=play.SYSTEM,
    middleware=[SummarizationMiddleware(model=model, trigger=("tokens", play.WINDOW * 9 // 10))],
    checkpointer=InMemorySaver(),
)
for turn in play.turns():
    agent.invoke(
        {"messages": [{"role": "user", "content": turn}]},
        {"configurable": {"thread_id": "1"}, "recursion_limit": 10_000},
    )
