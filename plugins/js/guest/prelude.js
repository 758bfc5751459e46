// What a plugin in JavaScript sees of the host: the Call that its function gets, console, and base64.
globalThis.easel = ((host) => {
  "use strict";
  delete globalThis.host;

  class PluginError extends Error {
    constructor(code, message, data) {
      super(message);
      this.name = "PluginError";
      this.code = code;
      this.retryable = code === "rate_limited" || code === "upstream";
      if (data !== undefined) this.data = data;
    }
  }
  globalThis.PluginError = PluginError;

  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  globalThis.toBase64 = (bytes) => {
    let out = "";
    for (let i = 0; i < bytes.length; i += 3) {
      const n = bytes[i] << 16 | (bytes[i + 1] ?? 0) << 8 | (bytes[i + 2] ?? 0);
      const four = digits[n >> 18] + digits[n >> 12 & 63] + digits[n >> 6 & 63] + digits[n & 63];
      out += i + 2 < bytes.length ? four : four.slice(0, bytes.length - i + 1) + "=".repeat(i + 3 - bytes.length);
    }
    return out;
  };
  globalThis.fromBase64 = (text) => {
    const out = [];
    let bits = 0, have = 0;
    for (const c of text) {
      const digit = digits.indexOf(c);
      if (digit < 0) continue;
      bits = (bits << 6 | digit) & 0xffffff;
      if ((have += 6) >= 8) out.push(bits >> (have -= 8) & 255);
    }
    return Uint8Array.from(out);
  };

  const show = (v) => typeof v === "string" ? v : v instanceof Error ? described(v) : JSON.stringify(v) ?? String(v);
  const level = (n) => (...args) => { host.log(n, args.map(show).join(" ")); };
  globalThis.console = {
    trace: level(0), debug: level(1), log: level(2), info: level(2), warn: level(3), error: level(4),
  };

  // described is an error with the place where it was thrown.
  function described(e) {
    const place = /\(?(plugin\.js(?::\d+)?)\)?\s*$/m.exec(e.stack ?? "");
    return String(e) + (place ? ` at ${place[1]}` : "");
  }

  class Call {
    #artifacts = [];
    #citations = [];
    #usage;
    #next;
    constructor(input) {
      this.info = input.call ?? {};
      this.params = input.params ?? {};
      this.arguments = input.arguments ?? {};
    }
    ask(op, args = {}) {
      const answer = host.ask(JSON.stringify({ op, args }));
      if (answer === null) throw new PluginError("internal", "cancelled");
      const { ok, error } = JSON.parse(answer);
      if (!error) return ok;
      const e = new PluginError(error.code, error.message, error.data);
      e.retryable = error.retryable === true;
      throw e;
    }
    fetch(request) {
      return this.ask("http.fetch", typeof request === "string" ? { url: request } : request);
    }
    chat(request) { return this.ask("llm.chat", request); }
    embed(texts) { return this.ask("embed", { texts }).vectors; }
    load(key) { const { found, value } = this.ask("kv.get", { key }); return found ? value : undefined; }
    store(key, value) { this.ask("kv.set", { key, value }); }
    delete(key) { this.ask("kv.delete", { key }); }
    keys(prefix = "") { return this.ask("kv.list", { prefix }).keys; }
    variable(name) { const { found, value } = this.ask("var.get", { name }); return found ? value : undefined; }
    setVariable(name, value) { this.ask("var.set", { name, value }); }
    readFile(id) {
      const { body, body_base64, ...file } = this.ask("file.read", { id });
      return { ...file, text: body, bytes: body === undefined ? fromBase64(body_base64) : undefined };
    }
    putFile(name, mime, data) {
      const content = typeof data === "string" ? { body: data } : { body_base64: toBase64(data) };
      return this.ask("file.put", { name, mime, ...content }).id;
    }
    sleep(ms) { this.ask("sleep", { ms }); }
    secret(name) { const mark = this.info.secret_mark; return `{{secret:${name}${mark ? ":" + mark : ""}}}`; }
    #send(kind, data) { if (host.emit(kind, data)) throw new PluginError("internal", "cancelled"); }
    emit(text) { this.#send(1, String(text)); }
    think(text) { this.#send(2, String(text)); }
    progress(pct, note = "") { this.#send(3, JSON.stringify({ pct, note })); }
    partial(key, delta) { this.#send(4, JSON.stringify({ key, delta })); }
    attach(name, mime, ref) { this.#artifacts.push({ name, mime, ref }); }
    cite(citation) { this.#citations.push(citation); }
    used(usage) { this.#usage = usage; }
    next(branch) { this.#next = branch; }
    answer(outputs) {
      const out = { outputs: typeof outputs === "string" ? { text: outputs } : outputs ?? {} };
      if (this.#artifacts.length > 0) out.artifacts = this.#artifacts;
      if (this.#citations.length > 0) out.citations = this.#citations;
      if (this.#usage) out.usage = this.#usage;
      if (this.#next !== undefined) out.next = this.#next;
      return out;
    }
  }

  function fail(e) {
    const failure = e instanceof PluginError
      ? { code: e.code, message: e.message, retryable: e.retryable, data: e.data }
      : { code: "internal", message: e instanceof Error ? described(e) : show(e) };
    host.error(JSON.stringify(failure));
    return 1;
  }

  let plugin;
  function loaded() {
    if (plugin) return plugin;
    const { found, text } = ask("self.section", { name: "easel.js" });
    if (!found) throw new PluginError("internal", "the file has no section easel.js; `easel plugin pack` writes it");
    return plugin = host.load(text);
  }
  const ask = Call.prototype.ask;

  // settled waits for a promise; everything that it can wait for happens here.
  function settled(value) {
    if (typeof value?.then !== "function") return value;
    let result, error, done = false;
    value.then((v) => { result = v; done = true; }, (e) => { error = [e]; });
    host.runJobs();
    if (error) throw error[0];
    if (!done) throw new Error("the function returned a promise that nothing settles");
    return result;
  }

  function received() {
    let input;
    try {
      input = JSON.parse(host.input());
    } catch (e) {
      throw new PluginError("invalid_argument", `input: ${e.message}`);
    }
    if (typeof input !== "object" || input === null) {
      throw new PluginError("invalid_argument", "the input is not a JSON object");
    }
    return new Call(input);
  }

  const guarded = (f) => () => {
    try {
      f();
      return 0;
    } catch (e) {
      return fail(e);
    }
  };
  return Object.freeze({
    invoke: guarded(() => {
      const run = loaded().default;
      if (typeof run !== "function") throw new TypeError("plugin.js has no default export that is a function");
      const call = received();
      host.output(JSON.stringify(call.answer(settled(run(call)))));
    }),
    check: guarded(() => {
      const { check } = loaded();
      if (check) settled(check(received().params));
    }),
    describe: guarded(() => {
      const { manifest } = loaded();
      if (manifest !== undefined) return host.output(JSON.stringify(manifest));
      const { found, text } = ask("self.section", { name: "easel.manifest" });
      if (!found) throw new TypeError("plugin.js exports no manifest, and there is no manifest.json beside it");
      host.output(text);
    }),
  });
})(globalThis.host);
