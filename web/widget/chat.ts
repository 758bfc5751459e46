// The chat as a visitor sees it: heading, transcript and composer in a shadow root, so that neither
// page styles the other. Scripts construct the style sheet, which a strict Content-Security-Policy
// of the embedding page allows.

import { drawTurn, type Drawings } from "./answer.ts";
import { ChatError, Client, type Greeting, type Uploaded } from "./client.ts";
import { Conversation, type Turn } from "./conversation.ts";
import { icon, make } from "./elements.ts";
import { form } from "./form.ts";
import { markdown } from "./markdown.ts";
import type { Options } from "./options.ts";
import { speaker, type Say } from "./words.ts";

/** Chat is one conversation with its elements. */
export class Chat {
  /** The root element. */
  readonly element: HTMLElement;
  readonly #options: Options;
  readonly #say: Say;
  readonly #client: Client;
  readonly #talk: Conversation;
  readonly #heading: HTMLElement;
  readonly #transcript: HTMLElement;
  readonly #composer: HTMLFormElement;
  readonly #text: HTMLTextAreaElement;
  readonly #chips = make("div", { class: "chips" });
  readonly #note = make("p", { class: "note", role: "status" });
  readonly #send: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  #greeting: Greeting | undefined;
  #files: Uploaded[] = [];
  #drawn: { turn: Turn; element: HTMLElement; drawings: Drawings }[] = [];
  #frame = 0;
  #started = false;

