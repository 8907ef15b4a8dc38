/**
 * State of a watch: one document for each n8n and API key, which one poll at a time replaces, and marks beside it.
 *
 * A poll owns the time slot that it starts in: `slot.T` claims it, and `sent.T` or `done.T` ends it, with or without its
 * incidents delivered. While a slot is neither over nor too old, no other watcher polls.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { gunzipSync, gzipSync } from "node:zlib"
import { Documents } from "../base/Documents.ts"
import * as Errors from "../base/Errors.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { History, Rhythm } from "./detect/index.ts"
import { Incident } from "./Incident.ts"
import { Run } from "./Observation.ts"

const { Array: array, Boolean: flag, Finite: number, Record: record, String: string, Struct: struct, optionalKey } =
  Schema

/** Execution that had not ended, or an id that n8n has given but not listed. */
const Open = struct({
  id: string,
  /** Absent while only its id is known. */
  run: optionalKey(Run),
  /** Number of polls that have looked for it. */
  polls: number,
  waitTill: optionalKey(number)
})
export type Open = typeof Open.Type

const Entry = struct({
  name: string,
  isPublished: flag,
  isArchived: optionalKey(flag),
  version: optionalKey(string),
  /** Time at which that version was saved, which is not later than its publication. */
  savedAt: optionalKey(number),
  liveSince: number,
  /** Time at which another version was seen first. */
  changedAt: optionalKey(number),
  /** Triggers only. */
  nodes: array(record(string, Schema.Unknown)),
  settings: optionalKey(Schema.Unknown),
  staticData: optionalKey(Schema.Unknown),
  tags: array(string),
  credentials: array(struct({ id: string, name: string, type: string })),
  /** Round of the list that had it last. */
  round: number,
  /** Starts of the last hours, for schedules. */
  starts: optionalKey(array(number)),
  lastStart: optionalKey(number),
  lastFailure: optionalKey(number),
  /** Start of the last successful run that n8n started by itself. */
  lastSuccess: optionalKey(number),
  /** Number of its last runs that crashed. */
  crashes: optionalKey(number),
  /** Whether a successful run was seen. */
  saves: optionalKey(flag),
  judgedTo: optionalKey(number),
  missedTo: optionalKey(number),
  rhythm: optionalKey(Rhythm),
  history: optionalKey(History),
  /** Before this time no data of its runs are read, since they are large. */
  sampleAfter: optionalKey(number)
})
export type Entry = typeof Entry.Type

const Tested = struct({
  /** Time from which the next test is due. */
  due: number,
  /** Last test before it was due. */
  early: optionalKey(number),
  hasWorked: optionalKey(flag),
  failures: number,
  since: optionalKey(number),
  message: optionalKey(string)
})
export type Tested = typeof Tested.Type

export const State = struct({
  format: Schema.Literal(1),
  /** First start of the watch. */
  since: number,
  polledAt: number,
  /** Before this time no one polls, since n8n is slow. */
  notBefore: optionalKey(number),
  interval: optionalKey(number),
  /** Highest id of an execution that was seen. */
  top: number,
  /** Since when all saved runs were seen. */
  seenFrom: number,
  /** Number of runs of the last poll. */
  fresh: number,
  open: array(Open),
  /** Failed runs that are still to be read. */
  unread: array(Run),
  workflows: record(string, Entry),
  /** The list of workflows: when its last round began, how long n8n took, and where an unfinished round continues. */
  list: struct({ at: number, took: number, round: number, cursor: optionalKey(string) }),
  /** Last occurrence and number of occurrences of what was reported, by key. */
  reported: record(string, struct({ last: number, count: number })),
  /** Polls in a row that n8n did not answer; `worked` is the last one before that it did. */
  outage: optionalKey(
    struct({ since: number, polls: number, why: string, worked: optionalKey(number), until: optionalKey(number) })
  ),
  /** Tests of credentials, by id. */
  credentials: record(string, Tested),
  release: struct({ at: number, isV1: flag }),
  outbox: array(struct({ slot: number, incident: Incident })),
  /** Times at which sentences about what is unknown were reported. */
  notes: record(string, number)
})
export type State = typeof State.Type

const Json = Schema.fromJsonString(State)
const Format = Schema.fromJsonString(struct({ format: number }))

const documents = Effect.gen(function*() {
  const { instance } = yield* N8nClient
  return (yield* Documents).collection("watch", instance.key)
})

const name = "state.json.gz"

const unreadable = (why: string) =>
  new Errors.ValidationError({
    reason: `The state of the watch ${why}, so it was left as it is`,
    hint: "Update this program, or delete the collection 'watch' from the state (folder or database) to start afresh.",
    isServerFault: true
  })

/** Reads the state; `undefined` before the first poll. Fails if it is damaged or of a newer version. */
const load = Effect.gen(function*() {
  const packed = yield* (yield* documents).read(name)
  if (packed === undefined) return undefined
  const text = yield* Effect.try({
    try: () => new TextDecoder().decode(gunzipSync(packed)),
    catch: () => unreadable("is damaged")
  })
  const format = yield* Schema.decodeEffect(Format)(text).pipe(Effect.mapError(() => unreadable("is damaged")))
  if (format.format !== 1) return yield* unreadable(`has the format ${format.format} of another version`)
  return yield* Schema.decodeEffect(Json)(text).pipe(Effect.mapError(() => unreadable("is damaged")))
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
  const state = yield* load.pipe(Effect.tapError(() => Effect.ignore(own.add(`done.${slot}`))))
  const sent = new Set(before.flatMap(({ mark, time }) => mark === "sent" ? [time] : []))
  const outdated = before.filter(({ time }) => time <= slot - 2 * every)
  return {
    state: state && { ...state, outbox: state.outbox.filter(({ slot }) => !sent.has(slot)) },
    /** Removes the marks of earlier slots, which the saved state no longer needs. */
    tidy: Effect.forEach(outdated, ({ name }) => Effect.ignore(own.remove(name)), { discard: true })
  }
})

/** Ends a slot. */
export const release = Effect.fn("watch.release")(function*(slot: number, isDelivered: boolean) {
  yield* (yield* documents).add(`${isDelivered ? "sent" : "done"}.${slot}`)
})
