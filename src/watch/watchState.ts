/**
 * State of a watch: one document for each n8n and API key, which one poll at a time replaces, and marks beside it.
 *
 * A poll owns the time slot that it starts in: `slot.T` claims it, and `sent.T` or `done.T` ends it, with or without its
 * incidents delivered. While a slot is neither over nor too old, no other watcher polls.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { gunzipSync, gzipSync } from "node:zlib"
import { Documents } from "../base/Documents.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { credentials, Memory } from "./detect/Detectors.ts"
import { Incident } from "./Incident.ts"
import { Run } from "./Observation.ts"

/** Format of the state; one of another release is not read. */
export const format = 2

/** Execution that had not ended, or an assigned id that n8n does not list yet. */
const Open = Schema.Struct({
  id: Schema.String,
  /** Absent while only its id is known. */
  run: Schema.optionalKey(Run),
  /** Number of polls that have looked for it. */
  polls: Schema.Finite,
  waitTill: Schema.optionalKey(Schema.Finite)
})
export type Open = typeof Open.Type

const Entry = Schema.Struct({
  name: Schema.String,
  isPublished: Schema.Boolean,
  isArchived: Schema.optionalKey(Schema.Boolean),
  version: Schema.optionalKey(Schema.String),
  /** Time at which that version was saved, at the latest when it was published. */
  savedAt: Schema.optionalKey(Schema.Finite),
  liveSince: Schema.Finite,
  /** Time at which a different version was first seen. */
  changedAt: Schema.optionalKey(Schema.Finite),
  /** Triggers only. */
  nodes: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  settings: Schema.optionalKey(Schema.Unknown),
  staticData: Schema.optionalKey(Schema.Unknown),
  tags: Schema.Array(Schema.String),
  credentials: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, type: Schema.String })),
  /** Latest round of the list that included it. */
  round: Schema.Finite,
  /** Number of crashed runs in a row, up to the last run. */
  crashes: Schema.optionalKey(Schema.Finite),
  /** Whether a successful run was seen. */
  saves: Schema.optionalKey(Schema.Boolean),
  judgedTo: Schema.optionalKey(Schema.Finite),
  memory: Schema.optionalKey(Memory),
  /** Time before which its runs' data is not read, because it is large. */
  sampleAfter: Schema.optionalKey(Schema.Finite)
})
export type Entry = typeof Entry.Type

export const State = Schema.Struct({
  format: Schema.Literal(format),
  /** First start of the watch. */
  since: Schema.Finite,
  polledAt: Schema.Finite,
  /** Time before which no poll starts, because n8n is slow. */
  notBefore: Schema.optionalKey(Schema.Finite),
  interval: Schema.optionalKey(Schema.Finite),
  /** Highest id of an execution that was seen. */
  top: Schema.Finite,
  /** Time since which all saved runs were seen. */
  seenFrom: Schema.Finite,
  /** Number of runs of the last poll. */
  fresh: Schema.Finite,
  open: Schema.Array(Open),
  /** Failed runs that are still to be read. */
  unread: Schema.Array(Run),
  /** Runs of workflows that are not listed yet. */
  unlisted: Schema.Array(Run),
  workflows: Schema.Record(Schema.String, Entry),
  /** The list of workflows: when its last round began, how long n8n took, and where an unfinished round continues. */
  list: Schema.Struct({
    at: Schema.Finite,
    took: Schema.Finite,
    round: Schema.Finite,
    cursor: Schema.optionalKey(Schema.String)
  }),
  /** Last occurrence of what was reported, by key. */
  reported: Schema.Record(Schema.String, Schema.Finite),
  /** Number of consecutive polls without an answer; `worked` is the last one with an answer. */
  outage: Schema.optionalKey(
    Schema.Struct({
      since: Schema.Finite,
      polls: Schema.Finite,
      why: Schema.String,
      worked: Schema.optionalKey(Schema.Finite),
      until: Schema.optionalKey(Schema.Finite)
    })
  ),
  /** Tests of credentials, by id. */
  credentials: Schema.Record(Schema.String, credentials.Tested),
  release: Schema.Struct({ at: Schema.Finite, isV1: Schema.Boolean }),
  /** n8n's own time zone, and when its runs were last asked for it. */
  zone: Schema.optionalKey(Schema.Struct({ at: Schema.Finite, name: Schema.optionalKey(Schema.String) })),
  outbox: Schema.Array(Schema.Struct({ slot: Schema.Finite, incident: Incident })),
  /** Times at which notes about unknown facts were reported. */
  notes: Schema.Record(Schema.String, Schema.Finite)
})
export type State = typeof State.Type