  /** With `close` the heading has a button that closes the chat. */
  constructor(options: Options, close?: () => void) {
    this.#options = options;
    const say = (this.#say = speaker(options.language));
    this.#client = new Client(options);
    // Each user of the site has a separate conversation, also after a login or logout.
    const key = `${options.host}${options.agent} ${options.user}`;
    this.#talk = new Conversation(this.#client, key, () => this.#schedule(), tabStorage());
    this.#transcript = make("div", {
      class: "transcript",
      role: "log",
      tabindex: "0",
      "aria-label": say("transcript"),
    });
    this.#text = make("textarea", {
      rows: "1",
      "aria-label": say("placeholder"),
      placeholder: say("placeholder"),
      keydown: (event) => this.#key(event as KeyboardEvent),
    });
    this.#send = make("button", { type: "submit", class: "primary round", "aria-label": say("send") }, icon("send"));
    this.#stop = make(
      "button",
      {
        type: "button",
        class: "primary round",
        "aria-label": say("stop"),
        hidden: true,
        click: () => this.#talk.stop(),
      },
      icon("stop"),
    );
    this.#composer = this.#makeComposer();
    const restart = make(
      "button",
      {
        type: "button",
        class: "round",
        "aria-label": say("restart"),
        title: say("restart"),
        click: () => this.#restart(),
      },
      icon("restart"),
    );
    const closing =
      close &&
      make(
        "button",
        {
          type: "button",
          class: "round",
          "aria-label": say("close"),
          title: say("close"),
          click: close,
        },
        icon("close"),
      );
    this.#heading = make(close ? "h2" : "h1", {}, options.title || say("title"));
    this.element = make(
      "div",
      { class: "chat", lang: options.language },
      make("header", {}, this.#heading, restart, closing),
      this.#transcript,
      this.#composer,
    );
  }

  /** title is the heading. */
  get title(): string {
    return this.#heading.textContent ?? "";
  }

  /** start requests the greeting of the agent, once. */
  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    if (!this.#options.agent || !this.#options.token) return this.#refuse(this.#say("incomplete"));
    const failed = (err: unknown): void => {
      this.#started = false;
      this.#refuse(this.#say(err instanceof ChatError ? err.word : "failed"));
    };
    try {
      this.#greeting = await this.#client.greeting();
    } catch (err) {
      return failed(err);
    }
    if (this.#greeting.mode === "Webhook") return this.#refuse(this.#say("notChat"));
    if (!this.#options.title && this.#greeting.title) this.#heading.textContent = this.#greeting.title;
    void this.#talk.restore().catch(failed);
    this.#schedule();
  }

  /** focus moves the keyboard focus to the element at which the visitor continues. */
  focus(): void {
    const field = this.#transcript.querySelector<HTMLElement>("form:last-of-type input, form:last-of-type select");
    if (!this.#composer.hidden) this.#text.focus();
    else (field ?? this.#transcript).focus();
  }

  #makeComposer(): HTMLFormElement {
    const say = this.#say;
    const picker = make("input", {
      type: "file",
      multiple: true,
      hidden: true,
      tabindex: "-1",
      change: () => void this.#attach(picker),
    });
    const attach = make(
      "button",
      {
        type: "button",
        class: "round",
        "aria-label": say("attach"),
        title: say("attach"),
        click: () => picker.click(),
      },
      icon("attach"),
    );
    const tools = this.#options.files ? [picker, attach] : [];
    const submit = (event: Event): void => {
      event.preventDefault();
      this.#ask();
    };
    return make(
      "form",
      { class: "composer", hidden: true, submit },
      this.#chips,
      this.#note,
      make("div", { class: "line" }, ...tools, this.#text, this.#send, this.#stop),
    );
  }

  #key(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.#ask();
  }

  #ask(): void {
    const query = this.#text.value.trim();
    if (this.#talk.busy || (query === "" && this.#files.length === 0)) return;
    const files = this.#files;
    this.#files = [];
    this.#text.value = "";
    this.#drawChips();
    void this.#talk.ask({ query, files });
  }

  #restart(): void {
    this.#talk.restart();
    this.focus();
  }

  async #attach(picker: HTMLInputElement): Promise<void> {
    const chosen = [...(picker.files ?? [])];
    picker.value = "";
    for (const file of chosen) {
      this.#note.textContent = this.#say("uploading", file.name);
      try {
        this.#files = [...this.#files, await this.#client.upload(file)];
        this.#note.textContent = "";
      } catch (err) {
        this.#note.textContent = this.#say(
          "notUploaded",
          file.name,
          err instanceof Error ? err.message : String(err),
        );
      }
      this.#drawChips();
    }
  }

  #drawChips(): void {
    this.#chips.replaceChildren(
      ...this.#files.map((file) =>
        make(
          "button",
          {
            type: "button",
            class: "chip",
            "aria-label": this.#say("remove", file.name),
            click: () => {
              this.#files = this.#files.filter((each) => each !== file);
              this.#drawChips();
              this.#text.focus();
            },
          },
          file.name,
          icon("close"),
        ),
      ),
    );
  }

  #refuse(text: string): void {
    this.#greeting = undefined; // nothing is drawn over the reason
    this.#composer.hidden = true;
    const again = (): void => {
      this.#transcript.replaceChildren();
      void this.start();
    };
    const retry = !this.#started && make("button", { type: "button", click: again }, this.#say("again"));
    this.#transcript.replaceChildren(make("p", { class: "fault", role: "alert" }, text, " ", retry));
  }

  // schedule draws before the next frame, however many events come until then.
  #schedule(): void {
    if (this.#frame) return;
    const draw = (): void => {
      this.#frame = 0;
      this.#draw();
    };
    this.#frame = document.hidden ? (setTimeout(draw, 100) as unknown as number) : requestAnimationFrame(draw);
  }

  #draw(): void {
    const greeting = this.#greeting;
    if (!greeting) return;
    const { turns, busy } = this.#talk;
    const box = this.#transcript;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
    const asks = Object.keys(greeting.inputs).length > 0;
    if (turns.length === 0) {
      box.replaceChildren(...this.#welcome(greeting, asks));
      this.#drawn = [];
    }
    for (const [i, turn] of turns.entries()) {
      const before = this.#drawn[i];
      if (before?.turn === turn) continue;
      const drawings = before?.drawings ?? new Map();
      const element = this.#turn(turn, drawings, turn === turns.at(-1) && !busy);
      if (before) before.element.replaceWith(element);
      else box.append(element);
      this.#drawn[i] = { turn, element, drawings };
    }
    // The form of a turn is gone when it has been answered.
    for (const { element } of this.#drawn.slice(0, turns.length - 1)) element.querySelector("form")?.remove();
    const form = turns.length === 0 ? asks : turns.at(-1)?.state.form !== undefined && !busy;
    this.#composer.hidden = form || (greeting.mode === "task" && turns.length > 0 && !busy);
    this.#send.hidden = busy;
    this.#stop.hidden = !busy;
    if (atEnd || turns.at(-1)?.phase === "sending") box.scrollTop = box.scrollHeight;
  }

  #welcome({ prologue, inputs, mode }: Greeting, asks: boolean): HTMLElement[] {
    const prefilled = Object.fromEntries(
      Object.entries(inputs).map(([name, field]) => {
        const value = this.#options.inputs[name];
        return [name, value === undefined ? field : { ...field, value }];
      }),
    );
    const text =
      prologue &&
      make(
        "div",
        { class: "theirs" },
        markdown(prologue, () => undefined),
      );
    const begin =
      asks &&
      form({
        fields: prefilled,
        tips: "",
        submit: this.#say("start"),
        say: this.#say,
        client: this.#client,
        onDone: (values) =>
          void this.#talk.ask({ query: "", inputs: values }).then(() => mode === "task" || this.focus()),
      });
    return [text, begin].filter((each) => each instanceof HTMLElement);
  }

  #turn(turn: Turn, drawings: Drawings, open: boolean): HTMLElement {
    const element = drawTurn(turn, drawings, this.#say, () => void this.#talk.again());
    const asked = turn.state.form;
    if (asked && open) {
      element.append(
        form({
          fields: asked.inputs,
          tips: asked.tips,
          submit: this.#say("submit"),
          say: this.#say,
          client: this.#client,
          onDone: (inputs) => void this.#talk.ask({ query: "", inputs }),
        }),
      );
    }
    return element;
  }
}

// tabStorage returns the storage in which the conversation survives a reload, or undefined if the
// page may not use one.
function tabStorage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}
