// Queries agents with the AI SDK. See chat.mjs for arguments and output.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import { ask } from "./chat.mjs";

await ask(({ baseURL, key }, stream) => {
  const model = createOpenAICompatible({ name: "easel", baseURL, apiKey: key, includeUsage: true })("m");
  const request = (content) => ({ model, messages: [{ role: "user", content }] });
  if (!stream) {
    return async (content) => {
      const { text, finishReason, usage, response } = await generateText(request(content));
      return { text, finish: finishReason, tokens: usage.totalTokens, created: seconds(response.timestamp) };
    };
  }
  return async (content) => {
    let failure;
    const result = streamText({ ...request(content), onError: ({ error }) => (failure = error) });
    let text = "";
    for await (const delta of result.textStream) text += delta;
    if (failure) throw failure;
    const [finish, usage, response] = await Promise.all([result.finishReason, result.usage, result.response]);
    return { text, finish, tokens: usage.totalTokens, created: seconds(response.timestamp) };
  };
});

function seconds(date) {
  return Math.floor(date.getTime() / 1000);
}
