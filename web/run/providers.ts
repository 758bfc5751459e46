// The models a person can choose between. Keys live in this object and nowhere else.

import { EngineError, type Model } from "@easel/engine";
import { openai } from "@easel/engine/model/openai";
import { proxy } from "@easel/engine/model/proxy";
import { blank, record, replay, type Cassette } from "@easel/engine/model/record";
import { scripted, type ScriptedReply } from "@easel/engine/model/scripted";

/** ProviderKind is a source of answers. */
export type ProviderKind = "offline" | "scripted" | "openai" | "host" | "replay";

/** ProviderChoice is the setting of the person. */
export interface ProviderChoice {
  kind: ProviderKind;
  url: string;
  key: string;
  model: string;
  /** The model supports function calls. */
  tools: boolean;
  /** Replies, one per line or as JSON. */
  script: string;
  /** Stand-ins answer for tools that a page cannot reach. */
  standIns: boolean;
}

/** firstChoice works without keys and servers. */
export const firstChoice: ProviderChoice = {
  kind: "offline", url: "http://localhost:11434/v1", key: "", model: "", tools: false,
  script: "A prepared answer.\nAnother one.", standIns: true,
};

const testTime = 60_000; // milliseconds
const longestAnswer = 200; // characters

/** Providers makes models and records their answers. */
export class Providers {
  readonly #tape: Cassette = blank();
  readonly #host: typeof fetch;

  /**
   * `host` sends requests to the models of the host that serves the page, under the person's login
   * or key.
   */
  constructor(host: typeof fetch) {
    this.#host = host;
  }

  /** recorded counts the answers that can be played again. */
  get recorded(): number {
    return this.#tape.takes.length;
  }

  /**
   * test requests a word from the model with a name, as a run with the choice would, and returns
   * the answer without recording it. It throws an EngineError.
   */
  async test(choice: ProviderChoice, name: string): Promise<string> {
    const model = this.#asked(choice);
    const messages = [{ role: "user", content: "Answer with the word: Hello" }];
    const pieces = await model.chat({ model: name, mode: "chat", messages }, { signal: AbortSignal.timeout(testTime) });
    let text = "";
    for await (const piece of pieces) text += piece.text ?? "";
    if (text.trim() === "") throw new EngineError("provider", "the model answered with an empty text");
    return text.trim().slice(0, longestAnswer);
  }

  /** model returns the model of a choice; undefined means the engine's offline model. */
  model(choice: ProviderChoice): Model | undefined {
    switch (choice.kind) {
      case "offline": return undefined;
      case "scripted": return scripted(repliesOf(choice.script), { delay: 15, fallback: { text: "…" } });
      case "openai":
      case "host": return record(this.#asked(choice), this.#tape);
      case "replay": return replay(this.#tape);
    }
  }

  // asked returns the model behind a server.
  #asked({ kind, url, key, model, tools }: ProviderChoice): Model {
    const options = { model: model || undefined, can: { tools } };
    return kind === "host"
      ? proxy({ ...options, fetch: this.#host })
      : openai({ ...options, url, key: key || undefined });
  }
}

/** repliesOf reads a script: a JSON list of replies, or one answer per line. */
export function repliesOf(script: string): ScriptedReply[] {
  if (script.trimStart().startsWith("[")) {
    try {
      const parsed: unknown = JSON.parse(script);
      if (Array.isArray(parsed))
        return parsed.map((each) => (typeof each === "string" ? { text: each } : (each as ScriptedReply)));
    } catch { /* then it is meant as lines */ }
  }
  const lines = script.split("\n").filter((line) => line.trim() !== "");
  return lines.map((text) => ({ text: text.replaceAll("\\n", "\n") }));
}
