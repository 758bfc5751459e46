// Programs that call a canvas over HTTP, and the lines that embed it in a site.

/** Call is the request of the programs. */
export interface Call {
  /** Origin of the host. */
  host: string;
  canvas: string;
  key: string;
}

const question = "How can I return a parcel?";

// pathOf returns the completion path of the newer dialect, in which release selects the published
// version.
const pathOf = (canvas: string): string => `/0.27/api/v1/agents/${canvas}/completions`;

/** curl sends the request from a shell and waits for the answer. */
export function curl({ host, canvas, key }: Call): string {
  return [
    `curl "${host}${pathOf(canvas)}" \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify({ question, stream: false, release: true })}'`,
  ].join("\n");
}

/** javascript sends the request from Node or a server, and prints the answer as it arrives. */
export function javascript({ host, canvas, key }: Call): string {
  return `const response = await fetch("${host}${pathOf(canvas)}", {
  method: "POST",
  headers: { Authorization: "Bearer ${key}", "Content-Type": "application/json" },
  body: JSON.stringify({ question: "${question}", stream: true, release: true }),
});
if (!response.ok) throw new Error(\`HTTP \${response.status}\`);
let rest = "";
for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + piece).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    if (!line.startsWith("data:") || line.includes("[DONE]")) continue;
    const { event, data } = JSON.parse(line.slice(5));
    if (event === "message") process.stdout.write(data.content ?? "");
  }
}
console.log();
`;
}

/** python sends the request with the standard library and prints the answer. */
export function python({ host, canvas, key }: Call): string {
  return `import json
import urllib.request

request = urllib.request.Request(
    "${host}${pathOf(canvas)}",
    data=json.dumps({"question": "${question}", "stream": False, "release": True}).encode(),
    headers={"Authorization": "Bearer ${key}", "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as response:
    answer = json.load(response)
if answer["code"] != 0:
    raise SystemExit(answer["message"])
print(answer["data"]["data"]["content"])
`;
}

/** Embed holds the options of a chat on a site. */
export interface Embed {
  host: string;
  agent: string;
  token: string;
  color: string;
  side: "left" | "right";
  language: "" | "en" | "zh";
  title: string;
  files: boolean;
}

/**
 * widgetTag returns the line for a site. With `signed` the site fills in the id of the user and its
 * signature.
 */
export function widgetTag(embed: Embed, signed = false): string {
  const { host, agent, token, color, side, language, title, files } = embed;
  const attributes = [
    `src="${host}/widget.js"`,
    `data-agent="${escaped(agent)}"`,
    `data-token="${escaped(token)}"`,
    ...(color ? [`data-color="${escaped(color)}"`] : []),
    ...(side === "left" ? ['data-position="left"'] : []),
    ...(language ? [`data-language="${language}"`] : []),
    ...(title ? [`data-title="${escaped(title)}"`] : []),
    ...(files ? [] : ['data-files="off"']),
    ...(signed ? ['data-user-id="USER_ID"', 'data-user-signature="SIGNATURE"'] : []),
    "defer",
  ];
  return `<script ${attributes.join("\n        ")}></script>`;
}

/**
 * chatAddress returns the address of a page with only the chat. The token is in the fragment, which
 * browsers never send.
 */
export function chatAddress({ host, agent, token, color, language, title, files }: Embed): string {
  const options = new URLSearchParams({
    agent,
    token,
    ...(color ? { color: color.replace("#", "") } : {}),
    ...(language ? { language } : {}),
    ...(title ? { title } : {}),
    ...(files ? {} : { files: "off" }),
  });
  return `${host}/agent/chat#${options}`;
}

/** frameTag shows the chat page inside a page. */
export function frameTag(embed: Embed): string {
  const address = escaped(chatAddress(embed));
  const title = escaped(embed.title || "Chat");
  return `<iframe title="${title}" src="${address}" width="400" height="600" style="border:0"></iframe>`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
