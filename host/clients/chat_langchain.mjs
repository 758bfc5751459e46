// Queries agents with LangChain. See chat.mjs for arguments and output.
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { ask } from "./chat.mjs";

await ask(({ baseURL, key }, stream) => {
  const model = new ChatOpenAI({ model: "m", apiKey: key, configuration: { baseURL } });
  const outcome = ({ content, response_metadata, usage_metadata }) => ({
    text: content, finish: response_metadata.finish_reason, tokens: usage_metadata?.total_tokens,
  });
  const messages = (content) => [new HumanMessage({ content })];
  if (!stream) return async (content) => outcome(await model.invoke(messages(content)));
  return async (content) => {
    let all;
    for await (const chunk of await model.stream(messages(content))) all = all ? all.concat(chunk) : chunk;
    return outcome(all);
  };
});
