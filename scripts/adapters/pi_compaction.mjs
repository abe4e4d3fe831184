// The compaction of pi as a strategy: `compactometer add pi-compaction` installs it.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

// The package exports only some of what it compacts with.
const root = import.meta.resolve("@mariozechner/pi-coding-agent");
const { compact, estimateTokens, prepareCompaction } = await import(new URL("core/compaction/index.js", root));
const { COMPACTION_SUMMARY_PREFIX, COMPACTION_SUMMARY_SUFFIX } = await import(new URL("core/messages.js", root));
const { version } = JSON.parse(readFileSync(new URL("../package.json", root)));

const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");
const parameters = [{ name: "keep", default: 0, about: "tokens that stay word for word; 0: half of the budget, and 20000 is pi's own" }];
say({ type: "hello", protocol: 1, name: "pi-compaction", version, about: "the compaction of pi", parameters, tail_share: 0.5 });

const text = (value) => [{ type: "text", text: value }];
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };

function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return { input: json };
  }
}

// A message as entries of a session: results are messages of their own there, with ids `ID#PLACE`.
function entries({ id, role, parts }, tools) {
  const entry = (place, message) => ({ type: "message", id: `${id}#${place}`, parentId: null, timestamp: "", message: { timestamp: 0, ...message } });
  if (role === "tool") {
    const results = parts.filter((part) => part.type === "tool_result");
    return results.map((part, place) =>
      entry(place, { role: "toolResult", toolCallId: part.call_id, toolName: tools.get(part.call_id) ?? "tool", content: text(part.text), isError: false }),
    );
  }
  const content = parts.flatMap((part) => {
    if (part.type === "text") return text(part.text);
    return part.type === "tool_call" ? [{ type: "toolCall", id: part.id, name: part.name, arguments: parsed(part.arguments) }] : [];
  });
  return [entry(0, role === "user" ? { role, content } : { role, content, usage, stopReason: "stop" })];
}

async function compacted({ messages, budget, kept }, base, keep) {
  const calls = messages.flatMap((message) => message.parts.filter((part) => part.type === "tool_call"));
  const tools = new Map(calls.map((call) => [call.id, call.name]));
  const chat = messages.filter((message) => message.role !== "system");
  const path = chat.flatMap((message) => entries(message, tools));
  // What was written at the last compaction is that compaction, for pi.
  const at = path.findIndex((entry) => kept && entry.message.content[0]?.text === COMPACTION_SUMMARY_PREFIX + kept + COMPACTION_SUMMARY_SUFFIX);
  if (at >= 0) path[at] = { type: "compaction", id: path[at].id, parentId: null, timestamp: "", summary: kept, firstKeptEntryId: path[at + 1]?.id, tokensBefore: 0 };
  // What has to stay counts for pi. Where a last result has more tokens than stay, pi keeps everything and writes nothing.
  const fixed = chat.filter((message) => message.fixed).flatMap((message) => entries(message, tools));
  const recent = budget.tail + fixed.reduce((sum, { message }) => sum + estimateTokens(message), 0);
  // It asks for four fifths of what it reserves.
  const settings = { enabled: true, reserveTokens: Math.ceil(budget.written / 0.8), keepRecentTokens: keep || recent };
  const prepared = prepareCompaction(path, settings);
  if (!prepared || prepared.messagesToSummarize.length + prepared.turnPrefixMessages.length === 0) return { type: "skip" };
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = { id: base.name, name: base.name, api: "openai-completions", provider: "openai", baseUrl: base.base_url, reasoning: false, input: ["text"], cost, contextWindow: budget.window, maxTokens: budget.written };
  const { summary, firstKeptEntryId } = await compact(prepared, model, "none");
  const first = chat.findIndex((message) => message.id === firstKeptEntryId.split("#")[0]);
  const stays = messages.filter((message) => message.role === "system" || message.fixed || chat.indexOf(message) >= first);
  const view = stays.map(({ id }) => ({ id }));
  view.splice(messages.filter((message) => message.role === "system").length, 0, { role: "user", text: COMPACTION_SUMMARY_PREFIX + summary + COMPACTION_SUMMARY_SUFFIX });
  return { type: "compacted", messages: view, keep: summary };
}

let [settings, model] = [{}, {}];
for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  if (ask.type === "configure") {
    [settings, model] = [ask.parameters, ask.model];
    say({ type: "ready" });
  } else if (ask.type === "compact") {
    say(await compacted(ask, model, settings.keep).catch((error) => ({ type: "failed", reason: String(error) })));
  } else if (ask.type === "bye") break;
}
process.exit(0);
