// Queries agents and the host's models with OpenAI's own client. Arguments: base URL of the client,
// key, model, question, and a session. Prints the results as one JSON object.
import OpenAI from "openai";

const [, , baseURL, apiKey, model, question, session] = process.argv;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0, timeout: 60_000 });
const ask = { model, messages: [{ role: "system", content: "Be brief." }, { role: "user", content: question }] };
if (session) ask.session_id = session;

const whole = await client.chat.completions.create(ask);
const parts = [];
let streamID;
for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
  streamID ??= chunk.id;
  if (chunk.id !== streamID) throw new Error(`the id changed from ${streamID} to ${chunk.id}`);
  parts.push(chunk.choices[0]?.delta?.content ?? "");
}
let refusal;
try {
  await client.chat.completions.create({ ...ask, messages: [] });
} catch (error) {
  refusal = { status: error.status ?? null, name: error.constructor.name, message: error.message };
}
let unauthorized;
try {
  await new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).chat.completions.create(ask);
} catch (error) {
  unauthorized = { status: error.status ?? null, name: error.constructor.name };
}
console.log(JSON.stringify({
  whole: whole.choices?.[0]?.message?.content, usage: whole.usage?.total_tokens ?? 0, id: whole.id,
    finish: whole.choices?.[0]?.finish_reason,
  streamed: parts.join(""), pieces: parts.length, streamID, refusal: refusal ?? null,
    unauthorized: unauthorized ?? null,
}));
