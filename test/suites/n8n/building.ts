/** Builds workflows as an agent does, over stdio, and runs them on a real n8n. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schedule from "effect/Schedule"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import { RealN8n } from "./RealN8n.ts"
import { live } from "./scenarios.ts"
import * as session from "./session.ts"

type It = Vitest.MethodsNonLive<RealN8n>

/** Calls a webhook as soon as it is registered and returns its answer. */
const ask = Effect.fnUntraced(function*(path: string, body: Obj) {
  const { url } = yield* RealN8n
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  return yield* Effect.tryPromise(async () => {
    const response = await fetch(new URL(`webhook/${path}`, url), init)
    if (response.status === 404) throw new Error("not yet")
    return await response.text()
  }).pipe(Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 50 }), live)
})

/** Adds the tests of building workflows to a suite. */
export const building = (it: It, { drafts }: { readonly drafts: boolean }) => {
  it.effect("from an empty folder to the answer of a webhook, over stdio", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      const { call } = yield* session.open(folder)
      const path = `built-${crypto.randomUUID()}`

      const found = yield* call("node_search", { keyword: "receive a webhook" })
      const hook = String(obj(arr(found["nodes"])[0])?.["id"])
      assert.strictEqual(hook, "n8n-nodes-base.webhook")

      const { filePath, workflowId } = yield* call("workflow_create", { name: "Sort orders 注文" })
      assert.strictEqual(workflowId, "draft-sort-orders-注文")
      yield* call("node_add", {
        workflowId,
        nodeType: hook,
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
      const answer = (name: string, says: string) => ({
        op: "add",
        type: "n8n-nodes-base.respondToWebhook",
        name,
        parameters: { respondWith: "text", responseBody: `=${says} {{ $('Hook').item.json.body.total }}` }
      })
      const { problems } = yield* call("workflow_edit", {
        workflowId,
        operations: [
          answer("Big", "big"),
          answer("Small", "small"),
          { op: "connect", from: "Is it big?", to: "Big", sourceOutput: "true" },
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
      assert.isUndefined(made["warnings"])
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

      const { versions } = yield* call("workflow_history", { id: workflowId })
      assert.isAtLeast(arr(versions).length, 4)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("a renamed node is still found by HTML and by $item", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { call } = yield* session.open(yield* fs.realPath(yield* fs.makeTempDirectoryScoped()))
      const path = `renamed-${crypto.randomUUID()}`
      const field = (name: string, value: string) => ({ id: name, name, type: "string", value })
      const { filePath, workflowId } = yield* call("workflow_create", { name: "Renamed" })
      const add = (type: string, name: string, parameters: Obj, after?: string) => ({
        op: "add",
        type: `n8n-nodes-base.${type}`,
        name,
        parameters,
        ...(after === undefined ? {} : { after })
      })
      const set = (name: string, assignments: ReadonlyArray<Obj>, after: string) =>
        add("set", name, { includeOtherFields: true, assignments: { assignments } }, after)
      yield* call("workflow_edit", {
        workflowId,
        operations: [
          add("webhook", "Hook", { path, httpMethod: "POST", responseMode: "lastNode" }),
          set("Old", [field("a", "={{ $json.body.a }}")], "Hook"),
          add("html", "Page", { html: "<p>{{ $node[\"Old\"].json.a }} {{ $('Old').first().json.a }}</p>" }, "Old"),
          set("Last", [field("byItem", "={{ $item(0).$node[\"Old\"].json.a }}")], "Page")
        ]
      })
      const { id } = yield* call("create_workflow_from_file", { filePath })
      yield* call("activate_workflow", { id })
      const before = JSON.parse(yield* ask(path, { a: "some" })) as Obj
      assert.include(before, { byItem: "some" })
      assert.match(String(before["html"]), /^<p>some /)

      const { changes } = yield* call("workflow_edit", {
        workflowId: id,
        operations: [{ op: "rename", node: "Old", to: "It's \"new\"" }]
      })
      assert.deepStrictEqual(changes, ["renamed 'Old' to 'It's \"new\"', in 2 connections and 2 expressions, too"])
      const { counts } = yield* call("validate_workflow", { workflowId: id })
      assert.deepInclude(counts, { errors: 0 })
      yield* call("activate_workflow", { id })
      assert.deepStrictEqual(JSON.parse(yield* ask(path, { a: "some" })), before)

      // The references were needed.
      const { changes: removed } = yield* call("workflow_edit", {
        workflowId: id,
        operations: [{ op: "remove", node: "It's \"new\"" }]
      })
      assert.match(String(arr(removed)[0]), /2 expressions still name it: parameters\.html of 'Page'/)
      const after = yield* call("validate_workflow", { workflowId: id })
      assert.isAtLeast(Number(obj(after["counts"])?.["errors"]), 2)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("items take the same way after rules and inputs are added and removed", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { call } = yield* session.open(yield* fs.realPath(yield* fs.makeTempDirectoryScoped()))
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
      const answer = (name: string, responseBody = `=${name}`) => ({
        op: "add",
        type: "n8n-nodes-base.respondToWebhook",
        name,
        parameters: { respondWith: "text", responseBody }
      })
      const connect = (from: string, to: string, more: Obj = {}) => ({ op: "connect", from, to, ...more })
      const noOp = (name: string) => ({ op: "add", type: "n8n-nodes-base.noOp", name })

      const { filePath, workflowId } = yield* call("workflow_create", { name: "Ports" })
      yield* call("workflow_edit", {
        workflowId,
        operations: [
          {
            op: "add",
            type: "n8n-nodes-base.webhook",
            name: "Hook",
            parameters: { path, httpMethod: "POST", responseMode: "responseNode" }
          },
          {
            op: "add",
            type: "n8n-nodes-base.switch",
            name: "Country",
            after: "Hook",
            parameters: { rules: { values: ["DE", "US", "merge"].map(rule) }, options: { fallbackOutput: "extra" } }
          },
          ...["Germany", "USA", "Else", "Wrong"].map((name) => answer(name)),
          connect("Country", "Germany", { sourceOutput: "DE" }),
          connect("Country", "USA", { sourceOutput: "US" }),
          connect("Country", "Else", { sourceOutput: "Fallback" }),
          connect("Country", "Wrong", { sourceOutput: "error" }),
          { op: "add", type: "n8n-nodes-base.merge", name: "Merge", parameters: { numberInputs: 3 } },
          ...["A", "B", "C"].flatMap((name, index) => [
            noOp(name),
            connect("Country", name, { sourceOutput: "merge" }),
            connect(name, "Merge", { targetInput: index })
          ]),
          answer("Merged", "={{ $('Merge').all().length }} merged"),
          connect("Merge", "Merged")
        ]
      })
      const { id } = yield* call("create_workflow_from_file", { filePath })
      yield* call("activate_workflow", { id })
      const answers = Effect.forEach(["DE", "US", "FR", "merge", "XX", 5], (country) => ask(path, { country }))
      assert.deepStrictEqual(yield* answers, ["Germany", "USA", "Else", "3 merged", "Else", "Wrong"])

      const more = yield* call("workflow_edit", {
        workflowId: id,
        operations: [
          { op: "set", node: "Country", path: "rules.values[+]", value: rule("FR") },
          answer("France"),
          connect("Country", "France", { sourceOutput: "FR" }),
          { op: "update", node: "Merge", parameters: { numberInputs: 2 } },
          { op: "tidy" }
        ]
      })
      // C serves nothing any more, which only the editor minds.
      assert.deepStrictEqual(more["problems"], [])
      assert.include(
        arr(more["changes"]),
        "Country: output 'Fallback' moved from main[3] to main[4], with its link to 'Else'"
      )
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
