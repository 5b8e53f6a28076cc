// Sessions with the demo server, and with a real one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { RpcError, Session, SessionClosed } from "@mcptest/sdk";

const root = join(import.meta.dirname, "..", "..", "..");
const filesystem = join(root, "target/tools/node/node_modules/.bin/mcp-server-filesystem");
const folder = () => mkdtempSync(join(tmpdir(), "mcptest-"));

async function open(t, options) {
  const session = await Session.open(options);
  t.after(() => session.close());
  return session;
}

test("every method", async (t) => {
  const mcp = await open(t, "mcptest demo-server");
  assert.equal((await mcp.initialize()).serverInfo.name, "mcptest-demo");
  assert.deepEqual((await mcp.call("add", { a: 2, b: 40 })).data, { sum: 42 });
  const failed = await mcp.call("fail");
  assert.deepEqual([failed.success, failed.error], [false, "this tool always fails"]);
  assert.ok((await mcp.call("picture")).raw.content.some((block) => block.type === "image"));
  assert.ok((await mcp.listTools()).some((tool) => tool.name === "echo"));
  const listed = await mcp.listResources();
  assert.deepEqual([listed.resources.length, listed.resourceTemplates.length], [2, 1]);
  assert.match((await mcp.readResource("demo://motd")).contents[0].text, /^hello/);
  assert.match((await mcp.callPrompt("greet", { name: "Ada" })).messages[0].content.text, /Ada/);
  await assert.rejects(mcp.call("nope"), (error) => {
    assert.ok(error instanceof RpcError);
    assert.deepEqual([error.code, error.data.code], [-32000, -32602]);
    return true;
  });
  // Calls that are made at once are answered in turn.
  const sums = await Promise.all([1, 2, 3].map((a) => mcp.call("add", { a, b: 1 })));
  assert.deepEqual(sums.map((verdict) => verdict.data.sum), [2, 3, 4]);
  await mcp.close();
  await assert.rejects(mcp.call("echo"), SessionClosed);
});

test("a server that cannot be started", async (t) => {
  const mcp = await open(t, ["/nowhere/server", "--an argument"]);
  await assert.rejects(mcp.call("echo"), (error) => error.code === -32001 && error.message.includes("/nowhere/server"));
});

test("a server by its address, and its cassette", async (t) => {
  const tape = join(folder(), "tape.json");
  const demo = spawn("mcptest", ["demo-server", "--http"], { stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => demo.kill());
  const [line] = await once(demo.stdout.setEncoding("utf8"), "data");
  const serverUrl = line.trim();
  const first = await open(t, { serverUrl });
  await first.cassette("record", tape);
  assert.equal((await first.initialize()).serverInfo.name, "mcptest-demo");
  assert.deepEqual((await first.call("add", { a: 2, b: 40 })).data, { sum: 42 });
  await first.close();
  demo.kill();
  await once(demo, "exit");
  const mcp = await open(t, { serverUrl });
  await assert.rejects(mcp.call("add", { a: 2, b: 40 }), (error) => error.code === -32001 && error.message.includes("cannot connect"));
  await mcp.cassette("replay", tape);
  assert.deepEqual((await mcp.call("add", { a: 2, b: 40 })).data, { sum: 42 });
});

test("a cassette replays without the server", async (t) => {
  const tape = join(folder(), "tape.json");
  const recorded = await Session.open("mcptest demo-server");
  await recorded.cassette("record", tape);
  assert.deepEqual((await recorded.call("add", { a: 2, b: 40 })).data, { sum: 42 });
  await recorded.close();
  const mcp = await open(t, "/nowhere/server");
  await mcp.cassette("replay", tape);
  assert.deepEqual((await mcp.call("add", { a: 2, b: 40 })).data, { sum: 42 });
  await assert.rejects(mcp.call("add", { a: 1, b: 1 }), RpcError);
  await mcp.cassette("off");
});

test("a close waits for no call", async (t) => {
  const tape = join(folder(), "tape.json");
  const mcp = await open(t, "mcptest demo-server");
  await mcp.cassette("record", tape);
  await mcp.initialize();
  const late = assert.rejects(mcp.call("slow", { steps: 20, ms: 1000 }), /cannot call `mcp.call`: the session was closed/);
  await new Promise(setImmediate);
  const began = Date.now();
  await mcp.close();
  await late;
  assert.ok(Date.now() - began < 10_000);
  // The binary ended by itself, with everything that belongs to an end.
  assert.match(readFileSync(tape, "utf8"), /initialize/);
});

test("an error leads to the line of the test", async (t) => {
  const mcp = await open(t, "mcptest demo-server");
  const leadsHere = (error) => /^    at .*session\.test\.js/.test(error.stack.replace(/^(?!    at ).*\n/gm, ""));
  for (const call of [() => mcp.call("nope"), () => mcp.readResource("demo://nope"), () => mcp.runTest("nope")]) {
    await assert.rejects(call, leadsHere);
  }
  await assert.rejects(() => Session.open({ binary: "/nowhere/mcptest" }), leadsHere);
  await assert.rejects(() => Session.open({ binary: "/bin/false" }), leadsHere);
});

test("a session ends with the block that uses it", async () => {
  const mcp = await Session.open("mcptest demo-server");
  await mcp[Symbol.asyncDispose]();
  await assert.rejects(mcp.call("echo"), SessionClosed);
});

test("cache and events", async (t) => {
  const mcp = await open(t, { serverCommand: "mcptest demo-server", cwd: folder() });
  await mcp.cache("readwrite");
  assert.equal((await mcp.call("echo", { message: "hi" })).text, "hi");
  // A call that the cache answers is no event of the server's.
  await mcp.cache("off");
  assert.equal((await mcp.call("echo", { message: "hi" })).text, "hi");
  const { events, to } = await mcp.flush();
  assert.ok(events > 0 && to !== "");
  await assert.rejects(mcp.uploadTo("http://127.0.0.1:9/events", "NO_SUCH_TOKEN"), RpcError);
  await mcp.uploadTo("http://127.0.0.1:9/events");
});

test("a real server", async (t) => {
  const files = folder();
  writeFileSync(join(files, "a.txt"), "hi");
  const mcp = await open(t, [filesystem, files]);
  assert.equal((await mcp.call("read_text_file", { path: join(files, "a.txt") })).text, "hi");
  assert.equal((await mcp.call("read_text_file", { path: "/etc/hostname" })).success, false);
});
