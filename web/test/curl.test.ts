// Command lines of curl, as people paste them: from documents, browsers and shells.

import assert from "node:assert/strict";
import { test } from "node:test";
import { curled, type Curled } from "../canvas/curl.ts";

const read = (text: string): Curled => {
  const found = curled(text);
  assert.ok(typeof found === "object", `${text}: ${String(found)}`);
  return found;
};
const brief = (text: string): unknown[] => {
  const { method, url, headers } = read(text);
  return [method, url, ...headers.map(({ name, value }) => `${name}: ${value}`)];
};

test("the method, the address and headers are read from any order of options", () => {
  const rows: [string, ...string[]][] = [
    ["curl https://x.org", "GET", "https://x.org"],
    ["curl 'https://x.org/a?b=1&c=2'", "GET", "https://x.org/a?b=1&c=2"],
    ["curl https://x.org/a?b=1&c=2", "GET", "https://x.org/a?b=1&c=2"],
    ["$ curl -X DELETE \"https://x.org/7\"", "DELETE", "https://x.org/7"],
    ["curl -XPUT https://x.org", "PUT", "https://x.org"],
    ["curl --request patch --url https://x.org", "PATCH", "https://x.org"],
    ["curl -I https://x.org", "HEAD", "https://x.org"],
    ["curl -sSL -o out.txt https://x.org", "GET", "https://x.org"],
    ["curl -sXPOST https://x.org", "POST", "https://x.org"],
    ["/usr/bin/curl --compressed https://x.org | jq .", "GET", "https://x.org"],
    ["curl https://x.org && echo done", "GET", "https://x.org"],
    ["curl https://x.org; rm x", "GET", "https://x.org"],
    ["curl.exe https://x.org > out", "GET", "https://x.org"],
    ["curl -H 'A: 1' -H\"B: two words\" https://x.org", "GET", "https://x.org", "A: 1", "B: two words"],
    ["curl -H 'A: 1' -H 'a: 2' https://x.org", "GET", "https://x.org", "a: 2"],
    ["curl -H 'X-Empty;' -H 'Gone:' -H 'no colon' https://x.org", "GET", "https://x.org", "X-Empty: "],
    ["curl -H 'T: a:b:c' https://x.org", "GET", "https://x.org", "T: a:b:c"],
    ["curl -A agent -e https://r.org -b 'a=1; b=2' https://x.org", "GET", "https://x.org",
      "User-Agent: agent", "Referer: https://r.org", "Cookie: a=1; b=2"],
    ["curl -u me:pa:ss https://x.org", "GET", "https://x.org", "Authorization: Basic bWU6cGE6c3M="],
    ["curl -u 你:好 https://x.org", "GET", "https://x.org", "Authorization: Basic 5L2gOuWlvQ=="],
    ["curl --oauth2-bearer t0 https://x.org", "GET", "https://x.org", "Authorization: Bearer t0"],
    ["curl \\\n  -H 'A: 1' \\\r\n  https://x.org", "GET", "https://x.org", "A: 1"],
    ["curl ^\r\n -H \"A: 1\" ^\r\n https://x.org", "GET", "https://x.org", "A: 1"],
    ["curl https://x.org\ncurl https://y.org", "GET", "https://x.org"],
    ["curl -- -odd", "GET", "-odd"],
    ["curl -G -d a=1 -d b=2 https://x.org?c=3", "GET", "https://x.org?c=3&a=1&b=2"],
  ];
  for (const [text, ...expected] of rows) assert.deepEqual(brief(text), expected, text);
});

