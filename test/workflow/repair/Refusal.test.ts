import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { Obj } from "../../../src/base/Json.ts"
import { drop, type Path, toDrop } from "../../../src/workflow/repair/Refusal.ts"
import { node } from "../../support/workflows.ts"

const setNode = (more: Obj = {}): Obj => node("A", "set", 3.4, {}, { id: "1", ...more })
const flow = (more: Obj = {}): Obj => ({ name: "Flow", nodes: [setNode()], connections: {}, settings: {}, ...more })
const settings = (some: Obj) => flow({ settings: some })
const nodes = (...some: ReadonlyArray<Obj>) => flow({ nodes: some.map(setNode) })

type Row = { readonly says: string; readonly body: Obj; readonly drops: ReadonlyArray<Path> }

const drops = ({ body, drops, says }: Row) => {
  const before = structuredClone(body)
  assert.deepStrictEqual(toDrop(says, body), drops)
  assert.deepStrictEqual(body, before)
}

describe("messages of n8n 2.41.1", () => {
  it.each<Row>([
    {
      says: "request/body/id is read-only",
      body: flow({ staticData: {}, id: "1", tags: [], active: true, versionCounter: 3 }),
      drops: [["id"], ["active"], ["versionCounter"], ["tags"]]
    },
    { says: "request/body/activeVersion is read-only", body: flow({ activeVersion: {} }), drops: [["activeVersion"]] },
    {
      says: "request/body Unrecognized key(s) in object: 'versionCounter'",
      body: flow({ versionCounter: 1 }),
      drops: [["versionCounter"]]
    },
    {
      says: "request/body Unrecognized key(s) in object: 'a', 'b'",
      body: flow({ a: 1, c: 2, b: 3 }),
      drops: [["a"], ["b"]]
    },
    {
      says: "request/body Unrecognized key(s) in object: 'description'",
      body: flow({ description: "of a POST" }),
      drops: [["description"]]
    },
    {
      says: "request/body/settings Unrecognized key(s) in object: 'maxExecutions', 'retryOnFail'",
      body: settings({ maxExecutions: 1, timezone: "UTC", retryOnFail: true }),
      drops: [["settings", "maxExecutions"], ["settings", "retryOnFail"]]
    },
    {
      says: "request/body/settings Unrecognized key(s) in object: 'x', 'timezone'",
      body: settings({ "x', 'timezone": 1, timezone: "UTC" }),
      drops: [["settings", "x', 'timezone"]]
    },
    {
      says: "request/body/settings Unrecognized key(s) in object: 'it's', 'größe', 'a/b', 'toString'",
      body: settings({ "it's": 1, größe: 1, "a/b": 1, toString: 1 }),
      drops: [["settings", "it's"], ["settings", "größe"], ["settings", "a/b"], ["settings", "toString"]]
    },
    {
      says: "request/body/settings/errorWorkflow Expected string, received null",
      body: settings({ errorWorkflow: null, timezone: null }),
      drops: [["settings", "errorWorkflow"]]
    },
    {
      says: "request/body/settings/executionTimeout Expected number, received string",
      body: settings({ executionTimeout: "60" }),
      drops: [["settings", "executionTimeout"]]
    },
    {
      says: "request/body/settings/saveDataErrorExecution Invalid enum value. Expected 'all' | 'none', received 'some'",
      body: settings({ saveDataErrorExecution: "some" }),
      drops: [["settings", "saveDataErrorExecution"]]
    },
    {
      says: "request/body/settings/customTelemetryTags/0 Unrecognized key(s) in object: 'x'",
      body: settings({ customTelemetryTags: [{ key: "a", value: "b", x: 1 }] }),
      drops: [["settings", "customTelemetryTags", 0, "x"]]
    },
    {
      says: "request/body/settings/customTelemetryTags/0/key Expected string, received number",
      body: settings({ customTelemetryTags: [{ key: 1 }] }),
      drops: [["settings", "customTelemetryTags"]]
    },
    {
      says: "request/body/nodes/0 Unrecognized key(s) in object: 'color', 'x'",
      body: nodes({ color: 1, x: 1 }, { y: 1 }, { color: 2 }),
      drops: [["nodes", 0, "color"], ["nodes", 0, "x"], ["nodes", 2, "color"]]
    },
    {
      says: "request/body/nodes/1/createdAt is read-only",
      body: nodes({}, { createdAt: "now" }, { createdAt: "then" }),
      drops: [["nodes", 1, "createdAt"], ["nodes", 2, "createdAt"]]
    },
    {
      says: "request/body/nodes/0/webhookId Expected string, received null",
      body: nodes({ webhookId: null, notes: null }, { webhookId: "kept" }, { webhookId: null }),
      drops: [["nodes", 0, "webhookId"], ["nodes", 2, "webhookId"]]
    },
    {
      says: "request/body/nodes/0/customTelemetryTags Unrecognized key(s) in object: 'x'",
      body: nodes({ customTelemetryTags: { x: 1, tag: [] } }),
      drops: [["nodes", 0, "customTelemetryTags", "x"]]
    },
    {
      says: "request/body/nodeGroups/1 Unrecognized key(s) in object: 'color'",
      body: flow({ nodeGroups: [{ id: "1" }, { color: 1 }] }),
      drops: [["nodeGroups", 1, "color"]]
    },
    {
      says: "request/body/nodeGroups/1 must have required property 'id'",
      body: flow({ nodeGroups: [{ id: "1" }, { a: 1 }] }),
      drops: [["nodeGroups", 1]]
    },
    {
      says: "request/body/nodeGroups Expected array, received string",
      body: flow({ nodeGroups: "x" }),
      drops: [["nodeGroups"]]
    },
    {
      says: "request/body/pinData Expected object, received string",
      body: flow({ pinData: "x" }),
      drops: [["pinData"]]
    },
    { says: "request/body/staticData Invalid input", body: flow({ staticData: 5 }), drops: [["staticData"]] },
    {
      says: "request/body/staticData must be a JSON string",
      body: flow({ staticData: "nope" }),
      drops: [["staticData"]]
    },
    {
      says: "request/body/shared/0/createdAt is read-only",
      body: flow({ shared: [{ createdAt: "now" }] }),
      drops: [["shared", 0]]
    }
  ])("$says", drops)
})

