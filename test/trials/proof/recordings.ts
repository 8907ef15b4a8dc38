/** Recorded runs of a small workflow, and an n8n in memory whose copies return what their nodes' parameters say. */
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { failedExecution, succeededExecution } from "../../../src/testing/runs.ts"
import { main, node } from "../../support/workflows.ts"

/** Versions of the node `Map`: which items it returns. */
export type Version = "plain" | "without email" | "throws"

export const workflow = (version: Version, more: Obj = {}) => ({
  id: "w1",
  name: "Orders",
  active: true,
  nodes: [
    node("Hook", "webhook", 2, { path: "orders", httpMethod: "POST" }),
    node("Map", "set", 3.4, { version }),
    node("End", "noOp")
  ],
  connections: { Hook: main("Map"), Map: main("End") },
  settings: {},
  ...more
})

/** Values that are others whenever the workflow runs, and a date that is another than in the records. */
const dated = (count: number, day: string) => [
  { sku: "A", email: "a@shop.example", at: `${count}-0`, day },
  { sku: "B", email: "b@shop.example", at: `${count}-1`, day }
]

const itemsOf = (version: unknown, count: number, day: string): ReadonlyArray<Obj> => {
  const all = dated(count, day)
  return version === "without email" ? all.map(({ email: _, ...rest }) => rest) : all
}

/** Execution of a workflow or its copy. */
const runOf = (workflow: N8nApi.Workflow, count: number, day: string) => {
  const map = arr(workflow["nodes"]).map(obj).find((each) => each?.["name"] === "Map")
  const version = obj(map?.["parameters"])?.["version"]
  const hook = [{ body: { no: 1 } }]
  if (version === "throws") {
    return failedExecution({ workflow, items: { Hook: hook }, node: "Map", message: "no email" })
  }
  const items = itemsOf(version, count, day)
  return succeededExecution({ workflow, items: { Hook: hook, Map: items, End: items } })
}

/** Runs that a version recorded, with ids from 101, the newest last. */
export const records = (
  version: Version,
  count: number,
  recorded: N8nApi.Workflow = workflow(version)
): ReadonlyArray<N8nApi.NewExecution> =>
  Array.from({ length: count }, (_, index) => ({
    ...runOf(recorded, index, "2026-01-01"),
    id: String(101 + index),
    startedAt: `2026-01-01T00:00:0${index}.000Z`,
    mode: "webhook"
  }))

/** Executions of copies. */
export const running = () => {
  let count = 1_000
  return (copy: N8nApi.Workflow) => runOf(copy, count++, "2026-11-22")
}

/** Numbers of copies and of their runs. */
export const cost = (requests: ReadonlyArray<{ readonly method: string; readonly url: string }>) => {
  const posts = requests.filter(({ method }) => method === "POST").map(({ url }) => new URL(url).pathname)
  return {
    copies: posts.filter((path) => path === "/api/v1/workflows").length,
    runs: posts.filter((path) => path.startsWith("/webhook/")).length
  }
}
