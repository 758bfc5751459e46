// The kernel's side of a line to its owner: receives calls, passes on emissions and requests of the
// plugin, and sends the results.

import type { Failure } from "../error.ts";
import { Kernel, type Sharing } from "./kernel.ts";
import type { Done, Setting, Work, World } from "./guest.ts";
import { bestWay, type Way } from "./wait.ts";

/** ToKernel is a message to the kernel. */
export type ToKernel =
  | { t: "init"; setting: Setting; way?: Way }
  | { t: "call"; work: Work; sharing: Sharing }
  | { t: "told"; n: number; answer: Uint8Array | null }
  | { t: "cancel" }
  | { t: "forget"; run: string };

/** FromKernel is a message of the kernel. */
export type FromKernel =
  | { t: "begun" } // the call; before, its Worker may have had to start
  | { t: "emit"; n: number; kind: number; data: Uint8Array }
  | { t: "ask"; n: number; op: "call" | "http"; data: Uint8Array }
  | { t: "done"; done: Outcome }
  | { t: "broken"; message: string };

/** Outcome is the result of a call as a message. */
export type Outcome = Omit<Done, "error"> & {
  error?: Failure;
  /** Descriptions of the files that the call stored. */
  files?: Record<string, unknown>[];
};

/** KernelPort is the kernel's side of the line. */
export interface KernelPort {
  post(message: FromKernel): void;
  listen(receive: (message: ToKernel) => void): void;
}

// The number of pieces, milliseconds and bytes after which the plugin waits until its owner
// has received them. Waiting costs a whole replay where the stack cannot be suspended.
const pace = { suspend: { pieces: 8, time: 16 }, replay: { pieces: 64, time: 100 } };
const paceBytes = 1 << 20;

/** serve runs calls that come through a port. */
export function serve(port: KernelPort): void {
  let kernel: Kernel;
  let world: Line | undefined;
  let way: Way = "suspend";
  port.listen((message) => {
    switch (message.t) {
      case "init":
        way = message.way ?? bestWay();
        kernel = new Kernel(message.setting, way);
        break;
      case "call":
        world = new Line(port, way);
        port.post({ t: "begun" });
        kernel.call(message.work, message.sharing, world).then(
          ({ error, ...done }) => port.post({ t: "done", done: error ? { ...done, error: error.failure() } : done }),
          (err: unknown) => port.post({ t: "broken", message: String(err) }),
        );
        break;
      case "told": world?.told(message.n, message.answer); break;
      case "cancel": world?.cancel(); break;
      case "forget": kernel.forget(message.run); break;
    }
  });
}

/** Line is the world of one call: everything is sent to the owner. */
class Line implements World {
  readonly #port: KernelPort;
  readonly #pace: { pieces: number; time: number };
  readonly #open = new Map<number, (answer: Uint8Array | null) => void>();
  #last = 0;
  #emitted = 0; // pieces that the owner has not taken
  #bytes = 0; // since the plugin last waited
  #waited = performance.now();
  #drained: (() => void) | undefined;
  #cancelled = false;
  #wake: (() => void)[] = [];

  constructor(port: KernelPort, way: Way) {
    this.#port = port;
    this.#pace = pace[way];
  }

  emit(kind: number, data: Uint8Array): boolean | Promise<boolean> {
    const n = ++this.#last;
    this.#emitted++;
    this.#bytes += data.length;
    this.#open.set(n, (answer) => {
      if (answer === null) this.#cancelled = true;
      if (--this.#emitted === 0) this.#drained?.();
    });
    this.#port.post({ t: "emit", n, kind, data });
    const few = this.#emitted < this.#pace.pieces && this.#bytes < paceBytes;
    if (few && performance.now() - this.#waited < this.#pace.time) return false;
    return new Promise<void>((resolve) => { this.#drained = resolve; }).then(() => {
      this.#waited = performance.now();
      this.#bytes = 0;
      return this.#cancelled;
    });
  }

  ask(op: "call" | "http", data: Uint8Array): Promise<Uint8Array | null> {
    const n = ++this.#last;
    return new Promise((resolve) => {
      this.#open.set(n, (answer) => {
        this.#waited = performance.now();
        resolve(this.#cancelled ? null : answer);
      });
      this.#port.post({ t: "ask", n, op, data });
    });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake.push(() => { clearTimeout(timer); resolve(); });
    });
  }

  cancelled(): boolean {
    return this.#cancelled;
  }

  told(n: number, answer: Uint8Array | null): void {
    const take = this.#open.get(n);
    this.#open.delete(n);
    take?.(answer);
  }

  cancel(): void {
    this.#cancelled = true;
    for (const wake of this.#wake.splice(0)) wake();
    for (const take of [...this.#open.values()]) take(null);
    this.#open.clear();
  }
}
