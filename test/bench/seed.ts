/** Creates the benchmark's workflows and executions on n8n. */
import * as Effect from "effect/Effect"
import * as scenarios from "../suites/n8n/scenarios.ts"
import * as workflows from "../suites/n8n/workflows.ts"
import { BenchError } from "./BenchError.ts"
import type { Execution } from "./contenders.ts"

const bulk = (index: number, jsCode: string): workflows.Node => ({
  id: `bulk${index}`,
  name: `Bulk ${index}`,
  type: "n8n-nodes-base.code",
  typeVersion: 2,
  position: [0, 0],
  parameters: { jsCode }
})

/** Six nodes with the same items: about 3.3 kB of JSON per item in total, some of it above ASCII. */
const draft = (items: number): workflows.Draft => {
  const source = bulk(
    1,
    `return Array.from({ length: ${items} }, (_, i) => ({
  json: { id: i, s: "0123456789abcdef".repeat(28), t: { x: i, y: [i, i + 1], z: "значение" } }
}))`
  )
  const copies = [2, 3, 4, 5, 6].map((index) => bulk(index, "return $input.all()"))
  const nodes = [source, ...copies]
  return {
    nodes,
    links: nodes.map(({ name }, index) => [nodes[index - 1]?.name ?? workflows.trigger, name] as const)
  }
}

const itemsPerMegabyte = 20_000 / 66

/** Runs a workflow whose execution has about that many MB of JSON. */
export const execution = Effect.fn("seed.execution")(function*(megabytes: number) {
  const items = Math.round(megabytes * itemsPerMegabyte)
  const path = `bench-${crypto.randomUUID()}`
  const workflowId = yield* scenarios.create(workflows.body(`Bench ${megabytes} MB`, path, draft(items)))
  yield* scenarios.publish(workflowId)
  const after = yield* scenarios.newestExecution()
  yield* scenarios.callWebhook(path)
  const { executionId, status } = yield* scenarios.awaitExecution(workflowId, after)
  if (status !== "success") {
    return yield* new BenchError({ step: `running Bench ${megabytes} MB`, detail: `it ended as ${status}` })
  }
  return { id: executionId, node: "Bulk 6", items } satisfies Execution
})

/** The name of one of the listed workflows. */
export const listed = "Listed 1"

/** Creates unpublished workflows of 12 nodes for the list. */
export const createListed = (count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => `Listed ${index + 1}`),
    (name) => scenarios.make("big12", name),
    { discard: true }
  )
