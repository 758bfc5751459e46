// The MCP servers of an agent in a document, and on its card.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dict, type Dsl } from "../canvas/dsl.ts";
import { build } from "../canvas/model.ts";
import {
  asksFirst, chosenOf, goneOf, matching, serverTools, withAll, withApproval, withTools, type Offered,
} from "../canvas/servers.ts";
import { serverNamed } from "../run/server-names.ts";
import { specs } from "./specs.ts";

const track: Offered = { name: "track", description: "Tracks an order.", input_schema: { type: "object" } };
const cancel: Offered = { name: "cancel", description: "Cancels an order." };

test("ticked tools are stored with their description and schema, and none of them means all", () => {
  const entry = withTools({ mcp_id: "s1" }, [track]);
  const stored = { name: "track", description: "Tracks an order.", inputSchema: { type: "object" } };
  assert.deepEqual(entry, { mcp_id: "s1", tools: { track: stored } });
  assert.deepEqual(Object.keys(withTools(entry, [cancel])["tools"] as object), ["track", "cancel"]);
  assert.deepEqual(withTools(entry, [], ["track"]), { mcp_id: "s1" }, "without a tool there is no member tools");
  assert.deepEqual(withAll(entry), { mcp_id: "s1" });
  assert.equal(chosenOf({ mcp_id: "s1", tools: {} }), undefined, "an empty choice is no choice");
});

test("an edit keeps what other programs store of a server and of its tools", () => {
  const entry = { mcp_id: "s1", note: 1, tools: { track: { name: "track", enabled: true, inputSchema: { x: 1 } } } };
  assert.deepEqual(withTools(entry, [track, cancel]), {
    mcp_id: "s1", note: 1,
    tools: {
      track: { name: "track", enabled: true, inputSchema: { x: 1 } },
      cancel: { name: "cancel", description: "Cancels an order.", inputSchema: {} },
    },
  });
});

test("a person is asked before the calls of one tool, or of all", () => {
  const entry = withTools({ mcp_id: "s1" }, [track, cancel]);
  const asked = withApproval(entry, true, "cancel");
  assert.deepEqual(["track", "cancel"].map((name) => asksFirst(asked, name)), [false, true]);
  assert.deepEqual(withApproval(asked, false, "cancel"), entry, "no trace is left");
  assert.deepEqual(withApproval({ mcp_id: "s1" }, true), { mcp_id: "s1", approval: true });
});

test("tools that the server has lost are listed", () => {
  const entry = withTools({ mcp_id: "s1" }, [track, cancel]);
  assert.deepEqual(goneOf(entry, [track]), ["cancel"]);
  assert.deepEqual(goneOf({ mcp_id: "s1" }, []), [], "all tools lose none");
});

test("a filter finds words in names and descriptions", () => {
  const found = (text: string): string[] => matching([track, cancel], text).map(({ name }) => name);
  assert.deepEqual(found("ORDER"), ["track", "cancel"]);
  assert.deepEqual(found(" order can "), ["cancel"]);
  assert.deepEqual(found("refund"), []);
});

test("a server is found by its id and by its name", () => {
  const server = { id: "7f", name: "Help desk", type: "sse", headers: [], tools: [] };
  const other = { ...server, id: "help desk", name: "Other" };
  assert.equal(serverNamed([server, other], "help desk"), other, "an id comes first");
  assert.equal(serverNamed([server], "HELP DESK"), server);
  assert.equal(serverNamed([server], "x"), undefined);
  assert.equal(serverNamed(undefined, "7f"), undefined);
});

test("the card of an agent has its servers, also after an edit of its params", () => {
  const mcp = [{ mcp_id: "s1", tools: { track: {} } }, { mcp_id: "s2" }, { url: "https://x.org/mcp", tools: {} }];
  const canvas = (params: object): Dsl => ({
    components: dict({
      begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Agent:A"], upstream: [] },
      "Agent:A": { obj: { component_name: "Agent", params: params as Dsl }, downstream: [], upstream: ["begin"] },
    }),
  }) as unknown as Dsl;
  const first = build(canvas({ mcp }), specs);
  const expected = [{ server: "s1", tools: ["track"] }, { server: "s2" }, { server: "https://x.org/mcp" }];
  assert.deepEqual(first.byId.get("Agent:A")?.servers, expected);
  assert.equal(build(canvas({}), specs).byId.get("Agent:A")?.servers, undefined);
  assert.deepEqual(serverTools({ mcp: "x" }), []);
});
