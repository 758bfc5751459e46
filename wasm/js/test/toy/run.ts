// One run of the toy: walks the graph in batches and emits events.

import type { Start } from "../../src/protocol.ts";
import { Asker, Canceled } from "./asker.ts";
import { execute, type Result, type Running } from "./nodes.ts";
import { look, show, split, type ToyCanvas, type ToyComponent, type Values } from "./values.ts";

interface Line {
  emit(text: string): void;
  call(text: string, given?: number): number;
  done(text: string): void;
}

class Paused extends Error {}
class Stopped extends Error {}
class Failed extends Error {
  readonly node: string;
  constructor(node: string, message: string) {
    super(message);
    this.node = node;
  }
}

/** ToyRun is one run. */
export class ToyRun implements Running {
  readonly values: Values;
  readonly chunks: Record<string, unknown> = {};
  readonly asker: Asker;
  readonly #canvas: ToyCanvas;
  readonly #start: Start;
  readonly #line: Line;
  readonly #pace: number;
  readonly #id: string;
  readonly #began = Date.now();
  readonly #streams = new Map<string, () => AsyncIterable<string>>();
  #seq = 0;
  #last: unknown = {};

  constructor(id: number, canvas: ToyCanvas, start: Start, pace: number, line: Line) {
    this.#canvas = canvas;
    this.#start = start;
    this.#line = line;
    this.#pace = pace;
    this.#id = String(id).padStart(32, "0");
    this.asker = new Asker((text, given) => line.call(text, given), start.ports);
    this.values = {
      outputs: { ...canvas.kept, ...start.base?.outputs },
      variables: {
        "sys.query": "",
        "sys.user_id": "",
        "sys.conversation_turns": 0,
        "sys.files": [],
        ...canvas.globals,
        ...Object.fromEntries(
          Object.entries(canvas.variables ?? {}).map(([name, v]) => [`env.${name}`, v?.value ?? ""]),
        ),
        ...start.base?.variables,
      },
    };
    if (start.query) this.values.variables["sys.query"] = start.query;
    if (start.files?.length) this.values.variables["sys.files"] = start.files;
  }

  /** go runs to the end and returns the result. */
  async go(): Promise<void> {
    const inputs = this.#start.inputs ?? null;
    try {
      this.emit("workflow_started", { inputs });
      this.assign({ "sys.query": this.values.variables["sys.query"] });
      if (this.#start.debug) await this.#walk([this.#start.debug.node], undefined);
      else await this.#walk(this.#entry(), undefined);
      this.#finish("succeeded", this.#last);
    } catch (err) {
      if (err instanceof Stopped) this.#finish("succeeded", this.#last);
      else if (err instanceof Canceled) this.#finish("canceled", "Task has been canceled");
      else if (err instanceof Paused)
        this.#line.done(JSON.stringify({ status: "paused", waiting: this.#canvas.waiting }));
      else {
        const node = err instanceof Failed ? err.node : undefined;
        this.#line.done(
          JSON.stringify({ status: "failed", error: { code: "run_failed", message: (err as Error).message, node } }),
        );
      }
    }
  }

  cancel(): void {
    this.asker.cancel();
  }

  deliver(call: number, ok: boolean, more: boolean, payload: unknown): void {
    this.asker.deliver(call, ok, more, payload as Record<string, unknown>);
  }

  /** emit sends one event. */
  emit(event: string, data: unknown): void {
    this.#line.emit(
      JSON.stringify({
        event,
        message_id: this.#id,
        task_id: this.#id,
        created_at: Math.floor(this.#now() / 1000),
        seq: ++this.#seq,
        data,
      }),
    );
  }

