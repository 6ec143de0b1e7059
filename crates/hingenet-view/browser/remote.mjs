// The engine that asks a server: which questions are sent, in which order, and what becomes of the others.
// Usage: node remote.mjs REMOTE.js ; an assertion that fails ends it with exit code 1.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const { remoteEngine } = await import(pathToFileURL(process.argv[2]).href);

/** Requests that wait for an answer. */
const sent = [];
globalThis.fetch = (url, request) => new Promise((resolve, reject) => {
  assert.equal(url, "/ask");
  assert.equal(request.method, "POST");
  assert.deepEqual(request.headers, { "Content-Type": "application/json", Authorization: "Bearer secret" });
  sent.push({ question: JSON.parse(request.body), resolve, reject });
});
const turn = () => new Promise((resolve) => setTimeout(resolve));
async function answer(reply, status = 200) {
  const { question, resolve } = sent.shift();
  resolve(new Response(typeof reply === "string" ? reply : JSON.stringify(reply), { status }));
  await turn();
  return question;
}
const known = (state) => [{ column: 1, states: [state] }];

const engine = remoteEngine({ token: "secret" });
// one at a time; of the beliefs that wait only the newest, before the classes; nobody is left without an answer
const first = engine.beliefs(known(1), 0);
const classes = [engine.classes([known(1)]), engine.classes([known(2), known(3)])];
const older = engine.beliefs(known(2), 0);
const newest = engine.beliefs(known(3), 0);
assert.equal(sent.length, 1);
assert.deepEqual(await answer({ classes: [1] }), { beliefs: { known: known(1), about: 0 } });
assert.equal(sent.length, 1);
assert.deepEqual(await answer({ classes: [3] }), { beliefs: { known: known(3), about: 0 } });
assert.deepEqual(await answer([4]), { classes: { sets: [known(1)] } });
assert.deepEqual(await answer([5, 6]), { classes: { sets: [known(2), known(3)] } });
assert.deepEqual(await Promise.all([first, older, newest]), [{ classes: [1] }, { classes: [3] }, { classes: [3] }]);
assert.deepEqual(await Promise.all(classes), [[4], [5, 6]]);
assert.equal(sent.length, 0);

// an error of the program, of the server and of the line; the next question is asked all the same
for (const [say, text] of [
  [() => answer({ error: "what is given is impossible in this model" }), "what is given is impossible in this model"],
  [() => answer("the token is missing", 401), "the token is missing"],
  [async () => sent.shift().reject(new TypeError("Failed to fetch")), "the program behind this page has ended; start it again"],
]) {
  const failing = assert.rejects(engine.beliefs([], 0), { name: "Error", message: text });
  await say();
  await failing;
}
const last = engine.classes([]);
await answer([]);
assert.deepEqual(await last, []);
console.log("the engine that asks a server keeps its rules");
