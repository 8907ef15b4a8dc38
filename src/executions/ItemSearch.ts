/** Search for items of an execution that meet a condition, in one pass that retains only the matches. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Result from "effect/Result"
import type * as Interpreter from "../base/Interpreter.ts"
import { type Obj, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import { inAnyCase } from "../base/LinearSearch.ts"
import * as Redact from "../base/Redact.ts"
import * as Execution from "./Execution.ts"
import * as ItemView from "./ItemView.ts"
import { members, needleOf, type Wanted } from "./jsonPick.ts"

/** Condition on items, which sees an item as readers do, with secrets redacted. */
export interface Condition {
  readonly text?: string | undefined
  readonly where?: Interpreter.Predicate | undefined
}

export interface Match {
  readonly slot: Execution.Slot
  readonly index: number
  readonly position: number
  readonly item: Execution.Item
}

/** Outputs of nodes, in the order in which they ran. */
export const outputs = (
  execution: Execution.Execution,
  nodes?: ReadonlyArray<string>
): ReadonlyArray<Execution.Part> =>
  [...execution.runs]
    .filter(([node]) => nodes === undefined || nodes.includes(node))
    .flatMap(([node, runs]) => runs.map((run) => ({ node, run })))
    .toSorted((a, b) => Execution.byOrder(a.run, b.run))
    .flatMap(({ node, run }) => Execution.outputSlots(node, run))

const maxSamples = 12

export const samples = (execution: Execution.Execution, slot: Execution.Slot, limit: number, redacts: boolean) =>
  execution.items(slot, 0, limit).map((stored) => {
    const json = obj(stored)?.["json"]
    return redacts ? Redact.redact(json) : json
  })

/** First item of each of the last nodes. */
export const firstItems = (execution: Execution.Execution, slots: ReadonlyArray<Execution.Part>, redacts: boolean) =>
  [...new Map(slots.map(({ slot }) => [slot.node, slot])).values()].toReversed().slice(0, maxSamples)
    .flatMap((slot) => samples(execution, slot, 1, redacts))

/** Notes on a result: fields that no item has, failures of the expression, or why nothing matched. */
export const notes = (
  { absent, failed, failure, matched, passesSecrets, redacted, scanned, values }: Totals,
  { isFoundElsewhere, samples }: { readonly isFoundElsewhere: boolean; readonly samples: () => ReadonlyArray<unknown> }
): ReadonlyArray<ItemView.Note> => [
  failure && `where does not fit ${failed === scanned ? "any" : failed} of ${scanned} items: ${failure.message}.`,
  redacted.length > 0 && `where compares ${redacted.join(", ")} as ${Redact.marker}: secrets cannot be compared.`,
  passesSecrets && "Secrets are redacted, and text is not searched for in them.",
  absent.length > 0
    ? ItemView.missingNote(absent, samples())
    : matched === 0 && failed === 0 && scanned > 0 && !isFoundElsewhere && ItemView.noMatch(values)
]

const sightings = (reads: ReadonlyArray<JsonPath.Path>) => {
  const missing = new Set(reads)
  const redacted = new Set<string>()
  const values: Array<readonly [path: string, value: unknown]> = []
  let isLooked = false
  return {
    look: (json: Obj, hasSecrets: boolean) => {
      isLooked = true
      for (const steps of missing) {
        const value = JsonPath.get(json, steps)
        if (value === undefined) continue
        missing.delete(steps)
        if (typeof value !== "object" || value === null) values.push([JsonPath.print(steps), value])
      }
      if (!hasSecrets) return
      for (const steps of reads) {
        const value = JsonPath.get(json, steps)
        if (typeof value === "string" && value.includes(Redact.marker)) redacted.add(JsonPath.print(steps))
      }
    },
    /** Paths at which an item has a redacted value. */
    redacted,
    values,
    /** Outermost paths that no item has. */
    absent: () => {
      const paths = isLooked ? [...missing].map((path) => JsonPath.print(path)) : []
      return paths.filter((path) => !paths.some((other) => other !== path && JsonPath.isWithin(path, other)))
    }
  }
}