  /** assign changes variables and emits the changes. */
  assign(values: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(values)) {
      const [node = "", output = ""] = name.split("@", 2);
      if (output) (this.values.outputs[node] ??= {})[output] = value;
      else this.values.variables[name] = value;
    }
    this.emit("variables_changed", { values });
  }

  /** rest waits a little, like a real node. */
  rest(part = 1): Promise<void> {
    return this.asker.wait(this.#pace * part);
  }

  #entry(): string[] {
    const waiting = this.#canvas.waiting;
    this.#canvas.waiting = undefined;
    if (this.#start.from) return [this.#start.from];
    return waiting ?? ["begin"];
  }

  async #walk(entry: string[], parent: string | undefined): Promise<"ended" | "left"> {
    let queue = entry;
    while (queue.length > 0) {
      const waits = queue.filter((id) =>
        queue.some((other) => other !== id && this.#reaches(other, id) && !this.#reaches(id, other)),
      );
      const batch = [...new Set(queue.filter((id) => !waits.includes(id)))];
      queue = waits;
      for (const id of batch) this.#started(id);
      const results = await Promise.all(batch.map((id) => this.#run(id)));
      const forms = batch.filter((_, i) => results[i]?.ask);
      if (forms.length > 0) this.#pause(forms, batch, results, queue);
      for (const [i, id] of batch.entries()) {
        const result = results[i] as Result;
        if (result.body) await this.#body(id, result.body);
        await this.#finished(id, result);
        if (result.exit) return "left";
        const targets = result.next ?? this.#component(id).downstream ?? [];
        queue.push(
          ...targets.filter(
            (target) => this.#component(target).parent_id === parent && !/Item$/.test(this.#kind(target)),
          ),
        );
        if (this.#start.until === id) throw new Stopped();
        if (this.#start.debug) return "ended";
      }
    }
    return "ended";
  }

  async #body(id: string, turns: NonNullable<Result["body"]>): Promise<void> {
    const item = Object.keys(this.#canvas.components).find(
      (child) => this.#component(child).parent_id === id && /Item$/.test(this.#kind(child)),
    );
    if (!item) return;
    for (let turn = 0; ; turn++) {
      const outputs = turns.begin(turn);
      this.#started(item);
      this.values.outputs[item] = { ...outputs };
      await this.rest(0.5);
      await this.#finished(item, { outputs: outputs ?? {}, inputs: {} });
      if (!outputs) return;
      if ((await this.#walk(this.#component(item).downstream ?? [], id)) === "left") return;
      turns.end();
    }
  }

  async #run(id: string): Promise<Result> {
    const pin = this.#start.pins?.[id];
    if (pin) return { inputs: {}, outputs: pin };
    const { obj } = this.#component(id);
    await this.rest();
    try {
      const debug = this.#start.debug;
      const params = debug ? { ...obj.params, ...debug.params } : obj.params;
      const result = await execute(this, id, obj.component_name, params, this.#start, this.#canvas);
      if (result.stream) this.#streams.set(id, result.stream);
      return result;
    } catch (err) {
      if (err instanceof Canceled) throw err;
      return { inputs: {}, outputs: { _ERROR: (err as Error).message }, error: (err as Error).message };
    }
  }

  async #finished(id: string, result: Result): Promise<void> {
    if (!result.stream) this.values.outputs[id] = { ...this.values.outputs[id], ...result.outputs };
    if (result.say !== undefined) await this.#say(id, result);
    // A stream ends with the Message that reads it; without one it is drained here.
    if (result.stream) {
      const read = (this.#component(id).downstream ?? []).some((next) => this.#kind(next) === "Message");
      if (read && !this.#start.debug) return;
      await this.#drain(id, result);
    }
    this.#close(id, result);
    this.#last = result.outputs;
    if (result.error) throw new Failed(id, result.error);
  }

  async #drain(id: string, result: Result): Promise<void> {
    let content = "";
    for await (const piece of (result.stream as () => AsyncIterable<string>)()) content += piece;
    this.#streams.delete(id);
    result.outputs = { content: content.replace(/<think>[^]*?<\/think>/g, "") };
    this.values.outputs[id] = result.outputs;
  }

  async #say(id: string, result: Result): Promise<void> {
    const ended: [string, Result][] = [];
    let content = "";
    const piece = (text: string): void => {
      for (const part of text.split(/(<\/?think>)/)) {
        if (part === "<think>") this.emit("message", { content: "", start_to_think: true });
        else if (part === "</think>") this.emit("message", { content: "", end_to_think: true });
        else if (part) {
          content += part;
          this.emit("message", { content: part });
        }
      }
    };
    for (const part of split(result.say as string)) {
      if (typeof part === "string") { piece(part); continue; }
      const [source = "", output] = part.ref.split("@");
      const stream = output === "content" ? this.#streams.get(source) : undefined;
      if (!stream) { piece(show(look(this.values, part.ref))); continue; }
      let whole = "";
      for await (const delta of stream()) { whole += delta; piece(delta); }
      this.#streams.delete(source);
      const outputs = { content: whole.replace(/<think>[^]*?<\/think>/g, "") };
      this.values.outputs[source] = outputs;
      ended.push([source, { inputs: {}, outputs }]);
    }
    const cited = /\[ID:[\d ]+\]/.test(content) && Object.keys(this.chunks).length > 0;
    this.emit("message_end", cited ? { reference: { chunks: this.chunks, doc_aggs: {} } } : {});
    for (const [source, done] of ended) this.#close(source, done);
    result.outputs = { content };
    this.values.outputs[id] = result.outputs;
  }

  #pause(forms: string[], batch: string[], results: (Result | undefined)[], queue: string[]): never {
    this.#canvas.waiting = [...forms, ...batch.filter((id) => !forms.includes(id)), ...queue];
    this.#canvas.kept = this.values.outputs;
    const asks = results.flatMap((result) => (result?.ask ? [result.ask] : []));
    this.emit("user_inputs", {
      inputs: Object.assign({}, ...asks.map((ask) => ask.inputs)),
      tips: asks.at(-1)?.tips ?? "",
    });
    throw new Paused();
  }

  #finish(status: string, outputs: unknown): void {
    this.#canvas.kept = {};
    const elapsed = (this.#now() - this.#began) / 1000;
    this.emit("workflow_finished", {
      inputs: this.#start.inputs ?? null,
      outputs,
      elapsed_time: elapsed,
      created_at: this.#began / 1000,
      usage: this.asker.usage,
    });
    this.#line.done(JSON.stringify({ status, outputs, usage: this.asker.usage }));
  }

  #started(id: string): void {
    this.#times.set(id, this.#now());
    this.emit("node_started", {
      inputs: null,
      created_at: Math.floor(this.#now() / 1000),
      ...this.#ref(id),
      thoughts: "",
    });
  }

  #close(id: string, result: Result): void {
    const elapsed = (this.#now() - (this.#times.get(id) ?? this.#now())) / 1000;
    this.emit("node_finished", {
      inputs: result.inputs,
      outputs: { ...result.outputs, _elapsed_time: elapsed },
      ...this.#ref(id),
      error: result.error ?? null,
      elapsed_time: elapsed,
      created_at: this.#now() / 1000,
    });
  }

  readonly #times = new Map<string, number>();

  #now(): number {
    return this.#start.now ?? Date.now();
  }

  #ref(id: string): Record<string, string> {
    const node = this.#canvas.graph?.nodes?.find((each) => each.id === id);
    return { component_id: id, component_name: node?.data?.name ?? "", component_type: this.#kind(id) };
  }

  #component(id: string): ToyComponent {
    const component = this.#canvas.components[id];
    if (!component) throw new Failed(id, `no node ${id}`);
    return component;
  }

  #kind(id: string): string {
    return this.#canvas.components[id]?.obj.component_name ?? "";
  }

  #reaches(from: string, to: string, seen = new Set<string>()): boolean {
    if (seen.has(from)) return false;
    seen.add(from);
    return (this.#canvas.components[from]?.downstream ?? []).some(
      (next) => next === to || this.#reaches(next, to, seen),
    );
  }
}
