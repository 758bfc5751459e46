// Speech of a chat: questions are written down and answers spoken by the models of the host that
// serves the page.

import type { Host } from "./host.ts";

/** longestRecording bounds a recording, in milliseconds: the host takes 10 MiB. */
export const longestRecording = 5 * 60_000;

const mostSpoken = 600; // characters of a request, so that the first words are spoken soon

/** Why nothing was recorded. */
export type MicrophoneFault = "refused" | "missing" | "busy" | "insecure" | "failed";

/** faultOf reads the reason why a browser refuses the microphone. */
export function faultOf(err: unknown): MicrophoneFault {
  switch (err instanceof Error ? err.name : "") {
    case "NotAllowedError":
    case "SecurityError":
      return "refused";
    case "NotFoundError":
    case "OverconstrainedError":
      return "missing";
    case "NotReadableError":
    case "AbortError":
      return "busy";
  }
  return "failed";
}

/** passages cuts a text where sentences end, so that no part is longer than `most` characters. */
export function passages(text: string, most = mostSpoken): string[] {
  const out: string[] = [];
  const add = (part: string): void => {
    const last = out.at(-1);
    if (last !== undefined && last.length + part.length <= most) out[out.length - 1] = last + part;
    else out.push(part);
  };
  for (const sentence of text.split(/(?<=[.!?]["')\]]?\s|[。！？\n])/)) {
    const letters = [...sentence];
    if (sentence.length <= most) add(sentence);
    else for (let at = 0; at < letters.length; at += most / 2) add(letters.slice(at, at + most / 2).join(""));
  }
  return out.map((part) => part.trim()).filter((part) => /[\p{L}\p{N}]/u.test(part));
}

/** transcribe returns what was said in a recording. */
export async function transcribe(host: Pick<Host, "ask">, recording: Blob, signal?: AbortSignal): Promise<string> {
  const form = new FormData();
  form.append("file", recording, "recording");
  const answer = await host.ask("POST", "/api/v2/models/transcription", form, signal ? { signal } : {});
  return ((await answer.json()) as { text: string }).text;
}

/** Play plays a sound to its end, or until the signal. */
export type Play = (sound: ArrayBuffer, signal: AbortSignal) => Promise<void>;

/** speak speaks a text; the next passage is fetched while one is played. */
export async function speak(host: Pick<Host, "ask">, text: string, play: Play, signal: AbortSignal): Promise<void> {
  const fetched = async (part: string | undefined): Promise<ArrayBuffer | undefined> => {
    if (part === undefined) return undefined;
    const answer = await host.ask("POST", "/api/v2/models/speech", { text: part }, { signal });
    return answer.arrayBuffer();
  };
  const parts = passages(text);
  let next = fetched(parts[0]);
  for (let i = 0; i < parts.length; i++) {
    const sound = await next;
    next = fetched(parts[i + 1]);
    next.catch(() => undefined); // met again at the next turn, unless the playing fails first
    if (sound) await play(sound, signal);
    signal.throwIfAborted();
  }
}
