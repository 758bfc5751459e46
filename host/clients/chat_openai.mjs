// Queries agents with OpenAI's own client. See chat.mjs for arguments and output.
import OpenAI from "openai";
import { ask, problem } from "./chat.mjs";

await ask(({ baseURL, key }, stream) => {
  const client = new OpenAI({ baseURL, apiKey: key });
  const request = (content) => ({ model: "m", messages: [{ role: "user", content }] });
  if (!stream) {
    return async (content) => {
      const { choices: [choice], usage, created } = await client.chat.completions.create(request(content));
      return { text: choice.message.content, finish: choice.finish_reason, tokens: usage.total_tokens, created };
    };
  }
  return async (content) => {
    const runner = client.beta.chat.completions.stream({ ...request(content),
      stream_options: { include_usage: true } });
    let streamed = "";
    runner.on("content", (delta) => (streamed += delta));
    const { choices: [choice], usage, created } = await runner.finalChatCompletion();
    if (streamed !== choice.message.content) throw problem(`streamed ${streamed}, then ${choice.message.content}`);
    return { text: streamed, finish: choice.finish_reason, tokens: usage.total_tokens, created };
  };
});
