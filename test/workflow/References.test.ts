import { assert, describe, it } from "@effect/vitest"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as JsonPath from "../../src/base/JsonPath.ts"
import * as References from "../../src/workflow/References.ts"
import * as nodeTypes from "../support/nodeTypes.ts"
import { node, workflow } from "../support/workflows.ts"

const same = (actual: unknown, expected: unknown, message?: string) => assert.deepStrictEqual(actual, expected, message)

const find = (type: string) => nodeTypes.all.get(type)

const locator = (mode: string, value: string, more: Obj = {}) => ({ __rl: true, mode, value, ...more })

const http = (credentials: unknown, more: Obj = {}, parameters: Obj = {}) =>
  node("Get", "httpRequest", 4.2, {
    authentication: "genericCredentialType",
    genericAuthType: "httpBasicAuth",
    options: {},
    ...parameters
  }, { credentials, ...more })

const langchain = "@n8n/n8n-nodes-langchain."

/** A reference without its place. */
const short = ({ node: _, nodeId: __, steps: ___, ...rest }: References.Reference) => rest

const ofNode = (value: Obj) => References.ofNode(value, 0, find).map(short)

describe("references of a node", () => {
  it("are credentials in each form that n8n stores", () => {
    const basic = { kind: "credential", type: "httpBasicAuth" }
    const forms: ReadonlyArray<readonly [unknown, Obj]> = [
      [{ id: "c1", name: "Login" }, { id: "c1", name: "Login" }],
      [{ id: null, name: "Login" }, { name: "Login" }],
      [{ name: "Login" }, { name: "Login" }],
      ["Login", { name: "Login" }],
      ["", {}],
      [{}, {}],
      [{ id: "", name: "" }, {}],
      [null, {}],
      [{ id: null, name: "", __aiGatewayManaged: true }, { decidedBy: "n8n" }],
      [{ id: "={{ $json.id }}", name: "Any" }, { decidedBy: "={{ $json.id }}" }]
    ]
    for (const [value, expected] of forms) {
      same(ofNode(http({ httpBasicAuth: value })), [{ ...basic, ...expected }])
    }
  })

  it("say whether n8n uses a credential: not of a disabled node, nor of a type that the node does not read", () => {
    const credentials = { httpBasicAuth: { id: "a", name: "A" }, httpHeaderAuth: { id: "b", name: "B" } }
    const unused = (value: Obj) => ofNode(value).map(({ unused }) => unused)
    same(unused(http(credentials)), [undefined, "unread"])
    same(unused(http(credentials, { disabled: true })), ["disabled", "unread"])
    same(unused(http(credentials, {}, { authentication: "none" })), ["unread", "unread"])
    const hook = node("Hook", "webhook", 2, { path: "a" }, { credentials })
    same(unused(hook), ["unread", "unread"])
    same(unused({ ...hook, parameters: { authentication: "basicAuth" } }), [undefined, "unread"])
    same(unused({ ...hook, type: "acme.unknown" }), [undefined, undefined])
  })

  const call = (parameters: Obj, type = "executeWorkflow", more: Obj = {}) => node("Call", type, 1.2, parameters, more)
  const table = (parameters: Obj, type = "dataTable", version = 1) => node("Rows", type, version, parameters)
  const id = { workflowId: "w1" }
  const rows: ReadonlyArray<readonly [node: Obj, ...ReadonlyArray<Obj>]> = [
    [call(id), { kind: "calls", id: "w1" }],
    [call({ workflowId: locator("list", "w1", { cachedResultName: "S" }) }), { kind: "calls", id: "w1", name: "S" }],
    [call({ workflowId: locator("url", "https://n8n.test/workflow/w1?x") }), { kind: "calls", id: "w1" }],
    [call({ workflowId: locator("id", "={{ $json.id }}") }), { kind: "calls", decidedBy: "={{ $json.id }}" }],
    [call({ workflowId: locator("id", "") })],
    [call(id, `${langchain}toolWorkflow`), { kind: "tool", id: "w1" }],
    [call(id, `${langchain}retrieverWorkflow`), { kind: "tool", id: "w1" }],
    [call(id, "executeWorkflow", { disabled: true }), { kind: "calls", id: "w1", unused: "disabled" }],
    [
      call({ source: "localFile", workflowPath: "/a.json", ...id }),
      { kind: "calls", id: "w1", unused: "unread" },
      { kind: "calls", decidedBy: "localFile: /a.json" }
    ],
    [call({ source: "parameter", workflowJson: "{}" }), { kind: "calls", decidedBy: "parameter: JSON in the node" }],
    [call({ workflowId: locator("id", "w1") }, "n8n"), { kind: "api", id: "w1" }],
    [table({ dataTableId: locator("id", "t1") }), { kind: "table", id: "t1" }],
    [table({ dataTableId: locator("name", "orders") }), { kind: "table", name: "orders" }],
    [
      table({ resource: "table", operation: "create", dataTableId: locator("id", "t1") }),
      { kind: "table", id: "t1", unused: "unread" }
    ],
    [
      table({ dataTableId: locator("id", "t1") }, "evaluationTrigger", 4.6),
      { kind: "table", id: "t1", unused: "unread" }
    ]
  ]
  it.each(rows)("are called workflows and data tables: %j", (node, ...expected) => same(ofNode(node), expected))

  it("cover every parameter of n8n's nodes that selects a workflow or a data table", () => {
    const missing = nodeTypes.versions.flatMap(([{ type }, { properties }, version]) =>
      properties.flatMap(({ modes = [], name, type: kind }) => {
        const isById = kind === "string" || modes.some((mode) => mode.name === "id")
        const isReference = kind === "workflowSelector" || name === "workflowId" && isById || name === "dataTableId"
        if (!isReference) return []
        const value = node("N", type, version, { [name]: locator("id", "x") })
        return References.ofNode(value).some(({ id }) => id === "x") ? [] : [`${type} ${version} ${name}`]
      })
    )
    same(missing, [])
  })
})