test("bodies become fields where these arrive the same, and stay texts elsewhere", () => {
  const json = "-H 'Content-Type: application/json'";
  const fields = (list: object, as: string): object => ({
    as, fields: Object.entries(list).map(([key, value]) => ({ key, value: value as unknown })),
  });
  const rows: [string, object][] = [
    [`-d 'a=1&b=two+words%21'`, fields({ a: "1", b: "two words!" }, "formData")],
    [`-d a=1 -d b=2`, fields({ a: "1", b: "2" }, "formData")],
    [`--data-urlencode 'q=a&b' --data-urlencode 'plain text'`,
      { body: "q=a%26b&plain%20text", type: "application/x-www-form-urlencoded" }],
    [`${json} -d '{"a":"x","n":1,"ok":true}'`, fields({ a: "x", n: 1, ok: true }, "json")],
    [`--json '{"a":"x"}'`, fields({ a: "x" }, "json")],
    [`${json} -d '{"a":"7"}'`, { body: `{"a":"7"}`, type: "application/json" }], // would arrive as a number
    [`${json} -d '{"a":{"b":1}}'`, { body: `{"a":{"b":1}}`, type: "application/json" }],
    [`${json} -d '{"a":"{x@y}"}'`, { body: `{"a":"{x@y}"}`, type: "application/json" }],
    [`${json} -d '[1]'`, { body: "[1]", type: "application/json" }],
    [`${json} -d 'not json'`, { body: "not json", type: "application/json" }],
    [`${json} -X DELETE -d '{"a":"x"}'`, { body: `{"a":"x"}`, type: "application/json" }],
    [`-d a=1 -d a=2`, { body: "a=1&a=2", type: "application/x-www-form-urlencoded" }],
    [`-d 'just text'`, { body: "just text", type: "application/x-www-form-urlencoded" }],
    [`-d 'a=%zz'`, { body: "a=%zz", type: "application/x-www-form-urlencoded" }],
    [`-H 'content-type: text/xml' --data-raw '@<a/>'`, { body: "@<a/>", type: "text/xml" }],
    [`--data-raw $'line\\none\\'s \\u00e9\\x21\\101'`,
      { body: "line\none's é!A", type: "application/x-www-form-urlencoded" }],
    [`-d "say \\"hi\\" \\\\ \\$5"`, { body: `say "hi" \\ $5`, type: "application/x-www-form-urlencoded" }],
  ];
  for (const [line, expected] of rows) {
    const { as, fields: list, body, type, headers, method } = read(`curl ${line} https://x.org`);
    const found = list ? { as, fields: list } : { body, type };
    assert.deepEqual(found, expected, line);
    assert.deepEqual(headers, [], "the type of the body is no header");
    assert.equal(method, line.includes("DELETE") ? "DELETE" : "POST");
  }
});

test("what a request cannot do is noted", () => {
  const rows: [string, string[]][] = [
    ["curl -d @body.json https://x.org", ["files"]],
    ["curl -F 'a=1' -F 'f=@x.png;type=image/png' https://x.org", ["multipart", "files"]],
    ["curl -T x.txt https://x.org", ["files"]],
    ["curl -b cookies.txt -k https://x.org", ["files", "insecure"]],
    ["curl -H \"Authorization: Bearer $TOKEN\" https://x.org", ["variables"]],
    ["curl -H 'Authorization: Bearer $TOKEN' https://x.org", []],
    ["curl https://x.org/$(date)", ["variables"]],
    ["curl -H 'costs: $' https://x.org", []],
  ];
  for (const [text, notes] of rows) assert.deepEqual(read(text).notes, notes, text);
  assert.deepEqual(read("curl -F a=1 -F 'f=@x' https://x.org").fields, [{ key: "a", value: "1" }]);
  const { proxy, timeout } = read("curl -x http://p:3128 -m 2.5 https://x.org");
  assert.deepEqual([proxy, timeout], ["http://p:3128", 3]);
});

test("texts that are no request are refused with a reason", () => {
  for (const text of ["", "wget https://x.org", "https://x.org", "curly https://x.org", "echo curl"]) {
    assert.equal(curled(text), "no_curl", text);
  }
  for (const text of ["curl", "curl -X POST", "curl -H 'A: 1'", "curl | sh"]) {
    assert.equal(curled(text), "no_url", text);
  }
  for (const text of ["curl 'https://x.org", "curl \"x", "curl -d $'a", "curl -d 'a' \"b\\\""]) {
    assert.equal(curled(text), "open_quote", text);
  }
});

test("every text is read or refused, and quoted words come back as they were", () => {
  let seed = 11;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  const pieces = [
    "curl ", "-X", " -d ", " -H", "'", "\"", "\\", "$'", "\n", "^\n", " ", "&", "|", "=", ":", "@", "{", "}", "%", "$",
    "https://x.org",
    "--data-urlencode ", "-F ", "--json ", "é", "\u{1f600}", "\0", "\\u{", "\\x", "-", "--",
  ];
  for (let i = 0; i < 20_000; i++) {
    const text = `curl ${Array.from({ length: random(12) }, () => pieces[random(pieces.length)]).join("")}`;
    const found = curled(text);
    assert.ok(typeof found === "string" || (typeof found.url === "string" && found.url !== ""), text);
  }
  for (let i = 0; i < 2000; i++) {
    const body = Array.from({ length: random(10) }, () => pieces[random(pieces.length)]).join("");
    const quoted = `'${body.replaceAll("'", `'\\''`)}'`;
    const found = read(`curl -H 'content-type: text/plain' --data-raw ${quoted} https://x.org`);
    assert.equal(found.body, body);
  }
});
