// The outside of the example canvases: a few passages to search, and a host with one page. Requests
// to other addresses are sent unchanged.

import { search, type Passage } from "../run/knowledge.ts";
import passages from "./passages.json";

/** retrieve searches the passages of the examples. */
export const retrieve = search(passages as Passage[]);

/** datasets are the names of the datasets. */
export const datasets: ReadonlySet<string> = new Set(passages.map(({ dataset }) => dataset));

const rates = { base: "EUR", date: "2026-01-05", rates: { USD: 1.09, CNY: 7.82, JPY: 161.4, GBP: 0.86, EUR: 1 } };

/** request returns fetch with the examples' own host. */
export const request: typeof fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : String(input));
  if (url.hostname !== "demo.easel.example") return fetch(input, init);
  if (url.pathname === "/rates.json") return Promise.resolve(Response.json(rates));
  return Promise.resolve(new Response("not found", { status: 404 }));
};