const whole = workflow("w", [
  http({ httpBasicAuth: "Old login", "odd key": { id: "c2", name: "Odd" } }, { name: "A \"quoted\" [0].x" }),
  node("Call", "executeWorkflow", 1.2, {
    workflowId: locator("list", "w1", { cachedResultName: "Sub", cachedResultUrl: "/workflow/w1" })
  }),
  node("Rows", "dataTable", 1, {
    dataTableId: locator("list", "t1", { cachedResultName: "T", cachedResultUrl: "/projects/p/datatables/t1" })
  }),
  node("Send", "httpRequest", 4.2, { url: "https://n8n.test/webhook/orders" })
], { settings: { errorWorkflow: "e1", callerIds: "a, b,,c", callerPolicy: "workflowsFromAList" } })

describe("references of a workflow", () => {
  it("each have a path that parses and leads to their value", () => {
    const references = References.of(whole)
    same(
      references.map(({ kind }) => kind).join(" "),
      "error caller caller caller credential credential calls table http"
    )
    for (const reference of references) {
      const path = References.pathOf(reference)
      const steps = JsonPath.parse(path)
      same(steps, reference.kind === "caller" ? reference.steps.slice(0, -1) : reference.steps, path)
      assert.isDefined(JsonPath.get(whole, steps ?? []), path)
    }
  })

  it("are replaced by their counterparts, and nothing else is", () => {
    const to: { readonly [id: string]: References.NamedRef } = {
      e1: { id: "e2", name: "E" },
      a: { id: "b", name: "" },
      b: { id: "a", name: "" },
      w1: { id: "w2", name: "New" },
      t1: { id: "t2", name: "T2" },
      "Old login": { id: "c9", name: "Login" }
    }
    const moved = References.replace(whole, ({ id, name }) => to[id ?? name ?? ""])
    same(moved["settings"], { errorWorkflow: "e2", callerIds: "b,a,,c", callerPolicy: "workflowsFromAList" })
    const [first, call, rows, send] = arr(moved["nodes"]).map((each) => obj(each) ?? {})
    same(first?.["credentials"], { httpBasicAuth: { id: "c9", name: "Login" }, "odd key": { id: "c2", name: "Odd" } })
    same(call?.["parameters"], {
      workflowId: locator("list", "w2", { cachedResultName: "New", cachedResultUrl: "/workflow/w2" })
    })
    same(rows?.["parameters"], { dataTableId: locator("list", "t2", { cachedResultName: "T2" }) })
    same(send, whole.nodes[3])
    same(References.replace(whole, () => undefined), whole)
  })

  it("by a name alone have the id null, without which n8n binds any credential of the type", () => {
    const sent = (value: unknown) =>
      obj(arr(References.withNullIds(workflow("w", [http({ httpBasicAuth: value })]))["nodes"])[0])?.["credentials"]
    same(sent({ name: "Login" }), { httpBasicAuth: { id: null, name: "Login" } })
    same(sent({}), { httpBasicAuth: { id: null, name: "" } })
    for (const value of [{ id: "a", name: "A" }, { id: null, name: "A" }, "Login", { __aiGatewayManaged: true }]) {
      same(sent(value), { httpBasicAuth: value })
    }
    same(References.withNullIds(whole), whole)
  })
})
