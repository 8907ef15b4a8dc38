/** Questions about tables that differ in a secret alone: no answer may tell them apart. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Errors from "../../../src/base/Errors.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import type { Needs } from "../../support/world.ts"

/** Secrets in the first row's `label`. */
export const secrets = [
  "ghp_k7Q2abcdefghijklmnopqrstuvwxyz01",
  "ghp_Zz9XabcdefghijklmnopqrstuvwxyzAB",
  "xoxb-12345678901-abcdefGHIJKL"
] as const

/** Cell of the pair in the third row, which is shown as redacted too. */
const hidden = (secret: string) => `pair-${secret.slice(-6)}`

/** Creates the table `notes`, whose first and third rows have secrets: its id. */
export const table = Effect.fnUntraced(function*(secret: string) {
  const n8n = yield* N8nClient
  const { id } = yield* n8n.createDataTable({
    name: "notes",
    columns: [{ name: "n", type: "number" }, { name: "label", type: "string" }, { name: "value", type: "string" }]
  })
  yield* n8n.insertRows(id, [
    { n: 1, label: secret, value: "x" },
    { n: 2, label: "alpha", value: "y" },
    { n: 3, label: "password", value: hidden(secret) },
    { n: 4, label: "Alpha and omega", value: "z" },
    { n: 5 }
  ])
  return id
})

const conditions = [
  "n === 1 || label.startsWith('ghp_k')",
  "label.startsWith('ghp_k')",
  "label.startsWith('ghp_Z') || n === 2",
  "label.includes('Q2') && n > 0",
  "label.endsWith('01')",
  "label.toLowerCase().includes('zz9x')",
  "label === 'ghp_k7Q2abcdefghijklmnopqrstuvwxyz01'",
  "label !== 'ghp_k7Q2abcdefghijklmnopqrstuvwxyz01'",
  "['alpha', 'ghp_k7Q2abcdefghijklmnopqrstuvwxyz01'].includes(label)",
  "label < 'ghp_m'",
  "label >= 'ghp_m'",
  "label > 'h' && n < 3",
  "label === '[redacted]'",
  "label.includes('red')",
  "label.includes('[')",
  "label === null || label.startsWith('x')",
  "value.startsWith('pair-wx')",
  "value !== 'pair-wxyz01'",
  "value > 'pair-x'",
  "n < 3"
]

const searches = ["ghp_k7", "Q2", "alpha", "pair", "wxyz01", "redacted", "3", "%"]

type Args = Readonly<Record<string, unknown>>

const reads: ReadonlyArray<Args> = [
  ...conditions.flatMap((where) => [1, 20].map((limit) => ({ where, limit }))),
  ...conditions.flatMap((where) => [{ where, limit: 1, sort: "-label" }, { where, limit: 2, sort: "-n" }]),
  ...searches.flatMap((search) => [{ search, limit: 1 }, { search, limit: 20, sort: "value" }]),
  ...["label", "-label", "value", "-value", "n", "-createdAt"].map((sort) => ({ sort, limit: 2 })),
  { where: "n > 0 && label.startsWith('ghp_k')", search: "ghp", limit: 1 },
  { where: "label.startsWith('ghp_k')", limit: 1, cursor: "rows-1" }
]

const writes: ReadonlyArray<Args> = conditions.flatMap((where) =>
  ["update", "upsert", "delete"].flatMap((op) =>
    [true, false].map((dryRun) => ({
      op,
      where,
      dryRun,
      confirm: true,
      ...op === "delete" ? {} : { set: { n: 7, label: "changed" } }
    }))
  )
)

/** Reads and writes of the table. */
export const cases: ReadonlyArray<Args> = [...reads, ...writes]

/** All that a caller learns: answers to a call, errors included, of every page, and the table afterwards. */
const probed = Effect.fnUntraced(function*(args: Args) {
  const answers: Array<unknown> = []
  const call = (input: unknown): Effect.Effect<{ readonly nextCursor?: string | undefined }, Errors.N8nError, Needs> =>
    "op" in args
      ? Effect.map(tools.tableWrite.answer(input as never), ({ data }) => ({ ...data, nextCursor: undefined }))
      : Effect.map(tools.tableRead.answer(input as never), ({ data }) => data)
  let cursor = args["cursor"]
  do {
    const answer = yield* Effect.result(
      call({ table: "notes", limit: 20, ...args, ...cursor === undefined ? {} : { cursor } })
    )
    answers.push(Result.isSuccess(answer) ? answer.success : answer.failure)
    cursor = Result.isSuccess(answer) ? answer.success.nextCursor : undefined
  } while (cursor !== undefined)
  answers.push((yield* tools.tableRead.answer({ table: "notes", limit: 100 })).data)
  return answers
})

const ofTheRun = /snapshot-[\w-]+|\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** Answers to all cases about a table with a secret, as JSON without the versions, times and ids of the run. */
export const answers = (secret: string, some: ReadonlyArray<Args> = cases) =>
  Effect.forEach(some, (args) =>
    Effect.gen(function*() {
      const id = yield* table(secret)
      const answer = JSON.stringify(yield* probed(args), undefined, 1)
      yield* N8nClient.use((n8n) => n8n.deleteDataTable(id))
      return answer.replaceAll(ofTheRun, "").replaceAll(id, "ID")
    }))
