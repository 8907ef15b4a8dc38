import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { arr, type Obj } from "../../src/base/Json.ts"
import * as Turn from "../../src/base/Turn.ts"
import * as Change from "../../src/fleet/change.ts"
import { type Operation, stepsFor, type Swap } from "../../src/fleet/Operations.ts"
import { joined, node, workflow } from "../support/workflows.ts"
import { lookups } from "../workflow/edit/edits.ts"

const http = (name: string, parameters: Obj, more: Obj = {}) =>
  node(name, "httpRequest", 4.2, { options: {}, ...parameters }, more)

const steps = (nodes: ReadonlyArray<Obj>, operation: Operation, swap?: Swap, more: Obj = {}) =>
  stepsFor(workflow("w", nodes, more), operation, swap).map(({ operation }) => operation)

describe("an operation on many workflows", () => {
  it("concerns every node of a type or name, or the one of a name or id", () => {
    const nodes = [http("A", {}), http("B", {}), node("C", "noOp")]
    const names = (node: string | { readonly type?: string; readonly name?: string }) =>
      steps(nodes, { op: "disable", node }).map(({ node }) => node)
    assert.deepStrictEqual(names({ type: "n8n-nodes-base.httpRequest" }), ["id of A", "id of B"])
    assert.deepStrictEqual(names({ name: "B" }), ["id of B"])
    assert.deepStrictEqual(names({ type: "n8n-nodes-base.noOp", name: "B" }), [])
    assert.deepStrictEqual(names("C"), ["id of C"])
    assert.deepStrictEqual(names("id of A"), ["id of A"])
    assert.deepStrictEqual(names("Nope"), [])
  })

  it("swaps a credential in each of its forms: by id, by name alone, and the text of before 2022", () => {
    const to = { id: "c9", name: "New login" }
    const forms = [{ id: "c1", name: "My old login" }, { name: "My old login" }, "My old login", {
      id: null,
      name: "x"
    }]
    const found = steps(
      forms.map((form, index) => http(`N${index}`, {}, { credentials: { httpBasicAuth: form, slackApi: "Team" } })),
      { op: "credential", from: "My old login", to: "New login" },
      { from: "My old login", to }
    )
    assert.deepStrictEqual(found.map(({ node }) => node), ["id of N0", "id of N1", "id of N2"])
    assert.deepStrictEqual(found[2]?.["credentials"], { httpBasicAuth: to, slackApi: "Team" })
  })

  it("replaces text wherever it is, or only at a path", () => {
    const nodes = [
      http("A", { url: "https://old/a", headers: { values: [{ value: "x" }, { value: "see old" }] } }),
      node("B", "set", 3.4, { note: "old old" })
    ]
    const paths = (more: Obj) =>
      steps(nodes, { op: "replace", find: "old", with: "new", ...more }).map(({ path }) => path)
    assert.deepStrictEqual(paths({}), [
      "nodes[0].parameters.url",
      "nodes[0].parameters.headers.values[1].value",
      "nodes[1].parameters.note"
    ])
    assert.deepStrictEqual(paths({ path: "parameters.url" }), ["nodes[0].parameters.url"])
    assert.deepStrictEqual(paths({ path: "nodes[0].parameters.url" }), ["nodes[0].parameters.url"])
    assert.deepStrictEqual(paths({ path: "nodes[1].parameters.url" }), [])
    assert.deepStrictEqual(paths({ path: "headers.values[].value" }), ["nodes[0].parameters.headers.values[1].value"])
    assert.deepStrictEqual(paths({ node: { type: "n8n-nodes-base.set" } }), ["nodes[1].parameters.note"])
    assert.deepStrictEqual(paths({ find: "OLD" }), [])
  })

  it("neither changes nor reveals secrets", () => {
    const nodes = [
      http("A", { headerParameters: { parameters: [{ name: "Authorization", value: "Bearer abc-def-ghi" }] } })
    ]
    assert.deepStrictEqual(steps(nodes, { op: "replace", find: "abc", with: "x" }), [])
  })

  it("changes calls of sub-workflows with their cached names, of tools, and error workflows", () => {
    const locator = { __rl: true, mode: "list", value: "1", cachedResultName: "Old", cachedResultUrl: "/workflow/1" }
    const nodes = [
      node("Call", "executeWorkflow", 1.2, { workflowId: locator }),
      node("Tool", "@n8n/n8n-nodes-langchain.toolWorkflow", 2.2, {
        workflowId: { ...locator, value: "9", cachedResultName: "Other" }
      }),
      node("Plain", "executeWorkflow", 1, { workflowId: "1" }),
      node("Computed", "executeWorkflow", 1.2, { workflowId: { ...locator, value: "={{ $json.id }}", mode: "id" } })
    ]
    const swap = { from: "Old", fromId: "1", to: { id: "2", name: "New" } }
    const calls = steps(nodes, { op: "calls", from: "Old", to: "New" }, swap, { settings: { errorWorkflow: "1" } })
    assert.deepStrictEqual(calls, [
      {
        op: "update",
        node: "id of Call",
        parameters: { workflowId: { ...locator, value: "2", cachedResultName: "New", cachedResultUrl: "/workflow/2" } }
      },
      { op: "update", node: "id of Plain", parameters: { workflowId: "2" } },
      { op: "settings", settings: { errorWorkflow: "2" } }
    ])
  })

  it("is not for workflows that lack an end of a connection", () => {
    const nodes = [node("A", "noOp"), node("B", "noOp")]
    assert.lengthOf(steps(nodes, { op: "connect", from: "A", to: "B" }), 1)
    assert.lengthOf(steps(nodes, { op: "connect", from: "A", to: "C" }), 0)
    assert.lengthOf(steps(nodes, { op: "add", type: "n8n-nodes-base.noOp", after: "C" }), 0)
  })
})

