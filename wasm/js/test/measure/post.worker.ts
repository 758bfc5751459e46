// Sends the same bytes as the engine, in batches of the same size, by postMessage and
// nothing else.

const batch = 64 << 10; // the batch size of the module

onmessage = ({ data: { count, line } }: MessageEvent<{ count: number; line: string }>) => {
  const each = Math.max(1, Math.floor(batch / line.length));
  for (let sent = 0; sent < count; sent += each)
    postMessage(Array.from({ length: Math.min(each, count - sent) }, () => line).join("\n"));
};
