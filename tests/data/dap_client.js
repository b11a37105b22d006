// The debug adapter under Microsoft's own client: `node dap_client.js PTXKIT TILE INLINED`, PTXKIT a program
// that speaks the protocol when it is called with `dap`. Prints a line for each scenario that passes.
const assert = require("assert");
const fs = require("fs");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [ptxkit, tile, inlined] = process.argv.slice(2);
const source = inlined.replace(/ptx$/, "cu");
const lineOf = (text) => fs.readFileSync(tile, "utf8").split("\n").findIndex((line) => line.includes(text)) + 1;
const wait = lineOf("mbarrier.try_wait");
const options = ["--grid", "1", "--block", "32", "--arg", "q=f32[64]", "--arg", "p=f32[8192]:randn", "--arg", "n=9"];

const scenarios = {
  async "a breakpoint of a line is hit"(client) {
    await client.hitBreakpoint({ program: tile }, { path: tile, line: wait });
    const { threads } = (await client.threadsRequest()).body;
    assert.deepStrictEqual(
      threads.map((thread) => thread.name),
      [0, 1].flatMap((cta) => [0, 1].map((warp) => `CTA (${cta}, 0, 0) warp ${warp}`))
    );
  },

  async "a line of the source is hit, and steps are lines of it"(client) {
    await client.hitBreakpoint({ program: inlined, args: options }, { path: source, line: 14 });
    for (const line of [15, 16]) {
      client.nextRequest({ threadId: 1 });
      await client.assertStoppedLocation("step", { path: source, line });
    }
    client.stepBackRequest({ threadId: 1 });
    await client.assertStoppedLocation("step", { path: source, line: 15 });
  },

  async "five steps back"(client) {
    const first = lineOf("mov.u32 %r3, tile");
    await client.hitBreakpoint({ program: tile }, { path: tile, line: first });
    await client.setBreakpointsRequest({ source: { path: tile }, breakpoints: [] });
    const lines = [first];
    for (let count = 0; count < 5; count++) {
      client.nextRequest({ threadId: 1 });
      await client.waitForEvent("stopped");
      lines.push((await client.stackTraceRequest({ threadId: 1 })).body.stackFrames[0].line);
    }
    assert.strictEqual(new Set(lines).size, 6);
    for (const line of lines.reverse().slice(1)) {
      client.stepBackRequest({ threadId: 1 });
      await client.assertStoppedLocation("step", { path: tile, line });
    }
  },

  async "back to a breakpoint"(client) {
    const load = lineOf("ld.shared.f32");
    await client.hitBreakpoint({ program: tile }, { path: tile, line: load });
    await client.setBreakpointsRequest({ source: { path: tile }, breakpoints: [{ line: wait }] });
    client.reverseContinueRequest({ threadId: 1 });
    await client.assertStoppedLocation("breakpoint", { path: tile, line: wait });
  },

  async "registers have types and lanes"(client) {
    await client.hitBreakpoint({ program: tile }, { path: tile, line: lineOf("st.global") });
    const frameId = (await client.stackTraceRequest({ threadId: 1 })).body.stackFrames[0].id;
    const { scopes } = (await client.scopesRequest({ frameId })).body;
    assert.strictEqual(scopes[0].name, "Registers");
    const ask = async (variablesReference) => (await client.variablesRequest({ variablesReference })).body.variables;
    const floats = (await ask(scopes[0].variablesReference)).find((variable) => variable.name === ".f32");
    const [value] = await ask(floats.variablesReference);
    assert.strictEqual((await ask(value.variablesReference)).length, 32);
    const { body } = await client.evaluateRequest({ expression: "%tid.x < 4", frameId, context: "watch" });
    assert.strictEqual(body.result, "true in lanes 0-3, false in lanes 4-31");
  },

  async "shared memory is watched"(client) {
    await client.hitBreakpoint({ program: tile }, { path: tile, line: wait });
    const { body } = await client.send("dataBreakpointInfo", { name: "shared.f32[tile]" });
    await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: body.dataId }] });
    await client.setBreakpointsRequest({ source: { path: tile }, breakpoints: [] });
    client.continueRequest({ threadId: 1 });
    const stop = await client.waitForEvent("stopped");
    assert.strictEqual(stop.body.reason, "data breakpoint");
    assert.match(stop.body.text, /by `cp\.async\.bulk.*asynchronously/);
  },

  async "a launch runs to its end"(client) {
    await Promise.all([
      client.configurationSequence(),
      client.launch({ program: tile }),
      client.assertOutput("console", "the launch has ended, and its outputs are verified\n"),
      client.waitForEvent("terminated"),
    ]);
  },

  async "a bad launch is refused"(client) {
    await client.initializeRequest();
    await assert.rejects(client.launchRequest({ program: tile, args: ["--device", "cuda:0"] }), /P520/);
  },
};

(async () => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    const client = new DebugClient(ptxkit, "dap", "ptxkit");
    client.defaultTimeout = 60000;
    await client.start();
    await scenario(client);
    await client.stop();
    console.log(name);
  }
})().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
