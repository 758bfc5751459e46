// The microphone and the loudspeaker of a chat; loaded where the host has models for them.

import { useEffect, useRef, useState } from "react";
import { faultOf, longestRecording, speak, transcribe, type MicrophoneFault } from "../run/voice.ts";
import { filler } from "../words/words.ts";
import { texts, type VoiceKey } from "../words/voice.ts";
import { useApp, useLook } from "./context.tsx";
import { Icon } from "./icons.tsx";
import { reasonOf } from "./reason.tsx";

function useVoiceText(): (key: VoiceKey, ...values: (string | number)[]) => string {
  return filler(texts[useLook((look) => look.language)]);
}

interface Take {
  stop(): void;
}

// recorded records until the take is stopped or the longest time has passed.
async function recorded(signal: AbortSignal, onBegin: (take: Take) => void): Promise<Blob> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  try {
    signal.throwIfAborted();
    return await new Promise((resolve, reject) => {
      const recorder = new MediaRecorder(stream);
      const parts: Blob[] = [];
      const stop = (): void => { if (recorder.state !== "inactive") recorder.stop(); };
      const limit = setTimeout(stop, longestRecording);
      recorder.ondataavailable = ({ data }) => parts.push(data);
      recorder.onerror = () => {
        clearTimeout(limit);
        reject(new Error("the recording failed"));
      };
      recorder.onstop = () => {
        clearTimeout(limit);
        resolve(new Blob(parts, { type: recorder.mimeType }));
      };
      recorder.start();
      onBegin({ stop });
    });
  } finally {
    stream.getTracks().forEach((track) => track.stop());
  }
}

/** Microphone writes down a spoken question. */
export function Microphone({ onText, onFault }: {
  onText(text: string): void;
  /** Takes why nothing was written down; undefined when it is tried again. */
  onFault(text: string | undefined): void;
}): React.ReactNode {
  const v = useVoiceText();
  const { host } = useApp();
  const [state, setState] = useState<"idle" | "asking" | "recording" | "writing">("idle");
  const take = useRef<Take>(undefined);
  const leaving = useRef<AbortController>(undefined);
  const drop = (): void => {
    leaving.current?.abort();
    take.current?.stop();
    take.current = undefined;
  };
  useEffect(() => drop, []);
  const fail = (fault: MicrophoneFault | string, isKey: boolean): void => {
    setState("idle");
    onFault(isKey ? v(`microphone_${fault as MicrophoneFault}`) : fault);
  };
  const write = async (sound: Blob, signal: AbortSignal): Promise<void> => {
    setState("writing");
    try {
      const text = await transcribe(host, sound, signal);
      if (signal.aborted) return;
      setState("idle");
      if (text) onText(text);
      else onFault(v("nothing_said"));
    } catch (err) {
      if (!signal.aborted) fail(v("not_written", reasonOf(err)), false);
    }
  };
  const record = async (): Promise<void> => {
    onFault(undefined);
    if (!("mediaDevices" in navigator) || typeof MediaRecorder === "undefined") return fail("insecure", true);
    const { signal } = (leaving.current = new AbortController());
    setState("asking");
    try {
      const sound = await recorded(signal, (begun) => {
        take.current = begun;
        setState("recording");
      });
      take.current = undefined;
      if (!signal.aborted) await write(sound, signal);
    } catch (err) {
      if (!signal.aborted) fail(faultOf(err), true);
    }
  };
  const busy = state === "asking" || state === "writing";
  const label = v(state === "idle" ? "dictate" : state);
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-pressed={state === "recording"}
        aria-disabled={busy /* a disabled button would lose the keyboard */}
        title={label}
        aria-label={label}
        onClick={() => {
          if (state === "recording") take.current?.stop();
          else if (!busy) void record();
        }}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || state === "idle") return;
          event.stopPropagation();
          drop();
          setState("idle");
        }}
      >
        <Icon name={state === "recording" ? "stop" : "microphone"} />
      </button>
      <span className="sr" role="status">{state === "idle" ? "" : label}</span>
    </>
  );
}

let speaking: AbortController | undefined; // one answer is spoken at a time

// heard returns the words of an answer that are read aloud.
function heard(answer: Element | null): string {
  const copy = answer?.cloneNode(true) as Element | undefined;
  copy?.querySelectorAll(".cite, [popover], details, .chip, .sr, button, pre").forEach((part) => part.remove());
  copy?.querySelectorAll("p, li, h3, h4, h5, tr, .h").forEach((part) => part.append("\n"));
  return copy?.textContent ?? "";
}

/** ReadAloud speaks the answer around it. */
export function ReadAloud(): React.ReactNode {
  const v = useVoiceText();
  const { host } = useApp();
  const button = useRef<HTMLButtonElement>(null);
  const [state, setState] = useState<"idle" | "speaking">("idle");
  const [fault, setFault] = useState("");
  const own = useRef<AbortController>(undefined);
  useEffect(() => () => own.current?.abort(), []);
  const start = async (): Promise<void> => {
    speaking?.abort();
    const { signal } = (own.current = speaking = new AbortController());
    signal.addEventListener("abort", () => setState("idle"));
    setFault("");
    setState("speaking");
    let audio: AudioContext | undefined;
    try {
      // Made by the click, without which a browser plays nothing.
      const player = (audio = new AudioContext());
      await speak(host, heard(button.current?.closest(".bubble") ?? null), (sound, until) => play(player, sound, until),
        signal);
    } catch (err) {
      if (!signal.aborted) setFault(v("not_spoken", reasonOf(err)));
    }
    void audio?.close();
    if (own.current?.signal === signal) setState("idle");
  };
  const label = v(state === "speaking" ? "hush" : "read_aloud");
  return (
    <>
      <button
        ref={button}
        type="button"
        className="icon-button read-aloud"
        title={label}
        aria-label={label}
        aria-pressed={state === "speaking"}
        onClick={() => (state === "speaking" ? own.current?.abort() : void start())}
      >
        <Icon name={state === "speaking" ? "stop" : "loudspeaker"} />
      </button>
      {fault && <span className="fault" role="alert">{fault}</span>}
    </>
  );
}

// play decodes a sound itself: the policy of the page lets it load none by an address.
async function play(audio: AudioContext, sound: ArrayBuffer, signal: AbortSignal): Promise<void> {
  const source = audio.createBufferSource();
  source.buffer = await audio.decodeAudioData(sound);
  source.connect(audio.destination);
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    source.onended = () => resolve();
    signal.addEventListener("abort", () => {
      source.stop();
      resolve();
    });
    source.start();
  });
}
