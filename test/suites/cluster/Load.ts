/** A steady load of calls in both eras of MCP, reading and writing, and what came of them. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Cluster from "./Cluster.ts"

/** What came of a call. */
interface Outcome {
  readonly kind: "read" | "write"
  readonly outcome: string
  readonly ms: number
}

/** The outcome of a call that did what it was to do. */
export const answered = "answered"

const reasons: ReadonlyArray<readonly [RegExp, string]> = [
  [/the state database does not answer/, "refused, nothing written: the state database does not answer"],
  // For a while after its start n8n has no API.
  [/\(HTTP 404\)/, "told that n8n has no such path (it is starting)"],
  [
    /ECONNREFUSED|ECONNRESET|fetch failed|does not answer|not reach|socket hang up|terminated|bad port|Connect/i,
    "told that n8n does not answer"
  ]
]

const outcomeOf = ({ status, text }: Cluster.Answer) => {
  if (status === 0) return "connection lost"
  if (status === 502 || status === 504) return `${status} of the balancer`
  if (status !== 200) return `${status} ${text.slice(0, 120)}`
  if (!text.includes("\"isError\":true") && text.includes("\"result\"")) return answered
  return reasons.find(([pattern]) => pattern.test(text))?.[1] ?? text.slice(0, 200)
}

/** A workflow that one worker alone renames, and the names that it may have. */
interface Subject {
  readonly id: string
  possible: ReadonlyArray<string>
}

/** What was counted while something happened. */
export interface Counts {
  readonly total: number
  readonly outcomes: ReadonlyArray<readonly [outcome: string, reads: number, writes: number]>
  /** Those that did not do what they were to do. */
  readonly failed: number
  /** Milliseconds of the slowest. */
  readonly slowest: number
}

const count = (all: ReadonlyArray<Outcome>): Counts => {
  const names = [...new Set(all.map(({ outcome }) => outcome))].toSorted((a, b) =>
    a === answered ? -1 : b === answered ? 1 : a < b ? -1 : 1
  )
  const of = (name: string, kind: Outcome["kind"]) =>
    all.filter((each) => each.outcome === name && each.kind === kind).length
  return {
    total: all.length,
    outcomes: names.map((name) => [name, of(name, "read"), of(name, "write")] as const),
    slowest: Math.max(0, ...all.map(({ ms }) => ms)),
    failed: all.filter(({ outcome }) => outcome !== answered).length
  }
}

/** Two of each era. */
const workers = [0, 1, 2, 3].map((index) => ({
  index,
  era: index % 2 === 0 ? "modern" as const : "legacy" as const
}))

/** Milliseconds between the calls of a worker. */
const pause = 15

/** Loads a cluster; `during` counts what ends while an effect runs. It ends with the scope. */
export const start = Effect.fnUntraced(function*(url: string) {
  const ended: Array<Outcome> = []
  const until = { over: false }
  const subjects: ReadonlyArray<Subject> = yield* Effect.forEach(workers, ({ index }) => {
    const name = `Of worker ${index}`
    return Effect.map(Cluster.newWorkflow(url, name), (id) => ({ id, possible: [name] }))
  })
  const told = (kind: Outcome["kind"], era: "modern" | "legacy", params: object) =>
    Effect.map(Effect.timed(Cluster.call(url, era, params)), ([duration, answer]) => {
      const outcome = outcomeOf(answer)
      ended.push({ kind, outcome, ms: Duration.toMillis(duration) })
      return outcome
    })
  const work = ({ era, index }: typeof workers[number]) =>
    Effect.gen(function*() {
      const subject = subjects[index]
      if (subject === undefined) return
      for (let round = 0; !until.over; round++) {
        const name = `Of worker ${index}, round ${round}`
        const { id } = subject
        const outcome = yield* told("write", era, { name: "update_workflow", arguments: { id, name } })
        // A refusal says that nothing was written; a lost connection says nothing.
        if (outcome === answered) subject.possible = [name]
        else if (!outcome.startsWith("refused")) subject.possible = [...subject.possible, name]
        yield* Effect.sleep(pause)
        yield* told("read", era, { name: "get_workflow", arguments: { id } })
        yield* told("read", era, { name: "list_workflows", arguments: { limit: 5 } })
        yield* Effect.sleep(pause)
      }
    })
  const fibers = yield* Effect.forEach(workers, (worker) => Effect.forkScoped(work(worker)))
  /** Until so many more calls have ended. */
  const more = (calls: number) =>
    Effect.suspend(() => {
      const enough = ended.length + calls
      return Effect.suspend(() => ended.length >= enough ? Effect.void : Effect.fail("not yet")).pipe(
        Effect.retry({ schedule: Schedule.spaced("20 millis") })
      )
    })
  const during = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function*() {
      const first = ended.length
      yield* effect
      return count(ended.slice(first))
    })
  return {
    during,
    more,
    /** Ends the load; the names that n8n has, and those that the answers allow. */
    end: Effect.gen(function*() {
      until.over = true
      yield* Effect.forEach(fibers, Fiber.join)
      return yield* Effect.forEach(
        subjects,
        ({ id, possible }) => Effect.map(Cluster.nameOf(url, id), (name) => ({ name, possible }))
      )
    })
  }
})
