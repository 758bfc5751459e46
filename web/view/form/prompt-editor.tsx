// The editor of prompts: references are chips with the name of their node, and { or / offers what
// runs before. The document stays plain text. It lies in a shadow root, where CodeMirror uses
// constructed style sheets, which a strict Content-Security-Policy allows.

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { Annotation, Compartment, EditorState, StateEffect, type Extension } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  keymap,
  MatchDecorator,
  placeholder,
  ViewPlugin,
  WidgetType,
  type DecorationSet,
  type ViewUpdate,
} from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef } from "react";
import { same } from "../../canvas/patch.ts";
import type { Usable } from "../../canvas/upstream.ts";
import type { FormText } from "../../words/form.ts";
import { resume, type SelectedRef } from "../selected.ts";
import { sentence } from "../text.ts";
import { codeSetup, fail, type Language } from "./code-languages.ts";
import { useFormText, type FormKey } from "./text.ts";

/** Offered is a variable with its value of the last run. */
export interface Offered extends Usable {
  value?: string | undefined;
}

/** EditorProps are the props of Editor. */
export interface EditorProps {
  text: string;
  label: string;
  hint?: string;
  offered: readonly Offered[];
  language?: Language | undefined;
  /** The line that failed in the last run, from 1. */
  failed?: number | undefined;
  tall?: boolean;
  /** The text is one reference, with or without braces. */
  bare?: boolean;
  /** What a person had selected before the editor was there. */
  selected?: SelectedRef;
  onChange(text: string): void;
}

const theme = EditorView.theme({
  "&": {
    fontSize: "var(--t2)",
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "8px",
  },
  "&.cm-focused": { outline: "2px solid var(--select)", outlineOffset: "-1px" },
  ".cm-content": { caretColor: "var(--ink)", padding: "7px 4px", minHeight: "22px" },
  "&.code .cm-scroller": { fontFamily: "var(--mono)", fontSize: "var(--t2)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--ink-soft)", border: "0" },
  ".cm-line.failed": { backgroundColor: "var(--bad-soft)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-scroller": {
    maxHeight: "var(--editor-height, 320px)",
    overflow: "auto",
    lineHeight: "1.5",
    fontFamily: "inherit",
  },
  ".cm-placeholder": { color: "var(--ink-soft)" },
  ".chip": {
    backgroundColor: "var(--select-soft)",
    color: "var(--ink)",
    borderRadius: "6px",
    padding: "1px 6px",
    fontSize: "var(--t1)",
    whiteSpace: "nowrap",
  },
  ".chip.lost": { backgroundColor: "var(--bad-soft)", color: "var(--bad)" },
  ".cm-tooltip": {
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "10px",
    overflow: "hidden",
  },
  // The base theme has rules of the same specificity for one class.
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "inherit", maxHeight: "260px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "5px 10px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--select-soft)", color: "var(--ink)" },
  ".cm-completionInfo": { maxWidth: "260px", padding: "7px 10px", color: "var(--ink-soft)" },
  ".cm-completionDetail": { color: "var(--ink-soft)", fontStyle: "normal" },
});

/** outside marks a change that does not come from the person in this editor. */
const outside = Annotation.define<boolean>();

// Variables of the system.
const system: Readonly<Record<string, FormKey>> = {
  "sys.query": "sys_query", "sys.user_id": "sys_user_id", "sys.principal": "sys_principal",
  "sys.conversation_turns": "sys_turns", "sys.files": "sys_files", "sys.history": "sys_history", "sys.date": "sys_date",
};

/** redraw draws the references again: other variables are offered. */
const redraw = StateEffect.define<null>();

class Chip extends WidgetType {
  readonly #text: string;
  readonly #title: string;
  readonly #lost: boolean;

  constructor(text: string, title: string, lost: boolean) {
    super();
    this.#text = text;
    this.#title = title;
    this.#lost = lost;
  }

  override eq(other: Chip): boolean {
    return other.#text === this.#text && other.#title === this.#title && other.#lost === this.#lost;
  }

  override toDOM(): HTMLElement {
    const chip = document.createElement("span");
    chip.className = this.#lost ? "chip lost" : "chip";
    chip.textContent = this.#text;
    chip.title = this.#title;
    return chip;
  }
}

