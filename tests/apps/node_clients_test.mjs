// OpenAI's Node client and the Vercel AI SDK against a running server: node_clients_test.mjs URL MODEL.
// Run from a folder whose node_modules has openai, ai and @ai-sdk/openai-compatible.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.cwd() + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const [url, model] = process.argv.slice(2);
const { default: OpenAI } = await load("openai");
const { embedMany, generateText, streamText } = await load("ai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");

const client = new OpenAI({ baseURL: url + "/v1", apiKey: "unused", maxRetries: 0, timeout: 60_000 });
const messages = [{ role: "user", content: "Name the capital of France." }];
const ask = (fields = {}) => client.chat.completions.create({ model, messages, temperature: 0, max_tokens: 6, ...fields });
const refused = async (kind, call) => {
  try {
    await call();
  } catch (e) {
    assert.ok(e instanceof kind, `${e}`);
    return e;
  }
  assert.fail(`no ${kind.name}`);
};
// The sum of some series of all models.
const sum = async (...names) =>
  (await (await fetch(url + "/metrics")).text()).split("\n").filter((line) => names.includes(line.split("{")[0]))
    .reduce((all, line) => all + Number(line.slice(line.lastIndexOf(" "))), 0);
const tokens = () => sum("infer_model_tokens_total");
const computes = async () => (await sum("infer_model_leases", "infer_model_waiters", "infer_model_streams")) > 0 ||
  (await (await fetch(url + "/slots")).json()).some((slot) => slot.is_processing);
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
// `leave` asks for `most` tokens and goes away early: the server comes to rest without having made them.
const stopsComputingAfter = async (leave, most) => {
  const before = await tokens();
  await leave();
  for (let tries = 0; await computes(); ++tries) {
    assert.ok(tries < 2000, "a slot computes for a client that has left");
    await pause(10);
  }
  const made = (await tokens()) - before;
  await pause(200);
  assert.equal((await tokens()) - before, made, "tokens are made at rest");
  assert.ok(made < most, `all ${made} tokens were made for a client that has left`);
};
const untilItComputes = async () => {
  const before = await tokens();
  while ((await tokens()) === before) await pause(5);
};
const long = { max_tokens: 400, ignore_eos: true };
const story = [{ role: "user", content: "Tell a story." }];

const provider = createOpenAICompatible({ name: "ours", baseURL: url + "/v1", apiKey: "unused", includeUsage: true });
const vercel = { model: provider(model), temperature: 0, maxOutputTokens: 6, maxRetries: 0 };

