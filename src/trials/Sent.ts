/**
 * Addresses and parameters that a node sent for its input items, or, where it was pinned, would have sent, as far as
 * n8n's records determine them.
 *
 * **Gotchas**
 *
 * A run that failed may not have sent the items after the one at which it failed.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Interpreter from "../base/Interpreter.ts"
import * as JavaScript from "../base/JavaScript.ts"
import { defined, type Obj, obj, str, without } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import * as Code from "../catalogue/code/Code.ts"
import { hasExpression, type Sending, type Shape, verbs } from "../catalogue/parameters/Sending.ts"
import type * as Execution from "../executions/Execution.ts"
import * as ItemDifferences from "../executions/ItemDifferences.ts"
import * as ResolvedParameters from "../executions/ResolvedParameters.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import * as References from "../workflow/References.ts"
import firstItem from "./firstItem.json" with { type: "json" }

/** Address and parameters that were sent for an item. */
export interface Entry {
  /** Position of the item in the node's first input. */
  readonly item: number
  /** Target, such as `POST https://x.example/orders?no=7`; absent if it is not determined. */
  readonly address?: string
  /** Other parameters without defaults; those in `unresolved` as written. */
  readonly values: Obj
  readonly unresolved: ReadonlyArray<ResolvedParameters.Unresolved>
  /** All parameters, those as their values that are resolved; as they are written; and those in the address. */
  readonly whole: { readonly values: Obj; readonly written: Obj; readonly addressed: ReadonlyArray<string> }
  /** Names or ids of the credentials by their types. */
  readonly credentials: Obj
}

export interface Options extends ResolvedParameters.Subject {
  /** Reduction of the node's parameters by its type: `Sending.of(type, node)`. */
  readonly sending: Sending
  readonly limit: number
  readonly offset?: number
}

/** Parameters that nodes read from the first item only, at least in some operations, by the end of their type. */
const ofFirst: { readonly [type: string]: string } = firstItem

const queries = ["queryParameters", "jsonQuery", "queryParametersUi", "queryParametersJson"]

const isScalar = (value: unknown) => ["string", "number", "boolean"].includes(typeof value)

const queryOf = (value: unknown): Obj | undefined => {
  const query = typeof value === "string" ? parsed(value) : value
  return obj(query) !== undefined && Object.values(query as Obj).every(isScalar) ? query as Obj : undefined
}

const encoded = (text: string) => text.split(Redact.marker).map(encodeURIComponent).join(Redact.marker)

const addressOf = (type: string, { targets }: Shape, values: Obj): string => {
  if (type.endsWith(".respondToWebhook")) {
    const code = obj(values["options"])?.["responseCode"] ?? (values["respondWith"] === "redirect" ? 307 : 200)
    return ["response", code, ...targets.map((name) => values[name])].join(" ")
  }
  const target = targets.map((name) => typeof values[name] === "string" ? values[name].trim() : values[name])
  const query = queries.flatMap((name) => Object.entries(queryOf(values[name]) ?? {}))
    .map(([name, value]) => `${encoded(name)}=${encoded(String(value))}`).join("&")
  const text = [...verbs.map((name) => values[name]), ...target]
    .flatMap((word) => isScalar(word) && word !== "" ? [String(word)] : []).join(" ")
  return query === "" ? text : `${text}${text.includes("?") ? "&" : "?"}${query}`
}

/** Names of the parameters in the address; `undefined` if one of them is not resolved, or not plain. */
const addressed = (
  type: string,
  { targets }: Shape,
  values: Obj,
  unresolved: ReadonlyArray<{ readonly path: string }>
) => {
  const isOpen = (name: string) => unresolved.some(({ path }) => JsonPath.isWithin(path, JsonPath.member("", name)))
  const isRespond = type.endsWith(".respondToWebhook")
  const names = isRespond ? targets : [...verbs, ...targets].filter((name) => values[name] !== undefined)
  if (names.some((name) => isOpen(name) || !isScalar(values[name])) || isRespond && isOpen("options")) return undefined
  const isHttp = values["url"] !== undefined
  return [...names, ...(isHttp ? queries.filter((name) => !isOpen(name) && queryOf(values[name])) : [])]
}

const credentialsOf = ({ credentials }: Node, key: "id" | "name"): Obj =>
  Object.fromEntries(References.ofNode({ credentials }).map((each) => [each.type, each[key] ?? each.name]))