/** PromptEditor edits a text with references, or code. */
export default function PromptEditor(props: EditorProps): React.ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const say = useFormText();
  const latest = useRef({ ...props, say });
  latest.current = { ...props, say };
  const described = useRef(new Compartment());
  const sent = useRef<string[]>([]); // texts that the page was told of and that have not come back
  // Before the page is painted: no key that is typed in between may get lost.
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: latest.current.text,
        extensions: [
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          theme,
          EditorView.lineWrapping,
          described.current.of(description(latest)),
          EditorView.updateListener.of((update) => {
            const foreign = update.transactions.some((each) => each.annotation(outside));
            if (!update.docChanged || foreign) return;
            const now = update.state.doc.toString();
            sent.current.push(now);
            latest.current.onChange(now);
          }),
        ],
      }),
    });
    view.current = made;
    const { selected } = latest.current;
    if (selected) resume(made, selected);
    return () => {
      view.current = undefined;
      made.destroy();
    };
  }, []);
  // The component's description and the variables offered may load after the field.
  const { label, hint, language, bare, offered } = props;
  const shown = useRef({ label, hint, language, bare });
  useEffect(() => {
    if (same(shown.current, { label, hint, language, bare })) return;
    shown.current = { label, hint, language, bare };
    view.current?.dispatch({ effects: described.current.reconfigure(description(latest)) });
  }, [label, hint, language, bare]);
  const { failed } = props;
  useEffect(() => {
    if (language) view.current?.dispatch({ effects: fail.of(failed) });
  }, [failed, language]);
  const marked = useRef(offered);
  useEffect(() => {
    if (same(marked.current, offered)) return;
    marked.current = offered;
    view.current?.dispatch({ effects: redraw.of(null) });
  }, [offered]);
  // Undo, or another view, may have changed the text. What was written here comes back later than
  // the next key.
  useEffect(() => {
    const own = sent.current.indexOf(props.text);
    sent.current = own < 0 ? [] : sent.current.slice(own + 1);
    if (own >= 0) return;
    const now = view.current?.state.doc.toString();
    if (now === undefined || now === props.text) return;
    view.current?.dispatch({ changes: { from: 0, to: now.length, insert: props.text }, annotations: outside.of(true) });
  }, [props.text]);
  return <div ref={host} className="editor" data-tall={props.tall || undefined} />;
}

// description returns the extensions that depend on the component: label, hint, language.
function description(latest: { readonly current: EditorProps & { say: FormText } }): Extension {
  const { label, hint, language, bare = false } = latest.current;
  const offered = (): readonly Offered[] => latest.current.offered;
  return [
    EditorView.contentAttributes.of({ "aria-label": label }),
    hint ? placeholder(hint) : [],
    language
      ? [codeSetup(language), EditorView.editorAttributes.of({ class: "code" })]
      : [chips(offered, bare), offers(offered, () => latest.current.say)],
  ];
}

// chips draws references as names of nodes; one that leads nowhere is marked.
function chips(offered: () => readonly Offered[], bare: boolean): ViewPlugin<{ decorations: DecorationSet }> {
  const matcher = new MatchDecorator({
    regexp: bare ? /\{?([^{}\s@]+@[\w.-]+|(?:sys|env)\.[\w.-]+)\}?/g : /\{([^{}\s@]+@[\w.-]+|(?:sys|env)\.[\w.-]+)\}/g,
    decoration: ([match = "", ref = ""]) => {
      const known = offered().find((each) => ref === each.ref || ref.startsWith(`${each.ref}.`));
      const rest = known ? ref.slice(known.ref.length) : "";
      const text = known ? `${known.from} · ${known.name}${rest}` : ref;
      return Decoration.replace({
        widget: new Chip(text, known?.value === undefined ? match : `${match}\n${known.value}`, !known),
      });
    },
  });
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;

      constructor(view: EditorView) {
        this.decorations = matcher.createDeco(view);
      }

      update(update: ViewUpdate): void {
        const again = update.transactions.some(({ effects }) => effects.some((each) => each.is(redraw)));
        this.decorations = again ? matcher.createDeco(update.view) : matcher.updateDeco(update, this.decorations);
      }
    },
    {
      decorations: (plugin) => plugin.decorations,
      provide: (plugin) => EditorView.atomicRanges.of((view) => view.plugin(plugin)?.decorations ?? Decoration.none),
    },
  );
}

// offers returns the list behind { and /. A choice counts at once: somebody who types fast presses
// Enter as soon as the list is there.
function offers(offered: () => readonly Offered[], say: () => FormText): Extension {
  return autocompletion({
    override: [(context) => complete(context, offered(), say())], icons: false, interactionDelay: 0,
  });
}

// aboutOf returns the line that explains a variable.
function aboutOf({ ref, about }: Offered, say: FormText): string {
  const key = system[ref];
  return key === undefined ? (about ?? "") : sentence(say(key));
}

// complete offers the variables after { or /, filtered by what follows.
function complete(
  context: CompletionContext, offered: readonly Offered[], say: FormText,
): CompletionResult | null {
  const typed = context.matchBefore(/[{/][^{}\n]{0,40}/);
  if (!typed && !context.explicit) return null;
  const slash = typed?.text.startsWith("/") === true;
  if (slash && !/(^|\s)$/.test(context.state.doc.sliceString(Math.max(0, (typed?.from ?? 0) - 1), typed?.from)))
    return null;
  const from = typed?.from ?? context.pos;
  const closing = context.state.doc.sliceString(context.pos, context.pos + 1) === "}";
  return {
    from: typed ? from + 1 : from,
    options: offered.map((each, index): Completion => ({
      boost: Math.max(-90, 90 - index),
      label: `${each.from} · ${each.name}`,
      ...(aboutOf(each, say) === "" ? {} : { info: aboutOf(each, say) }),
      detail: each.value === undefined ? each.type : `${each.type} = ${each.value.slice(0, 40)}`,
      apply: (view, _, at, to) => {
        const end = closing && !slash ? to + 1 : to;
        const text = `{${each.ref}}`;
        view.dispatch({
          changes: { from: typed ? at - 1 : at, to: end, insert: text },
          selection: { anchor: (typed ? at - 1 : at) + text.length },
        });
      },
    })),
  };
}
