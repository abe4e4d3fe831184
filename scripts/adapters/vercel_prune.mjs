// pruneMessages of the Vercel AI SDK as a strategy: `compactometer add vercel-prune` installs it. It drops reasoning, and
// calls with their results, and calls no model.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pruneMessages } from "ai";

const { version } = createRequire(import.meta.url)("ai/package.json");
const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");
const parameters = [{ name: "messages", default: 2, about: "calls of the last N messages stay" }];
say({ type: "hello", protocol: 1, name: "vercel-prune", version, about: "pruneMessages of the Vercel AI SDK", parameters, tail_share: 1 });

// A part as the package's, with its place in our message.
function part(part, at, tools) {
  if (part.type === "text") return { at, type: "text", text: part.text };
  if (part.type === "thinking") return { at, type: "reasoning", text: part.text };
  if (part.type === "tool_call") return { at, type: "tool-call", toolCallId: part.id, toolName: part.name, input: part.arguments };
  if (part.type === "media") return { at, type: "file", data: part.digest, mediaType: part.media_type };
  const output = { type: "text", value: part.text };
  return { at, type: "tool-result", toolCallId: part.call_id, toolName: tools.get(part.call_id) ?? "tool", output };
}

function compact(messages, kept) {
  const calls = messages.flatMap((message) => message.parts.filter((part) => part.type === "tool_call"));
  const tools = new Map(calls.map((call) => [call.id, call.name]));
  const theirs = messages.map(({ id, role, parts }) => ({ id, role, content: parts.map((one, at) => part(one, at, tools)) }));
  const pruned = pruneMessages({ messages: theirs, reasoning: "before-last-message", toolCalls: `before-last-${kept}-messages` });
  const ours = new Map(messages.map((message) => [message.id, message]));
  const view = pruned.map(({ id, content }) => {
    const { parts } = ours.get(id);
    return content.length === parts.length ? { id } : { id, parts: content.map(({ at }) => parts[at]) };
  });
  const isSame = view.length === messages.length && view.every((message) => !message.parts);
  return isSame ? { type: "skip" } : { type: "compacted", messages: view };
}

let settings = {};
for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  if (ask.type === "configure") {
    settings = ask.parameters;
    say({ type: "ready" });
  } else if (ask.type === "compact") {
    // Calls that are still to be answered are among the last messages, and have to stay.
    const open = ask.messages.length - ask.messages.findLastIndex((message) => !message.fixed) - 1;
    say(compact(ask.messages, Math.max(settings.messages, open)));
  } else if (ask.type === "bye") break;
}
process.exit(0);
