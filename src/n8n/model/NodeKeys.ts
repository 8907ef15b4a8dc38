/** The keys of a node and their values, as tested with `POST /workflows` on 1.123 and 2.41, which agree. */
import * as Predicate from "effect/Predicate"
import { num, obj } from "../../base/Json.ts"
import keys from "./nodeKeys.json" with { type: "json" }

/** A kind of value; `text` is a string that is not empty, `position` is `[x, y]`. */
export type Kind = "text" | "string" | "number" | "boolean" | "object" | "position"

export interface NodeKey {
  readonly kind: Kind
  /** Whether the key defines the node: without it, it would be a different node. */
  readonly isEssential?: boolean
  /** The meaningful values; n8n stores any value of the kind. */
  readonly values?: ReadonlyArray<string>
  /** The earliest tested release that accepts the key, if 1.123 does not. */
  readonly since?: string
}

export const nodeKeys: ReadonlyMap<string, NodeKey> = new Map(Object.entries(keys as Readonly<Record<string, NodeKey>>))

const isNumber = (value: unknown) => num(value) !== undefined

const kinds: { readonly [kind in Kind]: readonly [is: (value: unknown) => boolean, words: string] } = {
  text: [(value) => Predicate.isString(value) && value !== "", "a string that is not empty"],
  string: [Predicate.isString, "a string"],
  number: [isNumber, "a number"],
  boolean: [Predicate.isBoolean, "a boolean, true or false"],
  object: [(value) => obj(value) !== undefined, "an object"],
  position: [(value) => Array.isArray(value) && value.length === 2 && value.every(isNumber), "[x, y], two numbers"]
}

export const holds = ({ kind, values }: NodeKey, value: unknown): boolean =>
  values === undefined ? kinds[kind][0](value) : values.some((each) => each === value)

/** Describes the valid values of the key: `a number`. */
export const words = ({ kind, values }: NodeKey): string => values?.join(", ") ?? kinds[kind][1]