describe("messages of n8n 1.123.81", () => {
  const root = "request/body must NOT have additional properties"
  const inSettings = "request/body/settings must NOT have additional properties"
  const inNode = "request/body/nodes/0 must NOT have additional properties"

  it.each<Row>([
    { says: "request/body/id is read-only", body: flow({ id: "1", meta: {} }), drops: [["id"], ["meta"]] },
    {
      says: "request/body/activeVersion must pass \"readOnly\" keyword validation",
      body: flow({ activeVersion: null }),
      drops: [["activeVersion"]]
    },
    { says: "request/body/createdAt must be string", body: flow({ createdAt: null }), drops: [["createdAt"]] },
    {
      says: root,
      body: flow({ versionId: "1", notes: "", staticData: {}, pinData: {}, description: "" }),
      drops: [["versionId"], ["notes"]]
    },
    { says: root, body: flow({ staticData: {}, pinData: {}, description: "" }), drops: [["description"]] },
    { says: root, body: flow({ projectId: "p", description: "" }), drops: [["description"]] },
    { says: root, body: flow({ staticData: {}, pinData: {}, projectId: "p" }), drops: [["projectId"]] },
    { says: root, body: flow({ staticData: {}, pinData: {} }), drops: [["pinData"]] },
    { says: root, body: flow({ staticData: {} }), drops: [] },
    {
      says: inSettings,
      body: settings({ timezone: "UTC", maxExecutions: 1, binaryMode: "separate", callerPolicy: "any" }),
      drops: [["settings", "maxExecutions"]]
    },
    {
      says: inSettings,
      body: settings({ binaryMode: "separate", timezone: "UTC", redactionPolicy: "none", timeSavedMode: "fixed" }),
      drops: [["settings", "timeSavedMode"], ["settings", "binaryMode"]]
    },
    {
      says: inSettings,
      body: settings({ redactionPolicy: "none", availableInMCP: true, customTelemetryTags: [] }),
      drops: [["settings", "redactionPolicy"], ["settings", "customTelemetryTags"]]
    },
    // 1.60 and its like take none of these, but 1.123 gives them to whoever reads.
    {
      says: inSettings,
      body: settings({ availableInMCP: false, callerPolicy: "any" }),
      drops: [["settings", "availableInMCP"]]
    },
    {
      says: inSettings,
      body: settings({ callerPolicy: "any", executionOrder: "v1" }),
      drops: [["settings", "callerPolicy"]]
    },
    { says: inSettings, body: settings({ executionOrder: "v1", timezone: "UTC" }), drops: [] },
    {
      says: "request/body/settings/errorWorkflow must be string",
      body: settings({ errorWorkflow: null }),
      drops: [["settings", "errorWorkflow"]]
    },
    {
      says:
        "request/body/settings/callerPolicy must be equal to one of the allowed values: any, none, workflowsFromAList, workflowsFromSameOwner",
      body: settings({ callerPolicy: "x" }),
      drops: [["settings", "callerPolicy"]]
    },
    {
      says: inNode,
      body: nodes({ color: 1, createdAt: "", onError: "", customTelemetryTags: {} }, { color: 2, note: 1 }),
      drops: [["nodes", 0, "color"], ["nodes", 0, "createdAt"], ["nodes", 1, "color"]]
    },
    {
      says: inNode,
      body: nodes({ customTelemetryTags: {}, notes: "" }, { customTelemetryTags: {} }),
      drops: [["nodes", 0, "customTelemetryTags"], ["nodes", 1, "customTelemetryTags"]]
    },
    { says: inNode, body: nodes({ credentials: {}, webhookId: "", continueOnFail: true, maxTries: 1 }), drops: [] },
    { says: "request/body/nodes/0/notes must be string", body: nodes({ notes: null }), drops: [["nodes", 0, "notes"]] },
    {
      says:
        "request/body/staticData must be string, request/body/staticData must be object, request/body/staticData must match a schema in anyOf",
      body: flow({ staticData: 5 }),
      drops: [["staticData"]]
    },
    {
      says: "request/body/shared/0 must NOT have additional properties",
      body: flow({ shared: [{ junk: 1 }] }),
      drops: [["shared", 0]]
    }
  ])("$says, of $body", drops)
})

