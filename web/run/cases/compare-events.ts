// Compares the events of a run with the expected ones. The twin of
// engine/enginetest/compare_events.go.

import { isObject } from "../../canvas/dsl.ts";
import { at, type Differences, type Place } from "./differences.ts";
import { get, has, isEmpty, list, text, written } from "./value.ts";

/** freeFields may be in an event without being expected. */
export const freeFields = [
  "created_at", "elapsed_time", "thoughts", "usage", "downloads", "seq", "run_id", "session_id", "message_id",
  "task_id",
];

const comparedFields = ["component_name", "component_type", "inputs", "tips", "status", "attachment", "reference"];
const knownFields = ["component_id", "outputs", "error", ...comparedFields];
const messageFields = ["content", "audio_binary", "start_to_think", "end_to_think"];
const marks = ["start_to_think", "end_to_think"];

/** Folded is one event after the pieces of messages have been joined. */
export interface Folded {
  event: string;
  data: unknown;
  /** The node of the event; for a message, the node that started last and has not ended. */
  node: string;
  optional: boolean;
  /** start_to_think or end_to_think. */
  mark: string;
  /** Of a message. */
  content: unknown;
  /** Other members of a message. */
  extra: string[];
  /** Hexadecimal. */
  sound: string[];
}

/** fold joins message pieces between marks; pieces without text and sound are dropped. */
export function fold(events: unknown): Folded[] {
  const out: Folded[] = [];
  let open: string[] = [];
  for (const each of list(events)) {
    const [event, data, optional] = [text(get(each, "event")), get(each, "data"), !isEmpty(get(each, "optional"))];
    const node = written(get(data, "component_id"));
    if (event === "node_started") open = [...open, node];
    if (event === "node_finished") open = open.filter((id) => id !== node);
    if (event === "message" && isObject(data)) foldMessage(out, data, open.at(-1) ?? "", optional);
    else out.push({ event, data, node, optional, mark: "", content: undefined, extra: [], sound: [] });
  }
  return out;
}

function foldMessage(out: Folded[], data: Record<string, unknown>, node: string, optional: boolean): void {
  const content = get(data, "content");
  const sound = isEmpty(data["audio_binary"]) ? [] : [written(data["audio_binary"])];
  const extra = Object.keys(data).filter(
    (name) => !messageFields.includes(name) && !freeFields.includes(name) && get(data, name) !== undefined,
  );
  const piece: Folded = {
    event: "message", data: undefined, node, optional, mark: "", content: content ?? "", extra, sound,
  };
  const mark = marks.find((name) => !isEmpty(data[name]));
  if (mark !== undefined) out.push({ ...piece, optional: false, mark, content: "", sound: [] });
  const isText = content === undefined || typeof content === "string";
  if (isText && piece.content === "" && sound.length === 0) return;
  const last = out.at(-1);
  if (isText && last?.event === "message" && last.mark === "" && typeof last.content === "string") {
    out[out.length - 1] = {
      ...last, content: last.content + String(piece.content), sound: [...last.sound, ...sound],
      extra: [...last.extra, ...extra],
    };
    return;
  }
  out.push(piece);
}

function label({ event, mark, node }: Folded): string {
  return event === "message" ? `message ${mark}`.trim() : `${event} ${node}`.trim();
}

function nodeOf({ node }: Folded): { node?: string } {
  return node ? { node } : {};
}

/** compareEvents compares two sequences; the first event of another kind ends the comparison. */
export function compareEvents(differences: Differences, want: unknown, seen: unknown, place: Place): void {
  const [expected, actual] = [fold(want), fold(seen)];
  let i = 0;
  for (const each of expected) {
    const now = actual[i];
    if (!now || label(now) !== label(each)) {
      if (each.optional) continue;
      const where = { ...place, ...nodeOf(each), what: each.event };
      return differences.add(where, "missing", label(each), now && label(now));
    }
    compareEvent(differences, each, now, { ...place, ...nodeOf(now), what: each.event });
    i++;
  }
  const more = actual[i];
  if (more) differences.add({ ...place, ...nodeOf(more), what: more.event }, "extra", undefined, label(more));
}

function compareEvent(differences: Differences, want: Folded, seen: Folded, place: Place): void {
  if (want.event === "message") return compareMessage(differences, want, seen, place);
  for (const name of comparedFields) {
    const [x, y] = [get(want.data, name), get(seen.data, name)];
    if (!has(want.data, name) && y === undefined) continue;
    if (!sameNothing(want.event, name, x, y)) differences.value(x, y, at(place, name));
  }
  if (want.event === "node_finished" || want.event === "workflow_finished") {
    const kind = text(get(want.data, "component_type"));
    differences.outputs(get(want.data, "outputs"), get(seen.data, "outputs"), kind, at(place, "outputs"));
  }
  if (want.event === "node_finished") {
    differences.failure(get(want.data, "error"), get(seen.data, "error"), at(place, "error"));
  }
  unknown(differences, seen.data, place);
}

// sameNothing reports whether both sides are empty values, of any type.
function sameNothing(event: string, field: string, x: unknown, y: unknown): boolean {
  const nothing = (value: unknown): boolean => value === undefined || (isObject(value) && isEmpty(value));
  if (field === "tips") return isEmpty(x) && isEmpty(y);
  return field === "inputs" && event !== "node_started" && nothing(x) && nothing(y);
}

function unknown(differences: Differences, data: unknown, place: Place): void {
  if (!isObject(data)) return;
  for (const name of Object.keys(data)) {
    const known = name.startsWith("_") || knownFields.includes(name) || freeFields.includes(name);
    if (!known && get(data, name) !== undefined) differences.add(at(place, name), "extra", undefined, data[name]);
  }
}

function compareMessage(differences: Differences, want: Folded, seen: Folded, place: Place): void {
  if (want.mark === "") {
    differences.value(want.content, seen.content, at(place, "content"));
    const [expected, actual] = [voice(want.sound), voice(seen.sound)];
    if (expected !== actual) differences.add(at(place, "audio_binary"), "same", expected, actual);
  }
  for (const name of seen.extra) differences.add(at(place, name), "extra");
}

/** voiceMark begins every sound of the scripted voice. */
export const voiceMark = "tts:";

// voice returns the output of the scripted voice, without its marks and without blanks.
function voice(sound: string[]): string {
  const said = sound.map((hex) => {
    if (hex.length % 2 !== 0 || /[^0-9a-f]/i.test(hex)) return hex;
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    return new TextDecoder().decode(bytes).replaceAll(voiceMark, "");
  });
  return said.join("").replaceAll(/[\s\u0085]/g, "");
}
