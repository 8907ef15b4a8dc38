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
import { at, type Both, nothing } from "../base/Difference.ts"
import * as Interpreter from "../base/Interpreter.ts"
import { defined, equals, type Obj, obj, str, without } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import { hasExpression, type Sending, type Shape, verbs } from "../catalogue/parameters/Sending.ts"
import type * as Execution from "../executions/Execution.ts"
import { type Difference, differences as differencesOf } from "../executions/ItemDifferences.ts"
import * as ResolvedParameters from "../executions/ResolvedParameters.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import * as References from "../workflow/References.ts"
import firstItem from "./firstItem.json" with { type: "json" }

/** Stored values, for comparisons only: they may contain secrets. Serializers ignore symbols. */
const compared: unique symbol = Symbol("compared")

interface Compared {
  readonly address: Both | undefined
  readonly values: Both
  readonly written: Obj
  readonly names: ReadonlyArray<string>
  readonly credentials: Both
}

/** Address and parameters that were sent for an item. */
export interface Entry {
  /** Position of the item in the node's first input. */
  readonly item: number
  /** Target, such as `POST https://x.example/orders?no=7`; absent if it is not determined. */
  readonly address?: string
  /** Other parameters without defaults; those in `unresolved` as written. */
  readonly values: Obj
  readonly unresolved: ReadonlyArray<ResolvedParameters.Unresolved>
  readonly [compared]: Compared
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

const credentialsOf = ({ credentials }: Node): Both => {
  const of = (key: "id" | "name") =>
    Object.fromEntries(References.ofNode({ credentials }).map((each) => [each.type, each[key] ?? each.name]))
  return { stored: of("id"), shown: of("name") }
}

/** Number of entries of a run, whatever the limit. */
export const count = (execution: Execution.Execution, options: Pick<Options, "node" | "run" | "sending">): number => {
  const items = ResolvedParameters.itemCount(execution, options)
  return options.sending.shaped({}).isOnce ? 1 : Math.max(1, items)
}

const itemsPerTurn = 50

/** Lists what a run of a node sent, by item; a node that runs once for all items has one entry. */
export const of = Effect.fnUntraced(function*(execution: Execution.Execution, options: Options) {
  const { limit, node, offset = 0, redacts } = options
  const evaluate = ResolvedParameters.evaluator(yield* Interpreter.load, execution, options)
  const { deciding, shaped } = options.sending
  const parameters = obj(node.parameters) ?? {}
  const credentials = credentialsOf(node)
  const total = count(execution, options)
  const valueOf = (value: unknown, item: number, unresolved: Array<ResolvedParameters.Unresolved> = []) =>
    ResolvedParameters.replaced(value, (expression) => evaluate(expression, item), unresolved, undefined)
  const shapeAt = (item: number) => {
    if (deciding.length === 0) return shaped({})
    const values = deciding.map((name) => [name, valueOf(parameters[name], item).stored] as const)
    return shaped(Object.fromEntries(values.filter(([, value]) => isScalar(value) && !hasExpression(value))))
  }
  const fixed = ofFirst[node.type.replace(/^.*\.|Tool$/g, "")]?.split(" ") ?? []
  const firsts = new Map(
    fixed.filter((name) => hasExpression(shapeAt(0).values[name]))
      .map((name) => [name, valueOf(shapeAt(0).values[name], 0).stored])
  )
  const entryOf = (item: number): Entry => {
    const shape = shapeAt(item)
    const unresolved: Array<ResolvedParameters.Unresolved> = []
    const values = valueOf(shape.values, item, unresolved)
    const stored = values.stored as Obj
    for (const [name, first] of firsts) {
      if (Equal.equals(first, stored[name])) continue
      unresolved.push({ path: JsonPath.member("", name), reason: "the node may read it for the first item only" })
    }
    const open = [...unresolved, ...shape.open.filter(({ path }) => unresolved.every((each) => each.path !== path))]
    const clean = redacts ? Redact.redact(values.shown) : values.shown
    const written = open.length === 0 ? {} : redacts ? Redact.redact(shape.values) : shape.values
    const shown = open.reduce<unknown>((value, { path }) => {
      const steps = JsonPath.parse(path) ?? []
      return JsonPath.modify(value, steps, () => JsonPath.get(written, steps))
    }, clean) as Obj
    const names = addressed(node.type, shape, stored, open)
    const textOf = (side: Obj) => addressOf(node.type, { ...shape, targets: shape.targets }, only(side, names ?? []))
    const address = names && { stored: textOf(stored), shown: textOf(obj(values.shown) ?? {}) }
    const text = address && (redacts ? Redact.redactText(address.shown) : address.shown)
    return {
      ...defined({ item, address: text === "" ? undefined : text }),
      values: without(shown, (_, name) => names?.includes(name) === true),
      unresolved: open,
      [compared]: {
        address: address && { ...address, shown: text },
        values: { stored, shown },
        written: shape.values,
        names: names ?? [],
        credentials
      }
    }
  }
  const entries: Array<Entry> = []
  for (let item = offset; item < Math.min(total, offset + limit); item++) {
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

const bothOf = (value: Both, change: (value: unknown) => unknown): Both => ({
  stored: change(value.stored),
  shown: change(value.shown)
})

const splitAddress = (address: unknown) => {
  const [head = "", query] = (str(address) ?? "").split(/\?(.*)/s)
  return /^\w+ https?:/.test(head) && query !== undefined
    ? { address: head, query: Object.fromEntries(new URLSearchParams(query)) }
    : { address }
}

/** Difference of what was sent for an item; `reason` where the values are not determined and the expressions differ. */
interface SentDifference extends Difference {
  readonly item: number
  readonly reason?: string
}

const differencesOfEntries = (then: Entry, now: Entry): ReadonlyArray<SentDifference> => {
  const [before, after] = [then[compared], now[compared]]
  const { item } = now
  const hasAddresses = before.address !== undefined && after.address !== undefined
  const side = ({ names, values }: Compared): Both =>
    bothOf(
      values,
      (value) => opened(hasAddresses ? without(obj(value) ?? {}, (_, name) => names.includes(name)) : value)
    )
  const all = [
    ...before.address === undefined || after.address === undefined
      ? []
      : differencesOf(bothOf(before.address, splitAddress), bothOf(after.address, splitAddress), ""),
    ...differencesOf(before.credentials, after.credentials, "credentials"),
    ...differencesOf(side(before), side(after), "")
  ]
  const open = new Map([...then.unresolved, ...now.unresolved].map(({ path, reason }) => [path, reason]))
  const undetermined = [...open].flatMap(([path, reason]): ReadonlyArray<SentDifference> => {
    const steps = JsonPath.parse(path) ?? []
    const [left, right] = [JsonPath.get(before.written, steps), JsonPath.get(after.written, steps)]
    if (equals(left, right) || all.some((each) => each.path !== path && JsonPath.isWithin(path, each.path))) return []
    return [{ item, path, before: at(before.values, steps), after: at(after.values, steps), reason }]
  })
  return [
    ...all.filter((each) => ![...open.keys()].some((path) => JsonPath.isWithin(each.path, path)))
      .map((each) => ({ ...each, item })),
    ...undetermined
  ]
}

/**
 * Compares what one run sent with what another would send, item by item. Where a value is not determined, the expressions are
 * compared: equal ones are no difference, as the caller knows whether their inputs were equal.
 */
export const differences = (
  then: ReadonlyArray<Entry>,
  now: ReadonlyArray<Entry>
): ReadonlyArray<SentDifference> => {
  const byItem = new Map(then.map((each) => [each.item, each]))
  const later = new Set(now.map(({ item }) => item))
  const whole = (entry: Entry): Both => entry[compared].address ?? entry[compared].values
  return [
    ...now.flatMap((each) => {
      const before = byItem.get(each.item)
      return before === undefined
        ? [{ item: each.item, path: "item", before: nothing, after: whole(each) }]
        : differencesOfEntries(before, each)
    }),
    ...then.filter(({ item }) => !later.has(item))
      .map((each) => ({ item: each.item, path: "item", before: whole(each), after: nothing }))
  ]
}