describe("messages about something else", () => {
  it.each([
    "request/body/name Expected string, received null",
    "request/body/name is read-only",
    "request/body/nodes Expected array, received object",
    "request/body/nodes/0 Expected object, received string",
    "request/body/nodes/0/typeVersion Expected number, received null",
    "request/body/nodes/0/parameters must be object",
    "request/body/nodes/0/position/0 Expected number, received string",
    // Without them the node would run, or run as somebody else.
    "request/body/nodes/0/disabled Expected boolean, received string",
    "request/body/nodes/0/credentials Expected object, received array",
    "request/body/nodes/0/onError must be string",
    "request/body/nodes/7/color is read-only",
    "request/body/settings Expected object, received null",
    "request/body/settings must be object",
    "request/body/connections must be object",
    "request/body must have required property 'settings'",
    "request/body Expected object, received array",
    "request/body Unrecognized key(s) in object: 'gone'",
    "request/body/settings/gone Expected string, received null",
    "request/body/settings/constructor Expected string, received null",
    // It would land in another project.
    "request/body/projectId Expected string, received number",
    "request/body/parentFolderId Expected string, received number",
    "Workflow structure is invalid. connections.X (unknown_connection_source): Connection source \"X\" does not reference an existing node",
    "Group \"G\" references node ID \"zz\" that does not exist in the workflow.",
    "Workflow name must be 1 to 128 characters long.",
    "Cannot read properties of null (reading 'id')",
    ""
  ])("%s", (says) => {
    const some = setNode({ typeVersion: null, parameters: null, disabled: "yes", credentials: [], onError: 1 })
    const body = flow({ name: null, nodes: [some], settings: { timezone: "UTC" }, projectId: 1, parentFolderId: 1 })
    assert.deepStrictEqual(toDrop(says, body), [])
  })
})

describe("dropping", () => {
  const body = flow({ pinData: { A: 1 }, nodes: [setNode({ color: 1 }), setNode()], nodeGroups: ["a", "b", "c"] })

  it("takes what is at the path, and nothing else", () => {
    assert.deepStrictEqual(drop(body, [["pinData"]]), flow({ nodes: body["nodes"], nodeGroups: body["nodeGroups"] }))
    assert.deepStrictEqual(drop(body, [["nodes", 0, "color"]]), { ...body, nodes: [setNode(), setNode()] })
    assert.deepStrictEqual(drop(body, [["nodeGroups", 1]]), { ...body, nodeGroups: ["a", "c"] })
    assert.deepStrictEqual(drop(body, [["pinData", "A"]]), { ...body, pinData: {} })
  })

  it("changes neither the body nor anything outside the path", () => {
    const before = structuredClone(body)
    const after = drop(body, [["nodes", 0, "color"]])
    assert.deepStrictEqual(body, before)
    assert.strictEqual(after["nodeGroups"], body["nodeGroups"])
  })

  it.each<{ path: Path }>([
    { path: [] },
    { path: ["gone"] },
    { path: ["toString"] },
    { path: ["nodes", 9, "color"] },
    { path: ["nodes", 1, "color"] },
    { path: ["nodes", 0, "color", "deeper"] },
    { path: ["name", "length"] },
    { path: ["nodes", "length"] }
  ])("nothing at $path is not a change", ({ path }) => {
    assert.deepStrictEqual(drop(body, [path]), body)
  })

  it("accepts a key with a prototype's name", () => {
    const odd: Obj = JSON.parse(`{"settings":{"__proto__":1,"a":{"__proto__":{"b":1}}}}`)
    const says = "request/body/settings Unrecognized key(s) in object: '__proto__'"
    assert.deepStrictEqual(toDrop(says, odd), [["settings", "__proto__"]])
    const after = drop(odd, [["settings", "__proto__"]])
    assert.strictEqual(JSON.stringify(after), `{"settings":{"a":{"__proto__":{"b":1}}}}`)
    assert.strictEqual(
      JSON.stringify(drop(after, [["settings", "a", "__proto__", "b"]])),
      `{"settings":{"a":{"__proto__":{}}}}`
    )
  })
})