/** The first matches: in order, or spread: the first of each node, then the second ones. */
const collection = (limit: number, isSpread: boolean) => {
  const all: Array<Match> = []
  const byNode = new Map<string, number>()
  /** Node of which no match would be added, until one of another is. */
  let complete: string | undefined
  const count = (node: string, by: number) => byNode.set(node, (byNode.get(node) ?? 0) + by)
  return {
    ranked: () => {
      const ranks = new Map<string, number>()
      return all.map((match) => {
        const rank = isSpread ? ranks.get(match.slot.node) ?? 0 : 0
        ranks.set(match.slot.node, rank + 1)
        return { match, rank }
      }).toSorted((a, b) => a.rank - b.rank).map(({ match }) => match)
    },
    /** Whether a match of this node would be added. */
    takes: (node: string) => {
      if (node === complete) return false
      const takes = all.length < limit || isSpread && (byNode.get(node) ?? 0) + 1 < Math.max(...byNode.values())
      if (!takes) complete = node
      return takes
    },
    add: (match: Match) => {
      complete = undefined
      if (all.length >= limit) {
        const most = Math.max(...byNode.values())
        const [last] = all.splice(all.findLastIndex(({ slot }) => byNode.get(slot.node) === most), 1)
        if (last !== undefined) count(last.slot.node, -1)
      }
      all.push(match)
      count(match.slot.node, 1)
    }
  }
}

/** Whether JSON writes a text unchanged, so that it can be searched for before parsing. */
const isPlain = (needle: string) => !/["\\/\p{Cc}]/u.test(needle)

/** Characters of JSON, and milliseconds, after which a pass yields. */
const yieldEvery = { characters: 1_000_000, millis: 20 }

const haveSecrets = Effect.fnUntraced(function*(execution: Execution.Execution, slots: Options["slots"]) {
  for (const { slot } of slots) {
    for (const segment of execution.segments(slot)) {
      yield* Effect.yieldNow
      const redact = segment.redactor()
      if (redact === identity) continue
      const jsons = segment.items().map((stored) => obj(stored)?.["json"])
      if (jsons.some((json) => redact(json) !== json)) return true
    }
  }
  return false
})

/** Whether an item may have a key that redaction neither makes nor replaces. */
const isStable = (key: JsonPath.Step) =>
  !String(key).includes(Redact.marker) && Object.hasOwn(Redact.redact({ [key]: 0 }), key)

/** Names of credentials that hide what is beside them: as a whole, or each of its parts. */
const secretNames = ["password", "secrets"]

/** Whether redaction changes a text at a path only for what it contains, whatever is beside it. */
const isOpen = (path: JsonPath.Path) =>
  secretNames.every((name) => {
    const item = path.reduceRight<unknown>(
      (value, step) => typeof step === "number" ? [`--${name}`, value] : { name, [step]: value },
      "probe"
    )
    return Redact.redact(item) === item
  })

/** Place in items, with the places in it; all elements of a list are at one. */
interface Place {
  readonly path: JsonPath.Path
  readonly inner: Map<JsonPath.Step, Place>
  isOpen: boolean | undefined
}

/** Maximum number of places that are remembered: items may have ids as keys. */
const maxPlaces = 1_000

/** Answer to whether a key or scalar of a value meets a test: none does, or one that redaction certainly leaves, or may not. */
type Hit = "none" | "open" | "hidden"

/** Returns how values meet a test. */
const hits = (isIn: (text: string) => boolean, redacts: boolean) => {
  const root: Place = { path: [], inner: new Map(), isOpen: false }
  const unknown: Place = { path: [], inner: new Map(), isOpen: false }
  let count = 0
  const innerOf = ({ inner, path }: Place, step: JsonPath.Step) => {
    const known = inner.get(step)
    if (known !== undefined || count >= maxPlaces) return known ?? unknown
    count++
    const place: Place = { path: [...path, step], inner: new Map(), isOpen: undefined }
    inner.set(step, place)
    return place
  }
  return (value: unknown): Hit => {
    const work: Array<readonly [value: unknown, place: Place]> = [[value, root]]
    let hit: Hit = "none"
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const [at, place] = next
      if (typeof at === "object" && at !== null) {
        const isList = Array.isArray(at)
        for (const [key, inner] of Object.entries(at)) {
          if (!isList && isIn(key)) hit = "hidden"
          if (inner !== null && inner !== undefined) work.push([inner, innerOf(place, isList ? 0 : key)])
        }
      } else if (isIn(String(at))) {
        // Only texts are secrets.
        if (!redacts || typeof at !== "string") return "open"
        place.isOpen ??= place.path.every(isStable) && isOpen(place.path)
        if (place.isOpen && Redact.redactText(at) === at) return "open"
        hit = "hidden"
      }
    }
    return hit
  }
}

