/** Breaks something under load, and tells what callers saw as a row of a table. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { call, type Cluster, newWorkflow } from "./Cluster.ts"
import * as Load from "./Load.ts"

/** The rows of the table. */
export const rows: Array<string> = []

/** Prints the table, if there is anything in it. */
export const print = () => {
  if (rows.length === 0) return
  process.stdout.write(
    `\n| Broken | Calls meanwhile | Answered | What callers saw besides | Slowest call | Afterwards |\n| --- | --- | --- | --- | --- | --- |\n${
      rows.join("\n")
    }\n\n`
  )
}

/** What callers saw besides answers. */
export const told = ({ outcomes }: Load.Counts) =>
  outcomes.filter(([outcome]) => outcome !== Load.answered).map(([outcome, reads, writes]) =>
    `${
      [[reads, "reads"], [writes, "writes"]].filter(([number]) => number !== 0).map((each) => each.join(" ")).join(", ")
    }: ${outcome}`
  ).join("; ") || "nothing"

const row = (broken: string, meanwhile: Load.Counts, afterwards: Load.Counts) =>
  rows.push(
    `| ${broken} | ${meanwhile.total} | ${meanwhile.total - meanwhile.failed} | ${told(meanwhile)} | ${
      (meanwhile.slowest / 1000).toFixed(1)
    } s | ${afterwards.failed} of ${afterwards.total} failed |`
  )

/** Counts while something is broken, and again once it is back. */
export const tried = Effect.fnUntraced(function*(
  broken: string,
  url: string,
  { back = Effect.void, meanwhile }: {
    readonly meanwhile: (load: Effect.Success<ReturnType<typeof Load.start>>) => Effect.Effect<unknown, unknown>
    /** Until it has recovered. */
    readonly back?: Effect.Effect<unknown, unknown>
  }
) {
  const load = yield* Load.start(url)
  yield* load.more(100)
  const during = yield* load.during(meanwhile(load))
  yield* back
  const after = yield* load.during(load.more(200))
  row(broken, during, after)
  assert.deepStrictEqual(after.outcomes.filter(([outcome]) => outcome !== Load.answered), [])
  // Whatever was broken: n8n has what callers were told that it has.
  for (const { name, possible } of yield* load.end) assert.include(possible, name)
  return during
}, Effect.scoped)

/** A write is answered, by each server. */
export const writesAgain = ({ replicas, url }: typeof Cluster.Service) =>
  Effect.flatMap(
    newWorkflow(url, "To write"),
    (id) =>
      Effect.forEach(replicas, (replica, index) =>
        call(replica.url, "modern", { name: "update_workflow", arguments: { id, name: `Written by ${index}` } }).pipe(
          Effect.filterOrFail(({ text }) =>
            !text.includes("\"isError\":true")
          ),
          Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 100 })
        ))
  )
