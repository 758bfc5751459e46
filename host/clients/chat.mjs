// Common part of the clients of agents in OpenAI's format. The argument is a JSON object with the
// key and the base URLs of agents: {key, echo, failing, asking, nowhere}. Prints {whole, streamed},
// each with the client's result per agent: {text, finish, tokens, created} or {error: {status,
// message}}.
const agents = JSON.parse(process.argv[2]);
const parts = [{ type: "text", text: "one" }, { type: "text", text: "two" }];

// ask takes a function that connects to one agent: (options, stream) => (content) => outcome.
export async function ask(connect) {
  const out = {};
  for (const [name, stream] of [["whole", false], ["streamed", true]]) {
    const query = async (baseURL, content, key = agents.key) => {
      try {
        return await connect({ baseURL, key }, stream)(content);
      } catch (error) {
        return { error: { status: error.status ?? error.statusCode ?? 0, message: messageOf(error) } };
      }
    };
    out[name] = {
      echo: await query(agents.echo, "tea?"),
      parts: await query(agents.echo, parts),
      asking: await query(agents.asking, "hi"),
      failing: await query(agents.failing, "hi"),
      nowhere: await query(agents.nowhere, "hi"),
      unauthorized: await query(agents.echo, "hi", "wrong"),
    };
  }
  console.log(JSON.stringify(out));
  process.exit(0); // without waiting for keep-alive connections
}

export function problem(message) {
  return Object.assign(new Error(message), { status: -1 });
}

function messageOf(error) {
  return typeof error === "string" ? error : error.message ?? JSON.stringify(error);
}