describe("the change of one workflow", () => {
  const before = workflow("w", [node("T", "manualTrigger"), http("A", { url: "https://old/a" })], {
    connections: joined(["T", "A"])
  })
  const make = (operations: ReadonlyArray<Operation>, id = "plan", from: Obj = before) =>
    Result.getOrThrow(
      Turn.finish(Change.make(from, { id, operations, swaps: operations.map(() => undefined), lookups: lookups() }))
    )

  it("is the same each time, new ids included", () => {
    const add: ReadonlyArray<Operation> = [{ op: "add", type: "n8n-nodes-base.noOp", name: "End", after: "A" }]
    assert.deepStrictEqual(make(add).workflow, make(add).workflow)
    assert.notDeepEqual(make(add, "another").workflow, make(add).workflow)
    assert.lengthOf(make(add).steps, 1)
  })

  it("gives another type to every node that matches, and keeps what fits", () => {
    const replaceNode = (type: string, more: Obj = {}): Operation => ({
      op: "replaceNode",
      node: { type: "httpRequest" },
      type,
      ...more
    })
    const { steps, workflow: after } = make([
      replaceNode("graphql", { parameters: { endpoint: "https://new", query: "{ a }" } })
    ])
    assert.deepStrictEqual(steps.map(({ change, operation }) => [change, operation["node"]]), [
      ["httpRequest → graphql {\"endpoint\":\"https://new\",\"query\":\"{ a }\"}", "id of A"]
    ])
    assert.deepInclude(arr(after["nodes"])[1], { id: "id of A", name: "A", type: "n8n-nodes-base.graphql" })
    assert.deepStrictEqual(after["connections"], before["connections"])
    assert.deepStrictEqual(make([replaceNode("httpRequest", { typeVersion: 4.2 })]).steps, [])
    const refused = Change.make(before, {
      id: "plan",
      operations: [replaceNode("no such type")],
      swaps: [undefined],
      lookups: lookups()
    })
    assert.match(Result.getOrThrow(Result.flip(Turn.finish(refused))), /no node type 'no such type'/)
  })

  it("has no steps where everything is as wanted already", () => {
    const set: Operation = { op: "set", node: "A", path: "url", value: "https://old/a" }
    assert.deepStrictEqual(make([set, { op: "enable", node: "A" }]).steps, [])
  })

  it("has a digest that ignores what n8n fills in, and counts what operations set", () => {
    const digest = Change.digester({ operations: [] })
    const stored = {
      ...before,
      settings: { callerPolicy: "workflowsFromSameOwner", executionOrder: "v1", errorWorkflow: "DEFAULT" }
    }
    assert.strictEqual(digest(stored), digest(before))
    assert.notStrictEqual(digest({ ...before, settings: { errorWorkflow: "1" } }), digest(before))
    const own = Change.digester({ operations: [{ op: "settings", settings: { executionOrder: "v0" } }] })
    assert.notStrictEqual(own(stored), own(before))
  })

  it("has the digests of plans that earlier versions have stored", () => {
    const workflow = {
      name: "Orders",
      nodes: [
        node("Hook", "webhook", 2, { path: "in" }, { id: "hook" }),
        node("End", "noOp", 1, {}, { id: "end", disabled: false })
      ],
      connections: joined(["Hook", "End"]),
      settings: { executionOrder: "v0", callerPolicy: "any", timezone: "DEFAULT", saveManualExecutions: true }
    }
    assert.deepStrictEqual(
      [
        Change.digester({ operations: [{ op: "enable", node: "End" }] })(workflow),
        Change.digester({ operations: [{ op: "settings", settings: { executionOrder: "v1" } }] })(workflow)
      ],
      ["695bd3dac807c72153ea0d81771410be", "75af1d770958b7f63c18d6af375d8d19"]
    )
  })
})