/**
 * Whether a condition certainly sees the same before redaction, which changes only strings and keys like secrets: it
 * names all places that it reads, and redaction changes none of their values.
 */
const seesNoSecret = ({ mayRead, reads, uses, usesWhole }: Interpreter.Predicate) => {
  const canTell = !usesWhole && reads.every((steps) => steps.every(isStable))
  const [used, open] = [new Set(uses), new Set(reads.filter(isOpen))]
  const lacksAll = (value: unknown, names: ReadonlyArray<string>) =>
    names.every((name) => !Object.hasOwn(obj(value) ?? {}, name))
  const lengths = mayRead.filter((name) => name === "length")
  return (json: unknown) =>
    canTell && lacksAll(json, mayRead) && reads.every((steps) => {
      const value = JsonPath.get(json, steps)
      if (!lacksAll(value, lengths)) return false
      if (typeof value === "string") return open.has(steps) && Redact.redactText(value) === value
      return typeof value !== "object" || value === null || !used.has(steps)
    })
}

type Paths = ReadonlyArray<JsonPath.Path>

/** Members at paths, and `others`; of an object that is not used itself only those that are. */
const membersAt = (reads: Paths, uses: Paths, others: ReadonlyArray<string>): Wanted => {
  const below = (paths: Paths, name: string) =>
    paths.flatMap(([first, ...rest]) => String(first) === name && rest.length > 0 ? [rest] : [])
  const isUsed = (name: string) => uses.some(([first, ...rest]) => String(first) === name && rest.length === 0)
  const names = new Set(reads.map(([first]) => String(first)))
  return Object.fromEntries([
    ...[...names].map((name) => {
      const inner = below(reads, name)
      const isWhole = isUsed(name) || inner.length === 0
      return [name, isWhole ? true : membersAt(inner, below(uses, name), ["length"])] as const
    }),
    ...others.map((name) => [name, true] as const)
  ])
}

/** Members of an item that a condition may read; `undefined` if it reads all. */
const membersOf = ({ mayRead, reads, uses, usesWhole }: Interpreter.Predicate) =>
  usesWhole ? undefined : members({ json: membersAt(reads, uses, mayRead) })

const jsonOf = (stored: unknown) => obj(stored)?.["json"] ?? {}

export interface Options {
  readonly slots: ReadonlyArray<Execution.Part>
  /** Number of matches to skip, in their order. */
  readonly offset?: number | undefined
  readonly limit: number
  /** Whether the first match of each node comes first, then the second ones. Default: in the order of the slots. */
  readonly spreads?: boolean | undefined
  readonly redacts: boolean
}

