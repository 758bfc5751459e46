// The lines for a shell sign as senders do: they run in a shell whose curl prints its arguments.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { hookCurl } from "../run/hook-curl.ts";

const body = `{"who": "O'Neil", "sum": "100 %s \\\\ $HOME \`x\`"}`;

// sent runs the lines and returns the arguments of curl.
function sent(security: unknown, secret: string, method = "POST", text = body): string[] {
  const call = { address: "https://x.org/hook?a=1&b='2'", method, type: "application/json", body: text, security };
  const script = `curl() { printf '%s\\0' "$@"; }\n${hookCurl(call)}`;
  const env = { PATH: process.env["PATH"], SECRET: secret, TOKEN: "t0" };
  return execFileSync("bash", ["-c", script], { env, encoding: "utf8" }).split("\0").slice(0, -1);
}

const headerOf = (args: string[], name: string): string =>
  args.find((arg) => arg.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
const hmac = (key: string | Buffer, text: string, form: "hex" | "base64", algorithm = "sha256"): string =>
  createHmac(algorithm, key).update(text).digest(form);

test("the body and the address arrive as they are", () => {
  const args = sent({}, "");
  assert.deepEqual(args.slice(0, 3), ["-X", "POST", "https://x.org/hook?a=1&b='2'"]);
  assert.equal(args.at(-1), body);
  assert.deepEqual(sent(undefined, "", "GET", ""), ["-X", "GET", "https://x.org/hook?a=1&b='2'"]);
});

test("tokens, passwords and JWTs stand where the host looks for them", () => {
  const token = sent({ auth_type: "token", token: { token_header: "X-Gitlab-Token" } }, "s3 'cret");
  assert.equal(headerOf(token, "X-Gitlab-Token"), "s3 'cret");
  const basic = sent({ auth_type: "basic", basic_auth: { username: "O'N" } }, "pw");
  assert.equal(basic[basic.indexOf("-u") + 1], "O'N:pw");
  assert.equal(headerOf(sent({ auth_type: "jwt", jwt: {} }, ""), "Authorization"), "Bearer t0");
});

test("bodies are signed as by GitHub and Shopify", () => {
  const github = sent({ auth_type: "hmac", hmac: {} }, "key of it's");
  assert.equal(headerOf(github, "X-Hub-Signature-256"), `sha256=${hmac("key of it's", body, "hex")}`);
  const shopify = { header: "X-Shopify-Hmac-Sha256", encoding: "base64", prefix: "", algorithm: "sha512" };
  const signed = sent({ auth_type: "hmac", hmac: shopify }, "k");
  assert.equal(headerOf(signed, "X-Shopify-Hmac-Sha256"), hmac("k", body, "base64", "sha512"));
});

test("times are signed as by Stripe and Slack", () => {
  const stripe = { header: "Stripe-Signature", prefix: "v1=", timestamp_prefix: "t=", payload: "{timestamp}.{body}" };
  const given = headerOf(sent({ auth_type: "hmac", hmac: stripe }, "k"), "Stripe-Signature");
  const [, at = "", code] = /^t=(\d+),v1=(.+)$/.exec(given) ?? [];
  assert.ok(Math.abs(Number(at) - Date.now() / 1000) < 60);
  assert.equal(code, hmac("k", `${at}.${body}`, "hex"));
  const payload = "v0:{timestamp}:{body}";
  const slack = { header: "X-Slack-Signature", prefix: "v0=", timestamp_header: "X-Time", payload };
  const args = sent({ auth_type: "hmac", hmac: slack }, "k");
  assert.equal(headerOf(args, "X-Slack-Signature"), `v0=${hmac("k", `v0:${headerOf(args, "X-Time")}:${body}`, "hex")}`);
});

test("keys in base64 and signed headers work as in Standard Webhooks", () => {
  const hooks = {
    header: "webhook-signature", prefix: "v1,", encoding: "base64", secret_encoding: "base64",
    timestamp_header: "webhook-timestamp", payload: "{header:webhook-id}.{timestamp}.{body}",
  };
  const key = Buffer.from([0, 255, 10, 32, 39, 1]);
  const args = sent({ auth_type: "hmac", hmac: hooks }, `whsec_${key.toString("base64")}`);
  const text = `${headerOf(args, "webhook-id")}.${headerOf(args, "webhook-timestamp")}.${body}`;
  assert.equal(headerOf(args, "webhook-signature"), `v1,${hmac(key, text, "base64")}`);
});

test("no setting of a canvas is a command of the shell", () => {
  const evil = 'sha256; echo broken >&2; kill $$ "`kill $$`" #';
  const settings = {
    header: evil, prefix: evil, algorithm: evil, timestamp_header: evil, secret_encoding: evil, encoding: evil,
    payload: `${evil}{timestamp}{body}`,
  };
  assert.equal(sent({ auth_type: "hmac", hmac: settings }, "k").at(-1), body);
  assert.deepEqual(sent({ auth_type: "token", token: { token_header: evil } }, "k", evil).slice(0, 2), ["-X", evil]);
  assert.equal(sent({ auth_type: "basic", basic_auth: { username: evil } }, "k", evil).at(-1), body);
});
