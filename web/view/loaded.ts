// Requests of a view: what was loaded, and what a button does.

import { useCallback, useEffect, useRef, useState } from "react";
import { reasonOf } from "./reason.tsx";

/** Loaded is a value requested from the host. */
export interface Loaded<T> {
  /** The last answer; it stays while a newer one is on its way. */
  value?: T;
  fault?: string;
  busy: boolean;
  /** reload repeats the request and resolves once it is answered. */
  reload(): Promise<void>;
  /**
   * after runs an act that changes the value, then reloads, also if the act failed: a request that
   * reports a failure may have changed something.
   */
  after<R>(act: () => Promise<R>): Promise<R>;
  /** change updates the value without a request. */
  change(next: (value: T) => T): void;
}

/** useLoaded loads on mount and when the key changes; superseded requests are ignored. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value?: T; fault?: string; busy: boolean }>({ busy: true });
  const asked = useRef(0);
  const latest = useRef(load);
  latest.current = load;
  const ask = useCallback(async (keep: boolean) => {
    const question = ++asked.current;
    const answer = (next: (before: typeof state) => typeof state): void => {
      if (question === asked.current) setState(next);
    };
    setState((before) => ({ ...before, busy: true }));
    try {
      const value = await latest.current();
      answer(() => ({ value, busy: false }));
    } catch (err) {
      const failed = { fault: reasonOf(err), busy: false };
      answer((before) => (keep ? { ...before, ...failed } : failed));
    }
  }, []);
  useEffect(() => {
    void ask(false);
    return () => {
      asked.current++;
    };
  }, [key, ask]);
  const reload = useCallback(() => ask(false), [ask]);
  const after = useCallback(
    async <R>(act: () => Promise<R>): Promise<R> => {
      let done: R;
      try {
        done = await act();
      } catch (err) {
        await ask(true); // the view keeps what was typed into it
        throw err;
      }
      await ask(false);
      return done;
    },
    [ask],
  );
  const change = useCallback((next: (value: T) => T) => {
    setState((before) => (before.value === undefined ? before : { ...before, value: next(before.value) }));
  }, []);
  return { ...state, reload, after, change };
}

/** Attempt runs an act that may fail and stores the reason. */
export interface Attempt {
  fault?: string;
  busy: boolean;
  run(act: () => Promise<unknown>): Promise<boolean>;
}

/** useAttempt returns an Attempt for the buttons of a view. */
export function useAttempt(): Attempt {
  const [state, setState] = useState<{ fault?: string; busy: boolean }>({ busy: false });
  const run = useCallback(async (act: () => Promise<unknown>) => {
    setState({ busy: true });
    try {
      await act();
      setState({ busy: false });
      return true;
    } catch (err) {
      setState({ busy: false, fault: reasonOf(err) });
      return false;
    }
  }, []);
  return { ...state, run };
}
