// A strategy of your own in JavaScript, without packages:
//
//     compactometer compare -s mine=exec:"node scripts/adapters/template.mjs",@controls
//
// It keeps the newest messages that fit, and calls no model. docs/own-strategy.md describes each line that is read and written.
import { createInterface } from "node:readline";

const say = (answer) => process.stdout.write(JSON.stringify(answer) + "\n");

say({ type: "hello", protocol: 1, name: "template", version: "1", about: "the newest messages", tail_share: 1 });

function compact({ messages, budget }) {
  // Results stay with the calls that they answer.
  const groups = [];
  for (const message of messages.filter((message) => !message.fixed && message.role !== "system")) {
    if (message.role === "tool" && groups.length > 0) groups.at(-1).push(message);
    else groups.push([message]);
  }
  let room = budget.retained;
  const kept = new Set();
  for (const group of groups.reverse()) {
    room -= group.reduce((sum, message) => sum + message.tokens, 0);
    if (room < 0) break;
    group.forEach((message) => kept.add(message.id));
  }
  const stays = messages.filter((message) => message.fixed || message.role === "system" || kept.has(message.id));
  // Providers want a chat to open with the user.
  const opens = stays.findIndex((message) => message.role === "user");
  const view = stays.filter((message, place) => message.role === "system" || place >= opens);
  return { type: "compacted", messages: view.map(({ id }) => ({ id })) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  if (ask.type === "configure") say({ type: "ready" });
  else if (ask.type === "compact") say(compact(ask));
  else if (ask.type === "bye") break;
}
process.exit(0);
