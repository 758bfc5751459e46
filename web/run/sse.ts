// Server-sent events of the host, read from a response: an EventSource cannot carry a key.

/** ServerEvent is one event of a stream. */
export interface ServerEvent {
  id: string;
  name: string;
  data: string;
}

/** serverEvents returns the events of a response as they arrive; comments are left out. */
export async function* serverEvents(response: Response): AsyncGenerator<ServerEvent> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const frames = (rest + part.value).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        const event = parse(frame);
        if (event) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined); // the stream may have failed already
  }
}

function parse(frame: string): ServerEvent | undefined {
  const event: ServerEvent = { id: "", name: "message", data: "" };
  const data: string[] = [];
  for (const line of frame.split("\n")) {
    const cut = line.indexOf(":");
    if (cut <= 0) continue;
    const value = line.slice(cut + 1).replace(/^ /, "");
    const field = line.slice(0, cut);
    if (field === "data") data.push(value);
    else if (field === "event") event.name = value;
    else if (field === "id") event.id = value;
  }
  return data.length === 0 ? undefined : { ...event, data: data.join("\n") };
}
