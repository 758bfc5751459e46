// The edge of the panel, which changes its width, or its height where it is a sheet.

import { useEffect, useSyncExternalStore } from "react";
import { useApp, useLook } from "./context.tsx";
import { useNodeText } from "./node/text.ts";

const narrow = matchMedia("(max-width: 820px)");
const board = 320; // px that stay of the canvas
const least = 340;
const step = 40;
const [low, high] = [45, 92]; // percent of the window at which a sheet rests

/** Grip is dragged or moved by arrows; a press on that of a sheet opens and closes it. */
export default function Grip(): React.ReactNode {
  const n = useNodeText();
  const { look } = useApp();
  const width = useLook((all) => all.width);
  const sheet = useLook((all) => all.sheet);
  const isSheet = useSyncExternalStore(
    (listener) => {
      narrow.addEventListener("change", listener);
      return () => narrow.removeEventListener("change", listener);
    },
    () => narrow.matches,
  );
  useEffect(() => {
    const { style } = document.documentElement;
    if (width === undefined) style.removeProperty("--panel");
    else style.setProperty("--panel", `${width}px`);
    if (sheet === undefined) style.removeProperty("--sheet");
    else style.setProperty("--sheet", `${sheet}dvh`);
  }, [width, sheet]);
  const most = Math.max(least, innerWidth - board);
  const now = isSheet ? (sheet ?? low) : Math.min(width ?? 400, most);
  const set = (size: number): void =>
    look.update(
      isSheet ? { sheet: Math.round(clamp(size, 20, high)) } : { width: Math.round(clamp(size, least, most)) },
    );
  const drag = (event: React.PointerEvent<HTMLElement>): void => {
    const grip = event.currentTarget;
    const from = { x: event.clientX, y: event.clientY };
    const moved = (to: PointerEvent): number => (isSheet ? to.clientY - from.y : to.clientX - from.x);
    let far = false;
    const move = (to: PointerEvent): void => {
      if (!far && Math.abs(moved(to)) < 4) return;
      far = true;
      set(isSheet ? ((innerHeight - to.clientY) / innerHeight) * 100 : innerWidth - to.clientX);
    };
    const end = (): void => {
      grip.removeEventListener("pointermove", move);
      if (!far && isSheet) set(now > (low + high) / 2 ? low : high);
    };
    event.preventDefault();
    grip.focus();
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener("pointermove", move);
    grip.addEventListener("lostpointercapture", end, { once: true });
  };
  const key = (event: React.KeyboardEvent): void => {
    const by = { ArrowLeft: step, ArrowUp: step, ArrowRight: -step, ArrowDown: -step }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    set(now + (isSheet ? by / 4 : by));
  };
  return (
    <div
      className="grip" role="separator" tabIndex={0} aria-orientation={isSheet ? "horizontal" : "vertical"}
      aria-label={n(isSheet ? "grip_sheet" : "grip")} aria-valuemin={isSheet ? 20 : least}
      aria-valuemax={isSheet ? high : most} aria-valuenow={Math.round(now)} aria-controls="page"
      onPointerDown={drag} onKeyDown={key}
      onDoubleClick={() => !isSheet && look.update({ width: undefined })}
    />
  );
}

function clamp(value: number, from: number, to: number): number {
  return Math.min(to, Math.max(from, value));
}
