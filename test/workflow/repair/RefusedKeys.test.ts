import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { Obj } from "../../../src/base/Json.ts"
import * as JsonPath from "../../../src/base/JsonPath.ts"
import { drop, type Path, toDrop } from "../../../src/workflow/repair/RefusedKeys.ts"
import { node } from "../../support/workflows.ts"

const setNode = (more: Obj = {}): Obj => node("A", "set", 3.4, {}, { id: "1", ...more })
const flow = (more: Obj = {}): Obj => ({ name: "Flow", nodes: [setNode()], connections: {}, settings: {}, ...more })
const settings = (some: Obj) => flow({ settings: some })
const nodes = (...some: ReadonlyArray<Obj>) => flow({ nodes: some.map(setNode) })

/** A message after `request/body`, the body, and the paths of what it drops, in order. */
type Row = [says: string, body: Obj, ...drops: Array<string>]

const drops = (says: string, body: Obj, ...drops: ReadonlyArray<string>) => {
  const before = structuredClone(body)
  assert.deepStrictEqual(toDrop(`request/body${says}`, body), drops.map((path) => JsonPath.parse(path) ?? []))
  assert.deepStrictEqual(body, before)
}

const keys = (...some: ReadonlyArray<string>) =>
  ` Unrecognized key(s) in object: ${some.map((key) => `'${key}'`).join(", ")}`

describe("messages of n8n 2.41.1", () => {
  const computed = flow({ staticData: {}, id: "1", tags: [], active: true, versionCounter: 3 })
  const odd = settings({ "it's": 1, größe: 1, "a/b": 1, toString: 1 })
  const policy = " Invalid enum value. Expected 'all' | 'none', received 'some'"
  it.each<Row>([
    ["/id is read-only", computed, "id", "active", "versionCounter", "tags"],
    ["/activeVersion is read-only", flow({ activeVersion: {} }), "activeVersion"],
    [keys("versionCounter"), flow({ versionCounter: 1 }), "versionCounter"],
    [keys("a", "b"), flow({ a: 1, c: 2, b: 3 }), "a", "b"],
    [keys("description"), flow({ description: "of a POST" }), "description"],
    [
      `/settings${keys("maxExecutions", "retryOnFail")}`,
      settings({ maxExecutions: 1, timezone: "UTC", retryOnFail: true }),
      "settings.maxExecutions",
      "settings.retryOnFail"
    ],
    [
      `/settings${keys("x", "timezone")}`,
      settings({ "x', 'timezone": 1, timezone: "UTC" }),
      "settings[\"x', 'timezone\"]"
    ],
    [
      `/settings${keys("it's", "größe", "a/b", "toString")}`,
      odd,
      ...Object.keys(odd["settings"] as Obj).map((key) => `settings["${key}"]`)
    ],
    [
      "/settings/errorWorkflow Expected string, received null",
      settings({ errorWorkflow: null, timezone: null }),
      "settings.errorWorkflow"
    ],
    ["/settings/executionTimeout Expected number", settings({ executionTimeout: "60" }), "settings.executionTimeout"],
    [`/settings/saveDataError${policy}`, settings({ saveDataError: "some" }), "settings.saveDataError"],
    [
      `/settings/customTelemetryTags/0${keys("x")}`,
      settings({ customTelemetryTags: [{ key: "a", value: "b", x: 1 }] }),
      "settings.customTelemetryTags[0].x"
    ],
    [
      "/settings/customTelemetryTags/0/key Expected string, received number",
      settings({ customTelemetryTags: [{ key: 1 }] }),
      "settings.customTelemetryTags"
    ],
    [
      `/nodes/0${keys("color", "x")}`,
      nodes({ color: 1, x: 1 }, { y: 1 }, { color: 2 }),
      "nodes[0].color",
      "nodes[0].x",
      "nodes[2].color"
    ],
    [
      "/nodes/1/createdAt is read-only",
      nodes({}, { createdAt: "now" }, { createdAt: "then" }),
      "nodes[1].createdAt",
      "nodes[2].createdAt"
    ],
    [
      "/nodes/0/webhookId Expected string, received null",
      nodes({ webhookId: null, notes: null }, { webhookId: "kept" }, { webhookId: null }),
      "nodes[0].webhookId",
      "nodes[2].webhookId"
    ],
    [
      `/nodes/0/customTelemetryTags${keys("x")}`,
      nodes({ customTelemetryTags: { x: 1, tag: [] } }),
      "nodes[0].customTelemetryTags.x"
    ],
    [`/nodeGroups/1${keys("color")}`, flow({ nodeGroups: [{ id: "1" }, { color: 1 }] }), "nodeGroups[1].color"],
    ["/nodeGroups/1 must have required property 'id'", flow({ nodeGroups: [{ id: "1" }, { a: 1 }] }), "nodeGroups[1]"],
    ["/nodeGroups Expected array, received string", flow({ nodeGroups: "x" }), "nodeGroups"],
    ["/pinData Expected object, received string", flow({ pinData: "x" }), "pinData"],
    ["/staticData Invalid input", flow({ staticData: 5 }), "staticData"],
    ["/staticData must be a JSON string", flow({ staticData: "nope" }), "staticData"],
    ["/shared/0/createdAt is read-only", flow({ shared: [{ createdAt: "now" }] }), "shared[0]"]
  ])("%s", drops)
})

