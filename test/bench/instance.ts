/**
 * `pnpm bench instance`: what tools cost on instances of 10 to 5,000 workflows and of 100 to 10,000 executions, beside a
 * simulated n8n in a process of its own.
 *
 * **Details**
 *
 * Each call has a server of its own, which is warm: it has listed one workflow. Prints the processor time of the call,
 * that of each item, and the peak of the process, and draws `.github/images/growth.svg`. The exit code is 1 if an item
 * of the largest instance takes more than 1.5 times that of the one before, or if a peak is above 250 MB. `--quick`:
 * without the largest sizes, and draws nothing.
 */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { num, obj } from "../../src/base/Json.ts"
import { say } from "../support/processes.ts"
import * as Curves from "./curves.ts"
import * as HttpProcess from "./load/HttpProcess.ts"
import { file, finish, machine, main, quick } from "./main.ts"
import * as McpProcess from "./McpProcess.ts"
import { atMost, type Criterion, format, table } from "./results.ts"

interface Case {
  readonly name: string
  readonly tool: string
  readonly args: object
  /** Maximum number of items that one call covers. Default: all. */
  readonly most?: number
  /** Called before, in another process. */
  readonly before?: { readonly tool: string; readonly args: object }
}

const overWorkflows: ReadonlyArray<Case> = [
  { name: "list_workflows, one page", tool: "list_workflows", args: { limit: 100 }, most: 100 },
  { name: "list_workflows uses", tool: "list_workflows", args: { uses: "example.com/1/", limit: 10 } },
  { name: "workflow_map", tool: "workflow_map", args: {} },
  { name: "audit", tool: "audit", args: {} },
  { name: "instance_overview", tool: "instance_overview", args: {} },
  { name: "sync_pull", tool: "sync_pull", args: {} },
  { name: "sync_status", tool: "sync_status", args: {}, before: { tool: "sync_pull", args: {} } }
]

const overExecutions: ReadonlyArray<Case> = [
  { name: "list_executions, one page", tool: "list_executions", args: { limit: 100 }, most: 100 },
  { name: "groups of failures", tool: "list_executions", args: { groupBy: "failure", limit: 500 }, most: 500 },
  { name: "groups of nodes", tool: "list_executions", args: { groupBy: "node", limit: 500 }, most: 500 },
  { name: "search_execution, text", tool: "search_execution", args: { last: 200, text: "A-1-1" }, most: 200 },
  { name: "search_execution, where", tool: "search_execution", args: { last: 200, where: "amount > 8" }, most: 200 },
  { name: "instance_overview", tool: "instance_overview", args: { days: 30 } }
]

/** A call's cost on an instance of a size. */
interface Cost {
  readonly size: number
  /** Processor time in milliseconds, of the call and of each item. */
  readonly millis: number
  readonly perItem: number
  /** Peak of the process in MB. */
  readonly peak: number
}

interface Curve {
  readonly name: string
  readonly costs: ReadonlyArray<Cost>
}

/** Calls a tool until nothing remains; a call may end in time with a part. */
const callAll = Effect.fnUntraced(function*(server: McpProcess.McpProcess, tool: string, args: object) {
  while (true) {
    const { text } = yield* server.call({ tool, args: { ...args }, expect: "\"success\":true" })
    if (num(obj(obj(JSON.parse(text))?.["data"])?.["remaining"]) === undefined) return
  }
})

const measure = Effect.fnUntraced(function*(n8n: HttpProcess.HttpProcess, each: Case, size: number) {
  const fs = yield* FileSystem.FileSystem
  const home = yield* fs.makeTempDirectoryScoped({ prefix: "bench-instance-" })
  const open = McpProcess.start(each.name, {
    args: [file("../../dist/main.js"), "--toolsets", "all", "--files-root", home],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      N8N_URL: `http://127.0.0.1:${n8n.port}`,
      N8N_API_KEY: "bench",
      LOG_LEVEL: "error"
    },
    cwd: home
  })
  const { before } = each
  if (before !== undefined) {
    yield* Effect.scoped(Effect.flatMap(open, (server) => callAll(server, before.tool, before.args)))
  }
  const server = yield* open
  yield* callAll(server, "list_workflows", { limit: 1 })
  const { cpuMillis: start = 0 } = yield* server.usage
  yield* callAll(server, each.tool, each.args)
  const { cpuMillis: end = 0, peak = 0 } = yield* server.usage
  const millis = end - start
  return { size, millis, perItem: millis / Math.min(size, each.most ?? Infinity), peak } satisfies Cost
}, Effect.scoped)