export const search = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  { text, where }: Condition,
  { limit, offset = 0, redacts, slots, spreads = false }: Options
) {
  const needle = text?.toLowerCase()
  const isIn = inAnyCase(needle ?? "")
  // Redaction adds nothing but its marks, so that what is not in a stored item is not in the one that readers see.
  const isStored = needle !== undefined && !(redacts && Redact.occursInMarker(needle))
  const mayMatch = (json: string) => !isStored || !isPlain(needle) || isIn(json) || json.includes("\\u")
  const matched = new Map<string, number>()
  // Which ones a spread skips is known only at its end.
  const skip = spreads ? 0 : offset
  const matches = collection(offset - skip + limit, spreads)
  const seen = sightings(where?.reads ?? [])
  const hitOf = hits(isIn, redacts)
  const fieldsRead = needle === undefined && where !== undefined ? membersOf(where) : undefined
  const written = isStored && where === undefined ? needleOf(needle) : undefined
  // Whether the next items are needed with all of their fields.
  let isWhole = false
  const isUnaffected = needle === undefined && where !== undefined ? seesNoSecret(where) : () => false
  let matchCount = 0
  let failed = 0
  let failure: Interpreter.Problem | undefined
  const clock = yield* Clock.Clock
  let characters = 0
  let since = clock.currentTimeMillisUnsafe()
  let before = 0
  for (const { count, slot } of slots) {
    for (const segment of execution.segments(slot)) {
      characters += segment.bytes
      if (characters > yieldEvery.characters) {
        characters = 0
        yield* Effect.yieldNow
      }
      let known: ReturnType<typeof segment.redactor> | undefined
      const redactor = () => known ??= redacts ? segment.redactor() : identity
      const redact = <A>(value: A): A => redactor()(value)
      const parts = isWhole
        ? undefined
        : fieldsRead !== undefined
        ? segment.pick(fieldsRead)
        : written && segment.pickText(written)
      isWhole = false
      if (parts === undefined && isStored && !mayMatch(segment.text)) continue
      let all = parts === undefined ? segment.items() : undefined
      for (const [place, part] of (parts ?? all ?? []).entries()) {
        if (clock.currentTimeMillisUnsafe() - since > yieldEvery.millis) {
          yield* Effect.yieldNow
          since = clock.currentTimeMillisUnsafe()
        }
        const hit = isStored ? hitOf(jsonOf(part)) : "hidden"
        if (hit === "none") continue
        const isOpen = hit === "open" || isUnaffected(jsonOf(part)) || redactor() === identity
        // What redaction changes may depend on what is beside it, as it probably will in the next items.
        if (!isOpen) {
          all ??= segment.items()
          isWhole = true
        }
        const stored = all?.[place]
        const whole = jsonOf(stored ?? part)
        const json = isOpen ? whole : redact(whole)
        if (needle !== undefined && !(isStored && json === whole) && hitOf(json) === "none") continue
        const fields = obj(json) ?? {}
        seen.look(fields, json !== whole)
        const isMatch = where?.(fields) ?? Result.succeed(true)
        if (Result.isFailure(isMatch)) {
          // Only a problem of type is the item's.
          if (isMatch.failure.kind !== "type") return yield* isMatch.failure
          failed++
          failure ??= isMatch.failure
          continue
        }
        if (!isMatch.success) continue
        matchCount++
        matched.set(slot.node, (matched.get(slot.node) ?? 0) + 1)
        if (matchCount <= skip || !matches.takes(slot.node)) continue
        const index = segment.first + place
        matches.add({
          slot,
          index,
          position: before + index,
          // Few are shown, and redaction takes longer than the search.
          get item() {
            const item = stored ?? execution.items(slot, index, 1)[0]
            return Execution.item({ ...obj(item), json: json === whole ? redact(jsonOf(item)) : json })
          }
        })
      }
    }
    before += count
  }
  return {
    matched: matchCount,
    scanned: before,
    // Number of items on which the expression failed, such as for a missing method, and the problem of the first.
    failed,
    failure,
    // Paths in the expression that no item has, those at which an item has a redacted value, and first values at others.
    absent: seen.absent(),
    redacted: [...seen.redacted],
    values: seen.values,
    // Whether no item contains the text, but some have redacted values.
    passesSecrets: matchCount === 0 && redacts && needle !== undefined && (yield* haveSecrets(execution, slots)),
    nodes: [...matched].map(([node, count]) => ({ node, matched: count })),
    matches: matches.ranked().slice(offset - skip)
  }
})

export type Found = Effect.Success<ReturnType<typeof search>>

export type Totals = Omit<Found, "nodes" | "matches">

/** Totals of a search that looked at no item. */
export const none: Totals = {
  matched: 0,
  scanned: 0,
  failed: 0,
  failure: undefined,
  absent: [],
  redacted: [],
  values: [],
  passesSecrets: false
}
