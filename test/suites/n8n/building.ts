/** Builds workflows as an agent does, over stdio, and runs them on a real n8n. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"
import * as session from "./session.ts"

type It = Vitest.MethodsNonLive<RealN8n>

const ask = (path: string, body: Obj) => Effect.map(scenarios.callWebhook(path, { body }), ({ text }) => text)

const opened = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  return yield* session.open(yield* fs.realPath(yield* fs.makeTempDirectoryScoped()))
})

const add = (type: string, name: string, parameters: Obj = {}, after?: string) => ({
  op: "add",
  type: `n8n-nodes-base.${type}`,
  name,
  parameters,
  ...(after === undefined ? {} : { after })
})

const respond = (name: string, responseBody = `=${name}`) =>
  add("respondToWebhook", name, { respondWith: "text", responseBody })

const connect = (from: string, to: string, more: Obj = {}) => ({ op: "connect", from, to, ...more })

/** Adds the tests of building workflows to a suite. */
export const building = (it: It, { drafts }: { readonly drafts: boolean }) => {
  it.effect("from an empty folder to the answer of a webhook, over stdio", () =>
    Effect.gen(function*() {
      const { call } = yield* opened
      const path = `built-${crypto.randomUUID()}`

      const { filePath, workflowId } = yield* call("workflow_create", { name: "Sort orders 注文" })
      assert.strictEqual(workflowId, "draft-sort-orders-注文")
      yield* call("node_add", {
        workflowId,
        nodeType: "n8n-nodes-base.webhook",
        name: "Hook",
        parameters: { path, httpMethod: "POST", responseMode: "responseNode" }
      })
      const { nodeId } = yield* call("node_add", {
        workflowId,
        nodeType: "n8n-nodes-base.if",
        name: "Is it big?",
        after: "Hook",
        parameters: {
          conditions: {
            conditions: [{
              leftValue: "={{ $json.body.total }}",
              rightValue: 100,
              operator: { type: "number", operation: "gt" }
            }]
          }
        }
      })
      const answer = (name: string, says: string) => respond(name, `=${says} {{ $('Hook').item.json.body.total }}`)
      const { problems } = yield* call("workflow_edit", {
        workflowId,
        operations: [
          answer("Big", "big"),
          answer("Small", "small"),
          connect("Is it big?", "Big", { sourceOutput: "true" }),
          { op: "rename", node: "Hook", to: "受付" }
        ]
      })
      // It is not connected yet.
      assert.deepStrictEqual(arr(problems).map((each) => obj(each)?.["node"]), ["Small"])
      yield* call("connection_create", {
        workflowId,
        sourceNodeId: nodeId,
        targetNodeId: "Small",
        sourceOutput: "false"
      })
      const { counts, valid } = yield* call("validate_workflow", { workflowId })
      assert.deepStrictEqual([valid, counts], [true, { errors: 0, warnings: 0 }])

      const made = yield* call("create_workflow_from_file", { filePath })
      const id = String(made["id"])
      yield* call("activate_workflow", { id })
      assert.strictEqual(yield* ask(path, { total: 250 }), "big 250")
      assert.strictEqual(yield* ask(path, { total: 3 }), "small 3")

      // The same tools, on n8n.
      const edited = yield* call("workflow_edit", {
        workflowId: id,
        operations: [{ op: "update", node: "Big", parameters: { responseBody: "=huge" } }]
      })
      assert.deepInclude(edited, { source: "n8n", applied: true, published: !drafts })
      assert.strictEqual(yield* ask(path, { total: 250 }), drafts ? "big 250" : "huge")
      yield* call("activate_workflow", { id })
      assert.strictEqual(yield* ask(path, { total: 250 }), "huge")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("items take the same way after rules and inputs are added and removed", () =>
    Effect.gen(function*() {
      const { call } = yield* opened
      const path = `ports-${crypto.randomUUID()}`
      const rule = (country: string) => ({
        outputKey: country,
        renameOutput: true,
        conditions: {
          conditions: [{
            leftValue: "={{ $json.body.country }}",
            rightValue: country,
            operator: { type: "string", operation: "equals" }
          }]
        }
      })
      const { filePath, workflowId } = yield* call("workflow_create", { name: "Ports" })
      yield* call("workflow_edit", {
        workflowId,
        operations: [
          add("webhook", "Hook", { path, httpMethod: "POST", responseMode: "responseNode" }),
          add("switch", "Country", {
            rules: { values: ["DE", "US", "merge"].map(rule) },
            options: { fallbackOutput: "extra" }
          }, "Hook"),
          ...["Germany", "USA", "Else", "Wrong"].map((name) => respond(name)),
          connect("Country", "Germany", { sourceOutput: "DE" }),
          connect("Country", "USA", { sourceOutput: "US" }),
          connect("Country", "Else", { sourceOutput: "Fallback" }),
          connect("Country", "Wrong", { sourceOutput: "error" }),
          add("merge", "Merge", { numberInputs: 3 }),
          ...["A", "B", "C"].flatMap((name, index) => [
            add("noOp", name),
            connect("Country", name, { sourceOutput: "merge" }),
            connect(name, "Merge", { targetInput: index })
          ]),
          respond("Merged", "={{ $('Merge').all().length }} merged"),
          connect("Merge", "Merged")
        ]
      })
      const { id } = yield* call("create_workflow_from_file", { filePath })
      yield* call("activate_workflow", { id })
      const answers = Effect.forEach(["DE", "US", "FR", "merge", "XX", 5], (country) => ask(path, { country }))
      assert.deepStrictEqual(yield* answers, ["Germany", "USA", "Else", "3 merged", "Else", "Wrong"])

      yield* call("workflow_edit", {
        workflowId: id,
        operations: [
          { op: "set", node: "Country", path: "rules.values[+]", value: rule("FR") },
          respond("France"),
          connect("Country", "France", { sourceOutput: "FR" }),
          { op: "update", node: "Merge", parameters: { numberInputs: 2 } },
          { op: "tidy" }
        ]
      })
      yield* call("activate_workflow", { id })
      assert.deepStrictEqual(yield* answers, ["Germany", "USA", "France", "2 merged", "Else", "Wrong"])

      yield* call("workflow_edit", {
        workflowId: id,
        operations: [
          { op: "set", node: "Country", path: "rules.values[0]", value: null },
          { op: "replace", node: "USA", path: "responseBody", find: "USA", with: "$& America" }
        ]
      })
      yield* call("activate_workflow", { id })
      assert.deepStrictEqual(yield* answers, ["Else", "$& America", "France", "2 merged", "Else", "Wrong"])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
}
