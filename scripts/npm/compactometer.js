#!/usr/bin/env node
// Starts the program that npm installed for this system.
"use strict";

const { spawnSync } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "compactometer.exe" : "compactometer";

let program;
try {
  program = require.resolve(`compactometer-${platform}/${file}`);
} catch {
  console.error(`error: npm has no compactometer for ${platform}, or left out optional packages: install with --include=optional, or build it with cargo`);
  process.exit(2);
}
const done = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (done.error) {
  console.error(`error: ${program}: ${done.error.message}`);
}
process.exit(done.signal ? 130 : (done.status ?? 2));
