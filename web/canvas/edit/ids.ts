// Ids of new nodes: the component and three words, as RAGFlow makes them.

import type { Draft } from "./draft.ts";

const firsts = (
  "Brave Calm Clear Cold Deep Early Fair Fast Fresh Gentle Glad Green High Kind Late Light Long Loud Mild New " +
  "Open Plain Quick Quiet Red Round Sharp Short Soft Warm"
).split(" ");
const seconds = (
  "Apples Birds Boats Books Clouds Coins Doors Fields Forks Gates Hills Keys Lamps Leaves Maps Notes Paths Pens " +
  "Ponds Rivers Roads Roofs Seeds Ships Songs Stones Trees Walls"
).split(" ");
const thirds = (
  "Bend Bloom Call Carry Change Climb Draw Drift Fall Find Float Fold Gather Glow Grow Hold Join Jump Lead Lift " +
  "Meet Move Open Play Rest Ride Rise Sing Turn Wait"
).split(" ");

/** newId returns an id that no node of the document has; without a kind, that of the start. */
export function newId(draft: Draft, kind: string | undefined): string {
  if (kind === undefined && !draft.component("begin")) return "begin";
  for (;;) {
    const id = `${kind ?? "Start"}:${any(firsts)}${any(seconds)}${any(thirds)}`;
    if (!draft.component(id) && !draft.picture(id)) return id;
  }
}

function any(words: readonly string[]): string {
  return words[(crypto.getRandomValues(new Uint32Array(1))[0] as number) % words.length] as string;
}
