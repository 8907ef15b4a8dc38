import { assert, it } from "@effect/vitest"
import * as Workflow from "../../../src/n8n/model/Workflow.ts"

it("credentials of a workflow become those of another n8n, in each form that n8n has stored them in", () => {
  const node = (credentials?: Workflow.Node["credentials"]): Workflow.Node => ({
    name: "A",
    type: "n8n-nodes-base.httpRequest",
    ...(credentials === undefined ? {} : { credentials })
  })
  const workflow: Workflow.New = {
    name: "Orders",
    nodes: [
      node({ httpBasicAuth: { id: "1", name: "Shop" }, slackApi: { id: "9", name: "Team" } }),
      node({ httpBasicAuth: { name: "Shop" } }),
      node({ httpBasicAuth: "Shop" as never }),
      node()
    ],
    connections: {}
  }
  const mapped = Workflow.mapCredentials(
    workflow,
    ({ name, type }) => type === "httpBasicAuth" && name === "Shop" ? { id: "2", name: "Shop" } : undefined
  )
  const shop = { httpBasicAuth: { id: "2", name: "Shop" } }
  assert.deepStrictEqual(mapped.nodes.map(({ credentials }) => credentials), [
    { ...shop, slackApi: { id: "9", name: "Team" } },
    shop,
    shop,
    undefined
  ])
  assert.strictEqual(mapped.nodes[3], workflow.nodes[3])
})