describe("messages of n8n 1.123.81", () => {
  const root = " must NOT have additional properties"
  const inSettings = `/settings${root}`
  const inNode = `/nodes/0${root}`
  const known = { staticData: {}, pinData: {} }

  it.each<Row>([
    ["/id is read-only", flow({ id: "1", meta: {} }), "id", "meta"],
    ["/activeVersion must pass \"readOnly\" keyword validation", flow({ activeVersion: null }), "activeVersion"],
    ["/createdAt must be string", flow({ createdAt: null }), "createdAt"],
    [root, flow({ versionId: "1", notes: "", ...known, description: "" }), "versionId", "notes"],
    [root, flow({ ...known, description: "" }), "description"],
    [root, flow({ projectId: "p", description: "" }), "description"],
    [root, flow({ ...known, projectId: "p" }), "projectId"],
    [root, flow(known), "pinData"],
    [root, flow({ staticData: {} })],
    [
      inSettings,
      settings({ timezone: "UTC", maxExecutions: 1, binaryMode: "separate", callerPolicy: "any" }),
      "settings.maxExecutions"
    ],
    [
      inSettings,
      settings({ binaryMode: "separate", timezone: "UTC", redactionPolicy: "none", timeSavedMode: "fixed" }),
      "settings.timeSavedMode",
      "settings.binaryMode"
    ],
    [
      inSettings,
      settings({ redactionPolicy: "none", availableInMCP: true, customTelemetryTags: [] }),
      "settings.redactionPolicy",
      "settings.customTelemetryTags"
    ],
    // 1.60 and its like take none of these, but 1.123 gives them to whoever reads.
    [inSettings, settings({ availableInMCP: false, callerPolicy: "any" }), "settings.availableInMCP"],
    [inSettings, settings({ callerPolicy: "any", executionOrder: "v1" }), "settings.callerPolicy"],
    [inSettings, settings({ executionOrder: "v1", timezone: "UTC" })],
    ["/settings/errorWorkflow must be string", settings({ errorWorkflow: null }), "settings.errorWorkflow"],
    [
      "/settings/callerPolicy must be equal to one of the allowed values: any, none, workflowsFromAList",
      settings({ callerPolicy: "x" }),
      "settings.callerPolicy"
    ],
    [
      inNode,
      nodes({ color: 1, createdAt: "", onError: "", customTelemetryTags: {} }, { color: 2, note: 1 }),
      "nodes[0].color",
      "nodes[0].createdAt",
      "nodes[1].color"
    ],
    [
      inNode,
      nodes({ customTelemetryTags: {}, notes: "" }, { customTelemetryTags: {} }),
      "nodes[0].customTelemetryTags",
      "nodes[1].customTelemetryTags"
    ],
    [inNode, nodes({ credentials: {}, webhookId: "", continueOnFail: true, maxTries: 1 })],
    ["/nodes/0/notes must be string", nodes({ notes: null }), "nodes[0].notes"],
    [
      "/staticData must be string, request/body/staticData must match a schema in anyOf",
      flow({ staticData: 5 }),
      "staticData"
    ],
    [`/shared/0${root}`, flow({ shared: [{ junk: 1 }] }), "shared[0]"]
  ])("%s, of %j", drops)
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

  it("takes what is at the path, and changes neither the body nor anything else", () => {
    const before = structuredClone(body)
    assert.deepStrictEqual(drop(body, [["pinData"]]), flow({ nodes: body["nodes"], nodeGroups: body["nodeGroups"] }))
    const after = drop(body, [["nodes", 0, "color"]])
    assert.deepStrictEqual(after, { ...body, nodes: [setNode(), setNode()] })
    assert.strictEqual(after["nodeGroups"], body["nodeGroups"])
    assert.deepStrictEqual(drop(body, [["nodeGroups", 1]]), { ...body, nodeGroups: ["a", "c"] })
    assert.deepStrictEqual(drop(body, [["pinData", "A"]]), { ...body, pinData: {} })
    assert.deepStrictEqual(body, before)
  })

  it.each<[Path]>([
    [[]],
    [["gone"]],
    [["toString"]],
    [["nodes", 9, "color"]],
    [["nodes", 1, "color"]],
    [["nodes", 0, "color", "deeper"]],
    [["name", "length"]],
    [["nodes", "length"]]
  ])("nothing at %j is not a change", (path) => assert.deepStrictEqual(drop(body, [path]), body))

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
  const places = " name nodes connections settings id pinData junk nodeGroups/0 name/0 connections/0".split(" ")
  const inNode = " name type typeVersion position parameters credentials color notes/0".split(" ")
  const at = (start: string, all: ReadonlyArray<string>) => all.map((each) => each === "" ? start : `${start}/${each}`)
  const Says = Schema.Struct({
    place: Schema.Literals([...at("", places), ...at("/settings", ["timezone", "junk"]), ...at("/nodes/1", inNode)]),
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
  const struct = (...keys: ReadonlyArray<string>) => Schema.Struct(Object.fromEntries(keys.map((key) => [key, Value])))
  const needed = ["name", "type", "typeVersion", "position", "parameters"]
  const Body = Schema.Struct({
    ...struct("name", "connections", "id", "pinData", "junk").fields,
    nodes: Schema.Array(struct(...needed, "credentials", "color", "notes")),
    settings: struct("timezone", "junk", "callerPolicy"),
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
    const kept = (body: Obj) => [
      body["name"],
      body["connections"],
      (body["nodes"] as ReadonlyArray<Obj>).map((each) => needed.map((key) => each[key]))
    ]
    assert.deepStrictEqual(kept(left), kept(body))
    assert.isObject(left["settings"])
  })
})