const curves = Effect.fnUntraced(function*(
  cases: ReadonlyArray<Case>,
  sizes: ReadonlyArray<number>,
  argsOf: (size: number) => ReadonlyArray<number>
) {
  const fs = yield* FileSystem.FileSystem
  const bySize = yield* Effect.forEach(sizes, (size) =>
    Effect.gen(function*() {
      const home = yield* fs.makeTempDirectoryScoped({ prefix: "bench-n8n-" })
      const n8n = yield* HttpProcess.start("n8n", [file("instance/stub.ts"), ...argsOf(size).map(String)], home)
      return yield* Effect.forEach(cases, (each) =>
        measure(n8n, each, size).pipe(
          Effect.tap(({ millis, peak }) => say(`${each.name}, ${size}: ${millis} ms, ${Math.round(peak)} MB`))
        ))
    }).pipe(Effect.scoped))
  return cases.map(({ name }, at): Curve => ({ name, costs: bySize.flatMap((costs) => costs[at] ?? []) }))
})

const significant = (value: number) => value.toLocaleString("en-US", { maximumSignificantDigits: 3 })

const tableOf = (what: string, all: ReadonlyArray<Curve>) =>
  table(
    ["ms of the call (of each item), peak", ...all[0]?.costs.map(({ size }) => `${format(size, 0)} ${what}`) ?? []],
    all.map(({ costs, name }) => [
      name,
      ...costs.map(({ millis, peak, perItem }) =>
        `${significant(millis)} (${significant(perItem)}), ${format(peak, 0)} MB`
      )
    ])
  )

const mostGrowth = 1.5
const mostMegabytes = 250

const criteria = (all: ReadonlyArray<Curve>): ReadonlyArray<Criterion> =>
  all.flatMap(({ costs, name }) => {
    const [before, largest] = costs.slice(-2)
    const peak = Math.max(...costs.map(({ peak }) => peak))
    // Short calls are mostly what each call costs.
    const isShort = before === undefined || largest === undefined || largest.millis < 100
    const growth = `${name}: an item of the largest ÷ one of the size before`
    return [
      ...(isShort ? [] : [atMost(growth, largest.perItem / before.perItem, 2, mostGrowth)]),
      atMost(`${name}: peak in MB`, peak, 0, mostMegabytes)
    ]
  })

const instance = Command.make(
  "instance",
  {
    quick: quick("Without the largest sizes and the chart")
  },
  Effect.fnUntraced(function*({ quick }) {
    const before = machine()
    const workflows = yield* curves(
      overWorkflows,
      quick ? [10, 100, 1_000] : [10, 100, 1_000, 5_000],
      (size) => [size, 20]
    )
    const executions = yield* curves(overExecutions, quick ? [100, 1_000] : [100, 1_000, 10_000], (size) => [20, size])
    const results = criteria([...workflows, ...executions])
    if (!quick) {
      const fs = yield* FileSystem.FileSystem
      const chart = Curves.draw({
        title: "Costs of a call as an instance grows",
        note: before,
        panels: [["workflows", workflows] as const, ["executions", executions] as const].map(([what, all]) => ({
          title: `ms of processor, by ${what}`,
          curves: all.map(({ costs, name }) => ({
            name,
            points: costs.map(({ millis, size }) => [size, millis] as const)
          }))
        }))
      })
      yield* fs.writeFileString(file("../../.github/images/growth.svg"), `${chart}\n`)
    }
    yield* finish([before, tableOf("workflows", workflows), tableOf("executions", executions)], results)
  }, Effect.scoped)
).pipe(Command.withDescription("Measure tools on instances of several sizes"))

main(instance)