/** Number of entries of a run, whatever the limit. */
export const count = (execution: Execution.Execution, options: Pick<Options, "node" | "run" | "sending">): number => {
  const items = ResolvedParameters.itemCount(execution, options)
  return options.sending.shaped({}).isOnce ? 1 : Math.max(1, items)
}

const itemsPerTurn = 50

/** Prepares the reading of what a run of a node sent, by item. */
const reader = (interpreter: Interpreter.Interpreter, execution: Execution.Execution, options: Options) => {
  const { node, redacts } = options
  const evaluate = ResolvedParameters.evaluator(interpreter, execution, options)
  const { deciding, shaped } = options.sending
  const parameters = obj(node.parameters) ?? {}
  const credentials = credentialsOf(node, redacts ? "name" : "id")
  const clean = <A>(value: A): A => redacts ? Redact.redact(value) : value
  const valueOf = (value: unknown, item: number, unresolved: Array<ResolvedParameters.Unresolved> = []) =>
    ResolvedParameters.replaced(value, (expression) => evaluate(expression, item), unresolved, undefined)
  const shapeAt = (item: number) => {
    if (deciding.length === 0) return shaped({})
    const values = deciding.map((name) => [name, valueOf(parameters[name], item)] as const)
    return shaped(Object.fromEntries(values.filter(([, value]) => isScalar(value) && !hasExpression(value))))
  }
  const fixed = ofFirst[node.type.replace(/^.*\.|Tool$/g, "")]?.split(" ") ?? []
  const firsts = new Map(
    fixed.filter((name) => hasExpression(shapeAt(0).values[name]))
      .map((name) => [name, valueOf(shapeAt(0).values[name], 0)])
  )
  return (item: number): Entry => {
    const shape = shapeAt(item)
    const unresolved: Array<ResolvedParameters.Unresolved> = []
    const resolved = valueOf(shape.values, item, unresolved) as Obj
    for (const [name, first] of firsts) {
      if (Equal.equals(first, resolved[name])) continue
      unresolved.push({ path: JsonPath.member("", name), reason: "the node may read it for the first item only" })
    }
    const open = [...unresolved, ...shape.open.filter(({ path }) => unresolved.every((each) => each.path !== path))]
    const written = clean(shape.values)
    const values = asWritten(clean(resolved), written, open.map(({ path }) => path))
    const names = addressed(node.type, shape, resolved, open)
    const address = names && addressOf(node.type, { ...shape, targets: shape.targets }, only(values, names))
    return {
      ...defined({ item, address: (redacts ? address && Redact.redactText(address) : address) || undefined }),
      values: without(values, (_, name) => names?.includes(name) === true),
      unresolved: open,
      whole: { values, written, addressed: names ?? [] },
      credentials
    }
  }
}

/** Parameters with the places at these paths as they are written. */
const asWritten = (values: Obj, written: Obj, paths: Iterable<string>): Obj =>
  [...paths].reduce((values, path) => {
    const steps = JsonPath.parse(path) ?? []
    const text = JsonPath.get(written, steps)
    return text === undefined ? values : JsonPath.modify(values, steps, () => text) as Obj
  }, values)

/** Lists what a run of a node sent, by item; a node that runs once for all items has one entry. */
export const of = Effect.fnUntraced(function*(execution: Execution.Execution, options: Options) {
  const { limit, offset = 0 } = options
  const entryOf = reader(yield* Interpreter.load, execution, options)
  const end = Math.min(count(execution, options), offset + limit)
  const entries: Array<Entry> = []
  for (let item = offset; item < end; item++) {
    if ((item - offset) % itemsPerTurn === itemsPerTurn - 1) yield* Effect.yieldNow
    entries.push(entryOf(item))
  }
  return entries as ReadonlyArray<Entry>
})

/** Parameters that form an address. */
const only = (values: Obj, names: ReadonlyArray<string>): Obj =>
  without(values, (_, name) => !names.includes(name) && name !== "options" && name !== "respondWith")

const parsed = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const opened = (value: unknown): unknown => JsonPath.mapStrings(value, (text) => parsed(text) ?? text)

