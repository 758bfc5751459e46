// Errors of plugins, and of the host on their behalf, in the form of the contract.

/** Failure is an error as a message. */
export interface Failure {
  code: string;
  message: string;
  retryable: boolean;
  data?: Record<string, unknown>;
}

const passing = ["unavailable", "rate_limited", "upstream"];

/** PluginError has a code of the contract. */
export class PluginError extends Error {
  override readonly name = "PluginError";
  readonly code: string;
  readonly retryable: boolean;
  readonly data?: Record<string, unknown>;

  constructor(code: string, message: string, more: { retryable?: boolean; data?: Record<string, unknown> } = {}) {
    super(message);
    this.code = code;
    this.retryable = more.retryable ?? passing.includes(code);
    if (more.data) this.data = more.data;
  }

  /** failure returns the form this error has in messages. */
  failure(): Failure {
    return { code: this.code, message: this.message, retryable: this.retryable, ...(this.data && { data: this.data }) };
  }
}

/** failureOf converts any exception, with code for those without one. */
export function failureOf(thrown: unknown, code: string): Failure {
  if (thrown instanceof PluginError) return thrown.failure();
  return new PluginError(code, thrown instanceof Error ? thrown.message : String(thrown)).failure();
}

const fromGuest = ["invalid_argument", "not_found", "unauthorized", "rate_limited", "upstream", "internal"];

/** guestError reads the error that a plugin wrote: JSON of the contract, or text. */
export function guestError(raw: Uint8Array, status: number): PluginError {
  const text = new TextDecoder().decode(raw);
  let told: Partial<Failure> | undefined;
  try {
    told = JSON.parse(text) as Partial<Failure>;
  } catch { /* then it is text */ }
  if (typeof told !== "object" || told === null || typeof told.code !== "string" || !told.code) {
    return new PluginError("internal", text || `returned ${status} and no error message`);
  }
  const message = String(told.message ?? "");
  if (!fromGuest.includes(told.code)) return new PluginError("internal", `${told.code}: ${message}`);
  return new PluginError(told.code, message, { retryable: told.retryable === true, data: told.data });
}
