/** A page: what changed between two exports, what is wrong, a picture and no secrets, all without a server. */
import { Mermaid, Redact, Workflow, WorkflowDiff, WorkflowProblems } from "effect-n8n-mcp/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const node = (name: string, type: string, parameters: object) => ({
  id: name,
  name,
  type: `n8n-nodes-base.${type}`,
  typeVersion: 1,
  position: [0, 0],
  parameters
})
const start = node("Start", "manualTrigger", {})
const pay = (url: string) => node("Pay", "httpRequest", { url, headers: { authorization: "Bearer abc.def" } })
const to = (...names: ReadonlyArray<string>) => ({
  Start: { main: [names.map((node) => ({ node, type: "main", index: 0 }))] }
})

const before = {
  id: "1",
  name: "Orders",
  active: false,
  nodes: [start, pay("https://a.example")],
  connections: to("Pay")
}
const after = { ...before, nodes: [start, pay("={{ $json.a + }}")], connections: to("Pay", "Pax") }

export const test = Effect.gen(function*() {
  const { connections, nodes } = yield* Schema.decodeUnknownEffect(Workflow.Workflow)(before)
  const diff = WorkflowDiff.make(before, after)
  const problems = yield* WorkflowProblems.offline(after)
  return {
    changed: WorkflowDiff.line(diff),
    isSame: WorkflowDiff.isSame(before, after),
    errors: problems.filter(({ severity }) => severity === "error").map(({ path }) => path),
    hasPicture: Mermaid.flowchart(nodes, connections).includes("Pay"),
    isRedacted: !JSON.stringify(Redact.redact(after)).includes("abc.def")
  }
})

export const expected = {
  changed: "changed 'Pay' (url), 1 connection",
  isSame: false,
  errors: ["connections.Start.main[0][1].node", "nodes[1].parameters.url"],
  hasPicture: true,
  isRedacted: true
}
