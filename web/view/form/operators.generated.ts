// Generated from the engine by go run ./build/gen; do not edit.

import type { OperatorSet } from "@easel/engine";

/** Operator is one operator: the word that documents store, and what a form shows. */
export interface Operator {
  word: string;
  label: string;
  /** Other words that mean it, in lower case. */
  synonyms: readonly string[];
  /** Types of the left side that it fits; empty for all. */
  types: readonly string[];
  right: "value" | "list" | "number" | "reference" | "none";
}

/** operatorSets are the operators by set. */
export const operatorSets: Readonly<Record<OperatorSet, readonly Operator[]>> = {
  switch: [
    {
      word: "contains", label: "contains", right: "value",
      synonyms: ["has", "include", "includes", "like"],
      types: ["string", "list"],
    },
    {
      word: "not contains", label: "does not contain", right: "value",
      synonyms: ["!contains", "not include"],
      types: ["string", "list"],
    },
    {
      word: "start with", label: "starts with", right: "value",
      synonyms: ["prefix", "starts with", "startswith"],
      types: ["string"],
    },
    {
      word: "end with", label: "ends with", right: "value",
      synonyms: ["ends with", "endswith", "suffix"],
      types: ["string"],
    },
    {
      word: "empty", label: "is empty", right: "none",
      synonyms: ["is empty", "isempty", "null"],
      types: [],
    },
    {
      word: "not empty", label: "is not empty", right: "none",
      synonyms: ["exists", "is not empty"],
      types: [],
    },
    {
      word: "=", label: "equals", right: "value",
      synonyms: ["==", "eq", "equal", "equals", "is"],
      types: [],
    },
    {
      word: "≠", label: "is not", right: "value",
      synonyms: ["!=", "<>", "is not", "ne", "neq", "not equal", "not equals", "not is"],
      types: [],
    },
    {
      word: ">", label: "greater than", right: "value",
      synonyms: ["after", "gt"],
      types: ["number", "string"],
    },
    {
      word: "<", label: "less than", right: "value",
      synonyms: ["before", "lt"],
      types: ["number", "string"],
    },
    {
      word: "≥", label: "at least", right: "value",
      synonyms: [">=", "ge", "gte"],
      types: ["number", "string"],
    },
    {
      word: "≤", label: "at most", right: "value",
      synonyms: ["<=", "le", "lte"],
      types: ["number", "string"],
    },
    {
      word: "in", label: "is one of", right: "list",
      synonyms: ["oneof"],
      types: [],
    },
    {
      word: "not in", label: "is none of", right: "list",
      synonyms: ["notin"],
      types: [],
    },
  ],
  loop: [
    {
      word: "contains", label: "contains", right: "value",
      synonyms: ["has", "include", "includes", "like"],
      types: ["string", "list"],
    },
    {
      word: "not contains", label: "does not contain", right: "value",
      synonyms: ["!contains", "not include"],
      types: ["string", "list"],
    },
    {
      word: "start with", label: "starts with", right: "value",
      synonyms: ["prefix", "starts with", "startswith"],
      types: ["string"],
    },
    {
      word: "end with", label: "ends with", right: "value",
      synonyms: ["ends with", "endswith", "suffix"],
      types: ["string"],
    },
    {
      word: "is", label: "equals", right: "value",
      synonyms: [],
      types: ["string", "list", "boolean"],
    },
    {
      word: "is not", label: "is not", right: "value",
      synonyms: [],
      types: ["string", "list", "boolean"],
    },
    {
      word: "empty", label: "is empty", right: "none",
      synonyms: ["is empty", "isempty", "null"],
      types: [],
    },
    {
      word: "not empty", label: "is not empty", right: "none",
      synonyms: ["exists", "is not empty"],
      types: [],
    },
    {
      word: "=", label: "equals", right: "value",
      synonyms: ["==", "eq", "equal", "equals"],
      types: ["number", "boolean"],
    },
    {
      word: "≠", label: "is not", right: "value",
      synonyms: ["!=", "<>", "ne", "neq", "not equal", "not equals", "not is"],
      types: ["number", "boolean"],
    },
    {
      word: ">", label: "greater than", right: "value",
      synonyms: ["after", "gt"],
      types: ["number"],
    },
    {
      word: "<", label: "less than", right: "value",
      synonyms: ["before", "lt"],
      types: ["number"],
    },
    {
      word: "≥", label: "at least", right: "value",
      synonyms: [">=", "ge", "gte"],
      types: ["number"],
    },
    {
      word: "≤", label: "at most", right: "value",
      synonyms: ["<=", "le", "lte"],
      types: ["number"],
    },
  ],
  filter: [
    {
      word: "=", label: "equals", right: "value",
      synonyms: ["==", "eq", "equal", "equals", "is"],
      types: [],
    },
    {
      word: "≠", label: "is not", right: "value",
      synonyms: ["!=", "<>", "is not", "ne", "neq", "not equal", "not equals", "not is"],
      types: [],
    },
    {
      word: "contains", label: "contains", right: "value",
      synonyms: ["has", "include", "includes", "like"],
      types: [],
    },
    {
      word: "not contains", label: "does not contain", right: "value",
      synonyms: ["!contains", "not include"],
      types: [],
    },
    {
      word: "start with", label: "starts with", right: "value",
      synonyms: ["prefix", "starts with", "startswith"],
      types: [],
    },
    {
      word: "end with", label: "ends with", right: "value",
      synonyms: ["ends with", "endswith", "suffix"],
      types: [],
    },
    {
      word: "empty", label: "is empty", right: "none",
      synonyms: ["is empty", "isempty", "null"],
      types: [],
    },
    {
      word: "not empty", label: "is not empty", right: "none",
      synonyms: ["exists", "is not empty"],
      types: [],
    },
  ],
  metadata: [
    {
      word: "=", label: "equals", right: "value",
      synonyms: ["==", "eq", "equal", "equals", "is"],
      types: [],
    },
    {
      word: "≠", label: "is not", right: "value",
      synonyms: ["!=", "<>", "is not", "ne", "neq", "not equal", "not equals", "not is"],
      types: [],
    },
    {
      word: ">", label: "greater than", right: "value",
      synonyms: ["after", "gt"],
      types: [],
    },
    {
      word: "<", label: "less than", right: "value",
      synonyms: ["before", "lt"],
      types: [],
    },
    {
      word: "≥", label: "at least", right: "value",
      synonyms: [">=", "ge", "gte"],
      types: [],
    },
    {
      word: "≤", label: "at most", right: "value",
      synonyms: ["<=", "le", "lte"],
      types: [],
    },
    {
      word: "contains", label: "contains", right: "value",
      synonyms: ["has", "include", "includes", "like"],
      types: [],
    },
    {
      word: "not contains", label: "does not contain", right: "value",
      synonyms: ["!contains", "not include"],
      types: [],
    },
    {
      word: "start with", label: "starts with", right: "value",
      synonyms: ["prefix", "starts with", "startswith"],
      types: [],
    },
    {
      word: "end with", label: "ends with", right: "value",
      synonyms: ["ends with", "endswith", "suffix"],
      types: [],
    },
    {
      word: "in", label: "is one of", right: "list",
      synonyms: ["oneof"],
      types: [],
    },
    {
      word: "not in", label: "is none of", right: "list",
      synonyms: ["notin"],
      types: [],
    },
    {
      word: "empty", label: "is empty", right: "none",
      synonyms: ["is empty", "isempty", "null"],
      types: [],
    },
    {
      word: "not empty", label: "is not empty", right: "none",
      synonyms: ["exists", "is not empty"],
      types: [],
    },
  ],
  assign: [
    {
      word: "overwrite", label: "replace with", right: "reference",
      synonyms: [":=", "="],
      types: [],
    },
    {
      word: "clear", label: "empty it", right: "none",
      synonyms: ["reset"],
      types: [],
    },
    {
      word: "set", label: "set to", right: "value",
      synonyms: ["set_value"],
      types: ["string", "number", "boolean", "object"],
    },
    {
      word: "append", label: "add to list", right: "reference",
      synonyms: ["add_item", "push"],
      types: ["list"],
    },
    {
      word: "extend", label: "add all of", right: "reference",
      synonyms: ["concat"],
      types: ["list"],
    },
    {
      word: "remove_first", label: "remove first", right: "none",
      synonyms: ["shift"],
      types: ["list"],
    },
    {
      word: "remove_last", label: "remove last", right: "none",
      synonyms: ["pop"],
      types: ["list"],
    },
    {
      word: "+=", label: "add", right: "number",
      synonyms: ["+", "add", "plus"],
      types: ["number"],
    },
    {
      word: "-=", label: "subtract", right: "number",
      synonyms: ["-", "minus", "subtract"],
      types: ["number"],
    },
    {
      word: "*=", label: "multiply by", right: "number",
      synonyms: ["*", "multiply"],
      types: ["number"],
    },
    {
      word: "/=", label: "divide by", right: "number",
      synonyms: ["/", "divide"],
      types: ["number"],
    },
  ],
  logic: [
    {
      word: "and", label: "all", right: "value",
      synonyms: ["&&", "all", "且"],
      types: [],
    },
    {
      word: "or", label: "any", right: "value",
      synonyms: ["any", "||", "任一"],
      types: [],
    },
  ],
};