describe("leaving out what is refused, again and again", () => {
  const places = [
    "",
    "/name",
    "/nodes",
    "/connections",
    "/settings",
    "/id",
    "/pinData",
    "/junk",
    "/nodeGroups/0",
    "/name/0",
    "/connections/0"
  ]
  const inNode = [
    "",
    "/name",
    "/type",
    "/typeVersion",
    "/position",
    "/parameters",
    "/credentials",
    "/color",
    "/notes/0"
  ]
  const Says = Schema.Struct({
    place: Schema.Literals([...places, "/settings/timezone", "/settings/junk", ...inNode.map((at) => `/nodes/1${at}`)]),
    words: Schema.Literals([
      "is read-only",
      "must pass \"readOnly\" keyword validation",
      "must NOT have additional properties",
      "Unrecognized key(s) in object: 'name', 'type', 'junk', 'color'",
      "Unrecognized key(s) in object: 'settings', 'id'",
      "Expected string, received null",
      "must be object",
      "Required"
    ])
  })
  const Value = Schema.Union([Schema.Null, Schema.Json])
  const Body = Schema.Struct({
    name: Value,
    nodes: Schema.Array(
      Schema.Struct({
        name: Value,
        type: Value,
        typeVersion: Value,
        position: Value,
        parameters: Value,
        credentials: Value,
        color: Value,
        notes: Value
      })
    ),
    connections: Value,
    settings: Schema.Struct({ timezone: Value, junk: Value, callerPolicy: Value }),
    id: Value,
    pinData: Value,
    junk: Value,
    nodeGroups: Schema.Array(Value)
  })

  it("takes time in proportion to the keys that are dropped", () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `k${index}`)
    const odd = { ...setNode(), ...Object.fromEntries(keys.map((key) => [key, 1])) }
    // Copying the node for each key would not end within the test's time.
    const body = flow({ nodes: Array.from({ length: 20 }, () => odd) })
    const paths = toDrop("request/body/nodes/0 must NOT have additional properties", body)
    assert.lengthOf(paths, 200_000)
    assert.deepStrictEqual(drop(body, paths), flow({ nodes: Array.from({ length: 20 }, () => setNode()) }))
  })

  it.prop("ends, and leaves a workflow a workflow", { body: Body, says: Says }, ({ body, says }) => {
    const message = `request/body${says.place} ${says.words}`
    const size = (value: unknown) => JSON.stringify(value).length
    let left: Obj = body
    for (let round = 0; round < 60; round++) {
      const paths = toDrop(message, left)
      if (paths.length === 0) break
      const next = drop(left, paths)
      assert.isBelow(size(next), size(left))
      left = next
    }
    assert.deepStrictEqual(toDrop(message, left), [])
    assert.hasAllKeys({ ...left, id: 0, pinData: 0, junk: 0, nodeGroups: 0 }, Object.keys(body))
    const { connections, name, nodes } = body
    const needed = nodes.map((each) => [each.name, each.type, each.typeVersion, each.position, each.parameters])
    assert.deepStrictEqual([left["name"], left["connections"]], [name, connections])
    assert.deepStrictEqual(
      (left["nodes"] as ReadonlyArray<Obj>).map((each) =>
        ["name", "type", "typeVersion", "position", "parameters"].map((key) => each[key])
      ),
      needed
    )
    assert.isObject(left["settings"])
  })

  it("takes one round for a key that a thousand nodes have", () => {
    const many = nodes(...Array.from({ length: 1_000 }, () => ({ color: 1 })))
    const paths = toDrop("request/body/nodes/0 Unrecognized key(s) in object: 'color'", many)
    assert.deepStrictEqual(drop(many, paths), nodes(...Array.from({ length: 1_000 }, () => ({}))))
  })
})
