// What the clients of agents in OpenAI's form have in common. The argument is a JSON object with the key and the base
// URLs of agents: {key, echo, failing, asking, nowhere}. Prints {whole, streamed}, each with what the client made of
// every agent: {text, finish, tokens, created} or {error: {status, message}}.
const agents = JSON.parse(process.argv[2]);
const parts = [{ type: "text", text: "one" }, { type: "text", text: "two" }];

// connect gives a function that asks one agent: (options, stream) => (content) => outcome.
export async function ask(connect) {
  const out = {};
  for (const [name, stream] of [["whole", false], ["streamed", true]]) {
    const said = async (baseURL, content, key = agents.key) => {
      try {
        return await connect({ baseURL, key }, stream)(content);
      } catch (error) {
        return { error: { status: error.status ?? error.statusCode ?? 0, message: messageOf(error) } };
      }
    };
    out[name] = {
      echo: await said(agents.echo, "tea?"),
      parts: await said(agents.echo, parts),
      asking: await said(agents.asking, "hi"),
      failing: await said(agents.failing, "hi"),
      nowhere: await said(agents.nowhere, "hi"),
      stranger: await said(agents.echo, "hi", "wrong"),
    };
  }
  console.log(JSON.stringify(out));
  process.exit(0); // without waiting for connections that a client keeps
}

export function problem(message) {
  return Object.assign(new Error(message), { status: -1 });
}

function messageOf(error) {
  return typeof error === "string" ? error : error.message ?? JSON.stringify(error);
}
