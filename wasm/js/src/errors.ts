// One error class for all failures outside of nodes. Codes are stable,
// messages are for people. A failure inside a canvas is not an exception: it is an
// event and the status of the run's result.

import type { Code } from "./generated.ts";
import type { Failure } from "./protocol.ts";

/**
 * EngineError describes a failure. Its code is a {@link Code}, or one of the plugin contract when a
 * plugin failed.
 */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: string;
  /** Canvas node, when one is known. */
  readonly node?: string;
  /** A retry may succeed. */
  readonly retry: boolean;

  constructor(code: Code, message: string, more: { node?: string; retry?: boolean; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    if (more.node !== undefined) this.node = more.node;
    this.retry = more.retry ?? false;
  }

  /** from converts any exception to an EngineError; an EngineError keeps its code. */
  static from(thrown: unknown, code: Code, prefix = ""): EngineError {
    if (thrown instanceof EngineError) return thrown;
    // Each entry of the package is bundled separately and may contain its own copy of this class.
    if (thrown instanceof Error && thrown.name === "EngineError" && "code" in thrown) {
      const { code: own, retry, node } = thrown as EngineError;
      return new EngineError(own as Code, prefix + thrown.message, { retry, node, cause: thrown });
    }
    return new EngineError(code, prefix + messageOf(thrown), { cause: thrown });
  }

  /** ofFailure converts a response that is not ok to an EngineError. */
  static ofFailure(failure: Failure): EngineError {
    return new EngineError(failure.code as Code, failure.message, { node: failure.node, retry: failure.retry });
  }

  /** failure returns the form this error has on the wire. */
  failure(): Failure {
    const out: Failure = { code: this.code, message: this.message };
    if (this.node !== undefined) out.node = this.node;
    if (this.retry) out.retry = true;
    return out;
  }
}

/** messageOf returns the message of any exception. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown === "string") return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return String(thrown);
  }
}
