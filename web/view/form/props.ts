// What the editors of values share. Lists and tools hold editors of any kind, which they take from
// a context: the files of the editors do not import each other in circles.

import { createContext, useContext, type ComponentType } from "react";
import type { ComponentSpec, Diagnostic, Schema } from "@easel/engine";
import type { Params } from "../../canvas/dsl.ts";
import type { Around } from "./shown.ts";

/** ControlProps are the props of an editor of one value. */
export interface ControlProps {
  id: string;
  /** Node whose variables a text may use. */
  node: string;
  /** Key of the param. */
  name: string;
  label: string;
  spec: ComponentSpec | undefined;
  schema: Schema;
  value: unknown;
  hint: string;
  /** The values next to it. */
  around: Around;
  /** Id of the text that explains it. */
  describedBy?: string | undefined;
  onChange(value: unknown): void;
  /** Changes several of the values around it. */
  onPart(part: Params): void;
}

/** FormProps are the props of a form of params. */
export interface FormProps {
  /** Node whose variables the texts may use. */
  node: string;
  spec: ComponentSpec | undefined;
  params: Params;
  changed: Params;
  problems?: readonly Diagnostic[];
  /** The component is a tool of an agent. */
  tool?: boolean;
  onChange(key: string, value: unknown): void;
  /** See Editors. */
  Trial?: ComponentType<ControlProps> | undefined;
  /** Settings can be searched, once there are many. */
  searchable?: boolean;
  /** The most important field gets the keyboard; onEntered is called then. */
  enters?: boolean;
  onEntered?(): void;
}

/** Editors edit one value, and all params of a component. */
export interface Editors {
  Control: ComponentType<ControlProps>;
  Form: ComponentType<FormProps>;
  /** Runs a script with values for its inputs; absent where a step does not run alone. */
  Trial?: ComponentType<ControlProps> | undefined;
}

/** EditorsContext carries the editors. */
export const EditorsContext = createContext<Editors>({ Control: () => null, Form: () => null });

/** useEditors returns the editors. */
export function useEditors(): Editors {
  return useContext(EditorsContext);
}

/** typeOf returns the first type of a schema. */
export function typeOf({ type }: Schema): string | undefined {
  return Array.isArray(type) ? type[0] : type;
}
