// What the SDK makes of a binary that misbehaves; the table is shared by every SDK.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { test } from "node:test";
import { BinaryNotFound, RpcError, Session, SessionClosed, Unended } from "@mcptest/sdk";

const shared = join(import.meta.dirname, "..", "..", "tests");
const cases = JSON.parse(readFileSync(join(shared, "misbehaviour.json"), "utf8"));

function fake(name, seconds = 30) {
  const pidFile = join(mkdtempSync(join(tmpdir(), "mcptest-")), "pid");
  const env = { FAKE: name, FAKE_PID: pidFile };
  const open = () => Session.open({ serverCommand: "any", binary: join(shared, "fake-coprocess"), timeout: seconds * 1000, env });
  return { pidFile, open };
}

function isGone(pidFile) {
  try {
    process.kill(Number(readFileSync(pidFile, "utf8")), 0);
    return false;
  } catch {
    return true;
  }
}

for (const { fake: name, when, error, contains, seconds } of cases) {
  test(`a binary that misbehaves: ${name}`, async () => {
    const { pidFile, open } = fake(name, seconds);
    // A megabyte that nobody reads fills the pipe.
    const args = { city: "x".repeat(name === "deaf" ? 1 << 20 : 1) };
    let session;
    const thrown = await (async () => {
      session = await open();
      assert.equal(when, "call");
      await session.call("weather", args);
    })().then(
      () => assert.fail("no error"),
      (thrown) => thrown,
    );
    assert.equal(thrown.name, error, String(thrown));
    for (const part of contains) assert.ok(thrown.message.includes(part), thrown.message);
    if (error === "RpcError") {
      process.kill(session.pid);
    } else {
      assert.ok(isGone(pidFile));
      if (when === "call") await assert.rejects(session.call("weather"), SessionClosed);
    }
  });
}

test("good answers", async () => {
  const call = async (name) => (await fake(name).open()).call("weather");
  const fine = { success: true, data: null, text: "sunny", error: null, durationMs: 3, raw: null };
  assert.deepEqual(await call("fine"), fine);
  assert.equal((await call("null-text")).text, "");
  assert.equal((await call("large")).text.length, 17_000_000);
  const { raw, ...verbatim } = await call("verbatim");
  assert.deepEqual(verbatim, { success: false, data: { a: 1 }, text: "a\nb", error: "a\nb", durationMs: null });
  assert.equal(raw.content.length, 3);
});

test("an answer is read however deep it goes", async () => {
  const { data } = await (await fake("deep").open()).call("weather");
  assert.equal(data.length, 1);
});

test("what takes long to take down is waited for as long as a call", async () => {
  const slow = await fake("takes-down").open();
  await slow.close();
  assert.equal(await slow.stderr(), "took down\n");
  const { pidFile, open } = fake("stays", 1);
  const stuck = await open();
  await assert.rejects(stuck.close(), (error) => {
    assert.ok(error instanceof Unended);
    const said = "did not end within 1 s of the end of its session, and was stopped\nstderr of mcptest:\n  taking down";
    assert.ok(error.message.includes(said), error.message);
    return true;
  });
  assert.ok(isGone(pidFile));
  await stuck.close();
});

test("time limits", async () => {
  for (const seconds of [0, -1, NaN]) {
    const { pidFile, open } = fake("fine", seconds);
    await assert.rejects(open(), /`timeout` is a number of milliseconds above 0/);
    assert.ok(!existsSync(pidFile));
  }
  assert.equal((await (await fake("fine", Infinity).open()).call("weather")).text, "sunny");
});

test("a relative binary is taken against our own folder", async () => {
  const binary = relative(process.cwd(), join(shared, "fake-coprocess"));
  const mcp = await Session.open({ serverCommand: "any", binary: `./${binary}`, cwd: tmpdir(), env: { FAKE: "fine" } });
  assert.equal((await mcp.call("weather")).text, "sunny");
  await assert.rejects(Session.open({ cwd: "/nowhere/at/all" }), /there is no folder `\/nowhere\/at\/all`/);
});

test("an error carries its data", async () => {
  const session = await fake("error").open();
  await assert.rejects(session.call("weather"), (error) => {
    assert.ok(error instanceof RpcError);
    assert.deepEqual([error.code, error.data], [-32000, { tool: "weather" }]);
    return true;
  });
});

test("a missing binary names both places", async (t) => {
  const { MCPTEST_BIN, PATH } = process.env;
  t.after(() => {
    Object.assign(process.env, { PATH, ...(MCPTEST_BIN === undefined ? {} : { MCPTEST_BIN }) });
  });
  delete process.env.MCPTEST_BIN;
  process.env.PATH = "/nowhere";
  const missing = (message) => (error) => error instanceof BinaryNotFound && error.message.includes(message);
  await assert.rejects(Session.open("any"), missing("`MCPTEST_BIN` is not set, and PATH has no `mcptest`"));
  process.env.MCPTEST_BIN = "/nowhere/nope";
  await assert.rejects(Session.open("any"), missing("`MCPTEST_BIN` is `/nowhere/nope`, which is no program"));
});
