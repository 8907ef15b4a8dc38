/**
 * `pnpm bench items`: the time to search a stored execution of 66 MB in 14 nodes, by text, by an expression, and with
 * redaction of each item instead of whole segments. The results are CPU milliseconds, the median of five.
 */
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Interpreter from "../../src/base/Interpreter.ts"
import * as Redact from "../../src/base/Redact.ts"
import * as Blocks from "../../src/executions/blocks.ts"
import { ExecutionReader } from "../../src/executions/executionReader.ts"
import * as ItemComparison from "../../src/executions/ItemComparison.ts"
import * as ItemSearch from "../../src/executions/ItemSearch.ts"
import { main } from "./main.ts"
import { cpuMillis, median } from "./results.ts"

const nodes = 14
const itemsOfNode = 3_300
const megabytes = 1_000_000

/** An order with texts that slow redaction down: words such as "key" in prose, long words, times. */
const item = (node: number, index: number, withSecret: boolean) => ({
  json: {
    id: `8a1c0f5e-0000-4000-8000-${String(index).padStart(12, "0")}`,
    orderNo: `A-${index}`,
    createdAt: new Date(1_700_000_000_000 + index * 1_000).toISOString(),
    customer: { id: `cus_${index}`, email: `user${index}@example.com`, page: `https://shop.example.com/${index}` },
    amount: index * 1.5 + node,
    note: "The author of the design assessed key passengers. ".repeat(17),
    lines: Array.from({ length: 5 }, (_, line) => ({ sku: `S-${line}`, qty: line, price: line * 2.5 })),
    ...(withSecret ? { apiKey: `k${index}` } : {})
  },
  pairedItem: { item: index }
})

const load = (withSecret: boolean) =>
  Effect.promise(async () => {
    const runs = Array.from({ length: nodes }, (_, node) => ({
      startTime: 1,
      executionTime: 1,
      executionIndex: node,
      executionStatus: "success",
      source: node === 0 ? [] : [{ previousNode: `Node ${node - 1}` }],
      data: { main: [Array.from({ length: itemsOfNode }, (_, index) => item(node, index, withSecret))] }
    }))
    const runData = Object.fromEntries(runs.map((run, node) => [`Node ${node}`, [run]]))
    const bytes = new TextEncoder().encode(
      JSON.stringify({ id: "1", status: "success", data: { resultData: { runData } } })
    )
    const [reader, writer] = [new ExecutionReader(), new Blocks.Writer()]
    for (let at = 0; at < bytes.length; at += 65_536) {
      const chunk = bytes.subarray(at, at + 65_536)
      reader.push(chunk)
      writer.write(chunk)
    }
    return { execution: reader.end(writer.end()), size: bytes.length }
  })

const measured = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(
    Effect.replicateEffect(
      Effect.gen(function*() {
        const start = process.cpuUsage()
        yield* effect
        return cpuMillis(start)
      }),
      5
    ),
    (times) => Math.round(median(times))
  )

const report = Effect.gen(function*() {
  const { where } = yield* Interpreter.load
  for (const withSecret of [false, true]) {
    const { execution, size } = yield* load(withSecret)
    yield* Console.log(`${Math.round(size / megabytes)} MB, ${withSecret ? "a secret in each item" : "no secret"}`)
    const slots = ItemSearch.outputs(execution)
    const search = (condition: ItemSearch.Condition, redacts: boolean) =>
      ItemSearch.search(execution, condition, { slots, limit: 10, redacts })
    const expression = { where: Result.getOrThrow(where("amount > 4900 && customer.id.startsWith('cus_3')")) }
    const byItem = Effect.sync(() => {
      for (const { slot } of slots) {
        for (const segment of execution.segments(slot)) for (const stored of segment.items()) Redact.redact(stored)
      }
    })
    const [from, to] = [ItemComparison.sideOf(execution, "Node 0"), ItemComparison.sideOf(execution, "Node 13")]
    if (from === undefined || to === undefined) return
    const compared = ItemComparison.compare(execution, { from, to, fields: [], ignore: [], limit: 10, redacts: true })
    const cases = [
      ["text that is rare", search({ text: "A-2999" }, true)],
      ["text that is everywhere", search({ text: "passengers" }, true)],
      ["where", search(expression, true)],
      ["where, nothing redacted", search(expression, false)],
      ["each item redacted, nothing else", byItem],
      ["two nodes compared", compared]
    ] as const
    for (const [name, effect] of cases) yield* Console.log(`  ${name.padEnd(36)}${yield* measured(effect)} ms`)
  }
})

main(Command.make("items", {}, () => report).pipe(Command.withDescription("Measure searches of a stored execution")))
