/** An n8n with so many workflows and executions, for the bench: `node stub.ts WORKFLOWS EXECUTIONS`. Always the same. */
import * as Effect from "effect/Effect"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { serve } from "../../support/HttpN8n.ts"

const [workflowCount = 10, executionCount = 0] = process.argv.slice(2).map(Number)

const nodeCount = 12

const idOf = (at: number) => `w${String(at % workflowCount).padStart(5, "0")}`

const parametersOf = (at: number, index: number) => {
  if (index === 0) return { path: `orders-${at}` }
  if (index === nodeCount - 1) return { workflowId: { __rl: true, mode: "id", value: idOf(at + 1) } }
  return index % 4 === 0
    ? { jsCode: Array.from({ length: 20 }, (_, line) => `const v${line} = ${at} + ${line}`).join("\n") }
    : { url: `https://example.com/${at}/${index}`, options: {} }
}

const typeOf = (index: number) => {
  if (index === 0) return ["n8n-nodes-base.webhook", 2] as const
  if (index === nodeCount - 1) return ["n8n-nodes-base.executeWorkflow", 1.2] as const
  return index % 4 === 0 ? ["n8n-nodes-base.code", 2] as const : ["n8n-nodes-base.httpRequest", 4.2] as const
}

/** Twelve nodes: a webhook, code and requests, and a call of the next workflow. */
const workflow = (at: number): N8nApi.Workflow => ({
  id: idOf(at),
  name: `Workflow ${at}`,
  active: at % 2 === 0,
  settings: { executionOrder: "v1" },
  connections: Object.fromEntries(Array.from({ length: nodeCount - 1 }, (_, index) => [
    `Node ${index}`,
    { main: [[{ node: `Node ${index + 1}`, type: "main", index: 0 }]] }
  ])),
  nodes: Array.from({ length: nodeCount }, (_, index) => {
    const [type, typeVersion] = typeOf(index)
    return {
      id: `node-${at}-${index}`,
      name: `Node ${index}`,
      type,
      typeVersion,
      position: [index * 200, 0],
      parameters: parametersOf(at, index)
    }
  })
})

const workflows = Array.from({ length: workflowCount }, (_, at) => workflow(at))

const itemsOf = (run: number) =>
  Array.from(
    { length: 10 },
    (_, item) => ({ orderNo: `A-${run}-${item}`, email: `user${item}@example.com`, amount: item })
  )

/** Twelve nodes of ten items; every tenth run fails. A minute apart, the last one now. */
const execution = (run: number): N8nApi.NewExecution => {
  const items = Object.fromEntries(Array.from({ length: nodeCount }, (_, index) => [`Node ${index}`, itemsOf(run)]))
  const startedAt = new Date(Date.now() - (executionCount - run) * 60_000).toISOString()
  const built = { workflow: workflow(run % Math.min(10, workflowCount)), items, startedAt }
  return run % 10 === 0
    ? FakeN8n.failedExecution({ ...built, node: "Node 5", message: `Order A-${run} has no address` })
    : FakeN8n.succeededExecution(built)
}

const executions = Array.from({ length: executionCount }, (_, run) => execution(run))

await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
  const { url } = yield* serve({ workflows, executions })
  process.stderr.write(`address=http://127.0.0.1:${url.port}\n`)
  return yield* Effect.never
})))