const splitAddress = (address: unknown) => {
  const [, status, to] = /^response (\S+)(?: (.*))?$/s.exec(str(address) ?? "") ?? []
  if (status !== undefined) return defined({ status, to })
  const [head = "", query] = (str(address) ?? "").split(/\?(.*)/s)
  return /^\w+ https?:/.test(head) && query !== undefined
    ? { address: head, query: Object.fromEntries(new URLSearchParams(query)) }
    : { address }
}

type Pair = readonly [then: Entry | undefined, now: Entry | undefined]

/** Returns the parameters of the later side with the code of the former where it does the same. */
type Aligned = (values: Obj, former: unknown) => Obj

/** Address with the code of the former one where both do the same, such as a query. */
const addressLike = (
  { whole: former }: Entry,
  { address = "", whole: { addressed, values } }: Entry,
  aligned: Aligned
) => {
  const own = only(values, addressed)
  return Object.entries(aligned(own, former.values)).reduce(
    (text, [name, value]) =>
      value === own[name] ? text : text.replace(String(own[name]).trim(), () => String(value).trim()),
    address
  )
}

/** Values to compare, with their paths: addresses if both sides have one, credentials, parameters; or a whole side. */
const parts = (
  pair: Pair,
  aligned: Aligned
): ReadonlyArray<readonly [path: string, before: unknown, after: unknown]> => {
  const [then, now] = pair
  if (then === undefined || now === undefined) {
    const whole = (entry: Entry | undefined) => entry && (entry.address ?? entry.whole.values)
    return [["item", whole(then), whole(now)]]
  }
  const open = new Set([...then.unresolved, ...now.unresolved].map(({ path }) => path))
  const hasAddresses = then.address !== undefined && now.address !== undefined
  const parameters = ({ whole: { addressed, values, written } }: Entry) => {
    const all = asWritten(values, written, open)
    if (!hasAddresses) return opened(all)
    const { options, ...rest } = without(all, (_, name) => addressed.includes(name))
    // The status is in the address.
    const others = then.address?.startsWith("response ") === true
      ? without(obj(options) ?? {}, (_, name) => name === "responseCode")
      : options
    return opened(defined({ ...rest, options: others }))
  }
  const before = parameters(then)
  return [
    ...hasAddresses ? [["", splitAddress(then.address), splitAddress(addressLike(then, now, aligned))] as const] : [],
    ["credentials", then.credentials, now.credentials],
    ["", before, aligned(obj(parameters(now)) ?? {}, before)]
  ]
}

/** Differences of what was sent for an item. */
interface ItemDifference {
  readonly item: number
  readonly changes: ReadonlyArray<ItemDifferences.Change>
}

/** A run of a node, and how to read what it sent. */
export interface Sender extends Options {
  readonly execution: Execution.Execution
}

/**
 * Compares what one run sent with what another would send, item by item. Where a value is not determined, the expressions
 * are compared: equal ones are no difference, as the caller knows whether their inputs were equal.
 */
export const differences = Effect.fnUntraced(function*(then: Sender, now: Sender) {
  const interpreter = yield* Interpreter.load
  const { code } = now.sending
  const parse = code.size === 0 ? () => undefined : yield* JavaScript.parser
  const aligned: Aligned = (values, former) => Code.aligned(code, values, former, parse)
  const pairs = (redacts: boolean) => {
    const [before, after] = [then, now].map((side) => {
      const entryOf = reader(interpreter, side.execution, { ...side, redacts })
      const total = Math.min(side.limit, count(side.execution, side))
      return (item: number) => item < total ? entryOf(item) : undefined
    })
    return (item: number): Pair => [before?.(item), after?.(item)]
  }
  const [stored, shown] = [pairs(false), pairs(then.redacts)]
  const all: Array<ItemDifference> = []
  for (let item = 0;; item++) {
    if (item % itemsPerTurn === itemsPerTurn - 1) yield* Effect.yieldNow
    const pair = stored(item)
    if (pair.every((entry) => entry === undefined)) return all
    const changes = parts(pair, aligned).flatMap(([path, before, after], index, { length }) => {
      // A part that readers do not see is hidden.
      const seen = (side: 1 | 2) => () => parts(shown(item), aligned).at(index - length)?.[side]
      return ItemDifferences.changes(Redact.whole(before, seen(1)), Redact.whole(after, seen(2)), path)
    })
    if (changes.length > 0) all.push({ item, changes })
  }
})