const Json = Schema.fromJsonString(State)
const Format = Schema.fromJsonString(Schema.Struct({ format: Schema.Finite }))

const documents = Effect.gen(function*() {
  const { instance } = yield* N8nClient
  return (yield* Documents).collection("watch", instance.key)
})

const name = "state.json.gz"
const aside = "state.aside.json.gz"

/** State that can be used, and the reason why another one was set aside. */
interface Loaded {
  readonly state: State | undefined
  readonly setAside?: string
}

/** Reads the state. One that is damaged or of another format gets another name, and the watch learns again. */
const load = Effect.gen(function*() {
  const own = yield* documents
  const packed = yield* own.read(name)
  if (packed === undefined) return { state: undefined } satisfies Loaded as Loaded
  const text = yield* Effect.option(Effect.try(() => new TextDecoder().decode(gunzipSync(packed))))
  const state = Option.flatMap(text, Schema.decodeOption(Json))
  if (Option.isSome(state)) return { state: state.value }
  const other = Option.flatMap(text, Schema.decodeOption(Format))
  yield* own.write(aside, packed)
  const why = Option.match(other, {
    onNone: () => "was damaged",
    onSome: ({ format }) => `had the format ${format} of another release`
  })
  return {
    state: undefined,
    setAside: `The state of the watch ${why}: it is now '${aside}', and this look learns again.`
  }
})

export const save = Effect.fn("watch.save")(function*(state: State) {
  const text = yield* Effect.orDie(Schema.encodeEffect(Json)(state))
  yield* (yield* documents).write(name, gzipSync(text, { level: 1 }))
})

type Mark = "slot" | "sent" | "done"

const markOf = (name: string) => {
  const { mark, time } = /^(?<mark>slot|sent|done)\.(?<time>\d+)$/.exec(name)?.groups ?? {}
  return mark === undefined ? [] : [{ name, mark: mark as Mark, time: Number(time) }]
}

/** Claims a slot and reads the state; `undefined` if another watcher polls now. Delivered incidents leave the outbox. */
export const claim = Effect.fn("watch.claim")(function*(slot: number, every: number) {
  const own = yield* documents
  const marks = Effect.map(own.list, (names) => names.flatMap(markOf))
  const isBusy = (all: Effect.Success<typeof marks>, to: number) =>
    all.some(({ mark, time }) =>
      mark === "slot" && time > slot - 2 * every && time < to &&
      !all.some((each) => each.mark !== "slot" && each.time === time)
    )
  const before = yield* marks
  if (isBusy(before, Infinity) || !(yield* own.add(`slot.${slot}`))) return undefined
  // Another watcher may have claimed an earlier slot in between.
  if (isBusy(yield* marks, slot)) {
    yield* own.add(`done.${slot}`)
    return undefined
  }
  const { setAside, state } = yield* load.pipe(Effect.tapError(() => Effect.ignore(own.add(`done.${slot}`))))
  const sent = new Set(before.flatMap(({ mark, time }) => mark === "sent" ? [time] : []))
  const outdated = before.filter(({ time }) => time <= slot - 2 * every)
  return {
    setAside,
    state: state && { ...state, outbox: state.outbox.filter(({ slot }) => !sent.has(slot)) },
    /** Removes the marks of earlier slots, which the saved state no longer needs. */
    tidy: Effect.forEach(outdated, ({ name }) => Effect.ignore(own.remove(name)), { discard: true })
  }
})

/** Ends a slot. */
export const release = Effect.fn("watch.release")(function*(slot: number, isDelivered: boolean) {
  yield* (yield* documents).add(`${isDelivered ? "sent" : "done"}.${slot}`)
})