const cases = {
  async "openai: a chat answers"() {
    const made = await ask();
    assert.match(made.choices[0].message.content, /Paris/);
    assert.equal(made.usage.total_tokens, made.usage.prompt_tokens + made.usage.completion_tokens);
    assert.equal(made.choices[0].message.refusal, null);
  },
  async "openai: a stream has the same text, its finish reason and usage"() {
    const whole = await ask();
    let text = "", finish = null, usage = null;
    for await (const chunk of await ask({ stream: true, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.delta.content ?? "";
      finish ??= chunk.choices[0]?.finish_reason ?? null;
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, whole.choices[0].message.content);
    assert.equal(finish, whole.choices[0].finish_reason);
    assert.deepEqual(usage, whole.usage);
  },
  async "openai: the streaming helper is content"() {
    const final = await client.chat.completions.stream({ model, messages, temperature: 0, max_tokens: 6, n: 2 }).finalChatCompletion();
    assert.equal(final.choices.length, 2);
    assert.ok(final.choices.every((c) => c.finish_reason));
  },
  async "openai: several choices, a seed, a stop"() {
    const two = () => ask({ messages: story, n: 2, seed: 3, temperature: 1 });
    const texts = (await two()).choices.map((c) => c.message.content);
    assert.notEqual(texts[0], texts[1]);
    assert.deepEqual((await two()).choices.map((c) => c.message.content), texts);
    const text = (await ask()).choices[0].message.content;
    const stop = text.slice(text.length / 2, text.length / 2 + 3);
    assert.equal((await ask({ stop: [stop] })).choices[0].message.content, text.slice(0, text.indexOf(stop)));
  },
  async "openai: logprobs"() {
    const choice = (await ask({ logprobs: true, top_logprobs: 2 })).choices[0];
    assert.equal(choice.logprobs.content.map((r) => r.token).join(""), choice.message.content);
    assert.ok(choice.logprobs.content.every((r) => r.top_logprobs.length === 2));
  },
  async "openai: embeddings"() {
    const made = await client.embeddings.create({ model, input: ["A cat sat on the mat.", "Interest rates rose."] });
    assert.equal(made.data.length, 2);
    assert.equal(made.data[0].embedding.length, 576);
    const numbers = await client.embeddings.create({ model, input: "A cat sat on the mat.", encoding_format: "float" });
    numbers.data[0].embedding.forEach((x, i) => assert.ok(Math.abs(x - made.data[0].embedding[i]) < 1e-6));
  },
  async "openai: completions"() {
    const made = await client.completions.create({ model, prompt: ["One,", "The capital of France is"], max_tokens: 4, temperature: 0 });
    assert.match(made.choices[1].text, /Paris/);
  },
  async "openai: errors have their classes"() {
    assert.equal((await refused(OpenAI.NotFoundError, () => ask({ model: "nothing" }))).code, "model_not_found");
    assert.equal((await refused(OpenAI.BadRequestError, () => ask({ temperature: 3 }))).param, "temperature");
    assert.equal((await refused(OpenAI.NotFoundError, () => client.get("/nothing"))).code, "unknown_url");
  },
  async "openai: a stream can be aborted"() {
    await stopsComputingAfter(async () => {
      const stream = await ask({ messages: story, stream: true, ...long });
      for await (const chunk of stream) {
        if (chunk.choices[0]?.delta.content) break;
      }
      stream.controller.abort();
    }, 400);
    assert.ok((await ask({ max_tokens: 1 })).choices.length);
  },
  async "openai: an answer can be aborted"() {
    await stopsComputingAfter(async () => {
      const abort = new AbortController();
      const asked = client.chat.completions.create({ model, messages: story, ...long }, { signal: abort.signal });
      const ended = refused(OpenAI.APIUserAbortError, () => asked);
      await untilItComputes();
      abort.abort();
      await ended;
    }, 400);
  },
  async "vercel: text and usage"() {
    const made = await generateText({ ...vercel, prompt: "Name the capital of France." });
    assert.match(made.text, /Paris/);
    assert.ok(made.usage.outputTokens > 0);
    assert.ok(["stop", "length"].includes(made.finishReason));
  },
  async "vercel: a stream"() {
    const whole = await generateText({ ...vercel, prompt: "Name the capital of France." });
    const stream = streamText({ ...vercel, prompt: "Name the capital of France." });
    let text = "";
    for await (const piece of stream.textStream) text += piece;
    assert.equal(text, whole.text);
    assert.equal(await stream.finishReason, whole.finishReason);
    assert.equal((await stream.usage).outputTokens, whole.usage.outputTokens);
  },
  async "vercel: a stop and a seed"() {
    const { text } = await generateText({ ...vercel, prompt: "Name the capital of France." });
    const stop = text.slice(text.length / 2, text.length / 2 + 3);
    const cut = await generateText({ ...vercel, prompt: "Name the capital of France.", stopSequences: [stop] });
    assert.equal(cut.text, text.slice(0, text.indexOf(stop)));
    const seeded = () => generateText({ ...vercel, prompt: "Tell a story.", seed: 4, temperature: 1 });
    assert.equal((await seeded()).text, (await seeded()).text);
  },
  async "vercel: an abort"() {
    await stopsComputingAfter(async () => {
      const abort = new AbortController();
      const stream = streamText({ ...vercel, prompt: "Tell a story.", maxOutputTokens: 400, abortSignal: abort.signal,
        providerOptions: { ours: { ignore_eos: true } }, onError() {} });
      for await (const piece of stream.textStream) {
        if (piece) break;
      }
      abort.abort();
    }, 400);
    await stopsComputingAfter(async () => {
      const abort = new AbortController();
      const asked = generateText({ ...vercel, prompt: "Tell a story.", maxOutputTokens: 400, abortSignal: abort.signal,
        providerOptions: { ours: { ignore_eos: true } } });
      const ended = refused(Error, () => asked);
      await untilItComputes();
      abort.abort();
      assert.equal((await ended).name, "AbortError");
    }, 400);
    assert.ok((await ask({ max_tokens: 1 })).choices.length);
  },
  async "vercel: fields of the provider"() {
    const { response, text } = await generateText({ ...vercel, prompt: "Tell a story.", temperature: 1, seed: 3,
      providerOptions: { ours: { n: 2, logprobs: true, top_logprobs: 2 } } });
    const [first, second] = response.body.choices;
    assert.equal(first.message.content, text);
    assert.notEqual(second.message.content, text);
    assert.equal(first.logprobs.content.map((row) => row.token).join(""), text);
    assert.ok(first.logprobs.content.every((row) => row.top_logprobs.length === 2));
  },
  async "vercel: embeddings"() {
    const of = provider.textEmbeddingModel ?? provider.embeddingModel;
    const made = await embedMany({ model: of.call(provider, model), values: ["one", "two"], maxRetries: 0 });
    assert.equal(made.embeddings.length, 2);
    assert.equal(made.embeddings[0].length, 576);
  },
  async "vercel: an error keeps its status"() {
    const e = await refused(Error, () => generateText({ ...vercel, model: provider("nothing"), prompt: "x" }));
    assert.equal(e.statusCode, 404);
  },
};

let failed = 0;
for (const [name, run] of Object.entries(cases)) {
  try {
    await run();
    console.log(`ok      ${name}`);
  } catch (e) {
    failed += 1;
    console.log(`FAILED  ${name}: ${e.stack}`);
  }
}
console.log(`${Object.keys(cases).length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
