import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createRequire } from "node:module"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import {
  inherit,
  type Options,
  prepare,
  type Prepared,
  type Problem,
  readOnly
} from "../../../src/workflow/repair/WorkflowInput.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"
import { node as plain } from "../../support/workflows.ts"
import { lookups } from "../check/lookups.ts"
import { done, operationsOf, Plain, sound } from "../edit/operations.ts"

const options = (source: Options["source"]): Options => {
  let next = 0
  return { source, newId: () => `new${++next}` }
}
const file = (input: unknown): Prepared => Result.getOrThrow(prepare(input, options("file")))
const caller = (input: unknown): Prepared => Result.getOrThrow(prepare(input, options("caller")))
const problem = (input: unknown, source: Options["source"] = "file"): Problem =>
  Result.getOrThrow(Result.flip(prepare(input, options(source))))

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const node = (name: string, more: Obj = {}): Obj => plain(name, "set", 3.4, {}, more)
const without = (value: Obj, ...keys: ReadonlyArray<string>): Obj =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
const flow = (more: Obj = {}): Obj => ({
  name: "Flow",
  nodes: [node("A"), node("B")],
  connections: {},
  settings: {},
  ...more
})
const to = (name: string, more: Obj = {}): Obj => ({ node: name, type: "main", index: 0, ...more })
const joined = (connections: unknown) => flow({ connections })

const { safeParseWorkflowStructure } = createRequire(import.meta.url)("n8n-workflow") as {
  readonly safeParseWorkflowStructure: (workflow: unknown) => { readonly success: boolean }
}

/** Whether n8n takes the structure of a workflow and its name. */
const accepts = (workflow: Prepared["workflow"]): boolean =>
  safeParseWorkflowStructure(workflow).success && workflow.name !== "" && [...workflow.name].length <= 128

describe("correct parts", () => {
  const Source = Schema.Literals(["caller", "file"])

  it.prop("come out as they went in, but for read-only keys; of unchanged nodes there is nothing to inherit", {
    operations: operationsOf(Plain),
    source: Source
  }, ({ operations, source }) => {
    // Nulls and empty texts of settings are left out.
    const valid: Obj = { ...done(sound, operations), settings: sound["settings"] }
    const given = { ...valid, ...Object.fromEntries([...readOnly].map((key) => [key, { some: "thing" }])) }
    same(Result.getOrThrow(prepare(given, options(source))), { workflow: without(valid, ...readOnly), warnings: [] })
    const nodes = arr(valid["nodes"]).map((each) => obj(each) ?? {})
    same(inherit(nodes, nodes), nodes)
    same(inherit(nodes.map((each) => without(each, "position", "typeVersion")), nodes), nodes)
  })

  it.each(fixtures.names)("a recorded workflow (%s) loses read-only keys and nulls alone", (name) => {
    const given: Obj = { ...fixtures.workflow(name) }
    const kept = Object.fromEntries(
      Object.entries(given).filter(([key, value]) => !readOnly.has(key) && value !== null)
    )
    same(caller(given), { workflow: kept, warnings: [] })
    assert.isBelow(Object.keys(kept).length, Object.keys(given).length)
  })

  it("includes versions that are still unknown", () => {
    const given = flow({ nextYear: 1, nodes: [node("A", { nextYear: { a: [null] } })], settings: { nextYear: [""] } })
    same(caller(given).workflow, given)
  })
})

describe("parts left out silently", () => {
  it("nulls, and what is empty in settings", () => {
    const settings = { errorWorkflow: null, timezone: "", executionTimeout: 0, saveManualExecutions: false }
    const a = node("A", { credentials: null, webhookId: undefined, notes: "" })
    const b = node("B", { credentials: { a: null, b: 1 } })
    same(caller(flow({ staticData: null, pinData: undefined, nodes: [a, b], settings })), {
      workflow: flow({
        nodes: [node("A", { notes: "" }), node("B", { credentials: { b: 1 } })],
        settings: { executionTimeout: 0, saveManualExecutions: false }
      }),
      warnings: []
    })
  })

  it("connections that a removed node left behind", () => {
    const left = { Gone: {}, Gone1: { main: [] }, Gone2: { main: [[], null], ai_tool: null } }
    same(caller(joined(left)), { workflow: flow(), warnings: [] })
  })
})

it.each([
  [[flow()]],
  [{ workflow: flow() }],
  [{ success: true, data: flow() }],
  [{ workflow: { id: 7, name: "Flow", workflow: without(flow(), "name") } }],
  [[{ data: [flow()] }]]
])("a wrapped workflow is taken out: %j", (wrapped) => {
  same(file(wrapped), { workflow: flow(), warnings: ["Unwrapped the workflow."] })
})

describe("missing parts", () => {
  it("settings and parameters, without a word; connections are said of a file, where they were lost", () => {
    const bare = without(flow({ nodes: [without(node("A"), "parameters")] }), "settings")
    same(caller(bare), { workflow: flow({ nodes: [node("A")] }), warnings: [] })
    const given = without(flow(), "connections")
    same(caller(given), { workflow: flow(), warnings: [] })
    same(file(given), { workflow: flow(), warnings: ["The file has no connections."] })
  })

  it("ids: each node has its own, no longer than n8n on PostgreSQL takes, but for those that it has", () => {
    const nodes = [without(node("A"), "id"), node("B", { id: "" }), node("C", { id: "x" }), node("D", { id: "x" })]
    const { warnings, workflow } = caller(flow({ nodes }))
    same(workflow.nodes.map((each) => each["id"]), ["new1", "new2", "x", "new3"])
    same(warnings, ["Gave new ids to nodes whose id was taken: 'D'."])
    const long = "webhook-trigger-that-receives-customer-orders"
    const given = flow({ nodes: [node("A", { id: long }), node("B")] })
    same(caller(given), {
      workflow: flow({ nodes: [node("A", { id: "new1" }), node("B")] }),
      warnings: ["Gave new ids to nodes whose id has more than 36 characters: 'A'."]
    })
    const kept = Result.getOrThrow(prepare(given, { source: "caller", newId: () => "new", stored: new Set([long]) }))
    same(kept, { workflow: given, warnings: [] })
  })

  it("webhookId: for new nodes of a type that answers requests, not for those that n8n has without", () => {
    const type = "n8n-nodes-base.webhook"
    const given = flow({ nodes: [node("A", { type }), node("B", { type, webhookId: "w" }), node("C")] })
    const idsOf = (more: Partial<Options>) =>
      Result.getOrThrow(prepare(given, { ...options("file"), lookups, ...more })).workflow.nodes
        .map(({ webhookId }) => webhookId)
    same(idsOf({}), ["new1", "w", undefined])
    same(idsOf({ stored: new Set(["id of A"]) }), [undefined, "w", undefined])
  })

  it("positions: a row to the right of everything, wide notes included", () => {
    const [a, b] = [without(node("A"), "position"), without(node("B"), "position")]
    const positions = (nodes: ReadonlyArray<Obj>) =>
      file(flow({ nodes })).workflow.nodes.map((each) => each["position"])
    same(positions([a, b]), [[0, 0], [220, 0]])
    const note = node("Note", { position: [100, 50], parameters: { width: 1_000 } })
    const others = [a, node("B", { position: [900, 7] }), note, node("C", { position: "left" })]
    same(positions(others), [[1_320, 50], [900, 7], [100, 50], [1_540, 50]])
    same(file(flow({ nodes: [a, node("B", { position: [1] })] })).warnings, [
      "Repositioned nodes whose position was not [x, y]: 'B'."
    ])
  })

  it("names beyond the twentieth are counted", () => {
    const nodes = Array.from({ length: 23 }, (_, index) => node(`N${index}`, { typeVersion: "1" }))
    assert.match(caller(flow({ nodes })).warnings.join(), /^Read typeVersion as a number: 'N0', .*'N19' and 3 more\.$/)
  })
})

describe("unambiguous parts", () => {
  it.each<[key: string, given: unknown, meant: unknown, as: string]>([
    ["typeVersion", "1.2", 1.2, "a number"],
    ["maxTries", " 3", 3, "a number"],
    ["disabled", "true", true, "a boolean"],
    ["retryOnFail", "false", false, "a boolean"],
    ["id", 5, "5", "a string"],
    ["parameters", [], {}, "an object"],
    ["credentials", [], {}, "an object"],
    ["position", { x: 1, y: -2.5 }, [1, -2.5], "[x, y]"],
    ["position", ["1", "2"], [1, 2], "[x, y]"],
    ["position", [1, 2, 3], [1, 2], "[x, y]"]
  ])("%s: %j", (key, given, meant, as) => {
    same(caller(flow({ nodes: [node("A", { [key]: given })] })), {
      workflow: flow({ nodes: [node("A", { [key]: meant })] }),
      warnings: [`Read ${key} as ${as}: 'A'.`]
    })
  })

  it("duplicate names: the later ones get a free one, connections mean the first", () => {
    const twin = (id: string) => node("A", { id })
    const { warnings, workflow } = caller(flow({
      nodes: [twin("1"), twin("2"), node("A1"), twin("3"), node("B")],
      connections: { A: { main: [[to("B")]] }, 3: { main: [[to("B")]] }, B: { main: [[to("A"), to("2")]] } }
    }))
    same(workflow.nodes.map((each) => each["name"]), ["A", "A2", "A1", "A3", "B"])
    const [first, all] = [{ main: [[to("B")]] }, { main: [[to("A"), to("A2")]] }]
    same(workflow.connections, { A: first, A3: first, B: all })
    assert.include(warnings, "Renamed nodes whose name was taken: 'A' to 'A2', 'A' to 'A3'.")
  })

  it("an invented name does not match a connection", () => {
    const given = flow({ nodes: [node("A"), node("A", { id: "2" })], connections: { A: { main: [[to("A1")]] } } })
    same(file(given).workflow.connections, { A: { main: [[]] } })
    assert.strictEqual(problem(given, "caller").name, "A1")
  })

  it("connections by node id; of one node by name and by id both remain", () => {
    const tool = (name: string) => ({ ai_tool: [[to(name, { type: "ai_tool" })]] })
    same(caller(joined({ "id of A": { main: [null, [to("id of B")]] }, B: tool("id of A") })), {
      workflow: joined({ A: { main: [null, [to("B")]] }, B: tool("A") }),
      warnings: ["Connections named nodes by id; now they go by name: 'A', 'B'."]
    })
    const byId = { main: [[to("B"), to("A")], [to("B")], []], ai_tool: [] }
    same(caller(joined({ A: { main: [[to("B")], null] }, "id of A": byId })).workflow.connections, { A: byId })
  })

  it.each<[given: Obj, at: string]>([
    [{ A: { main: [[{ node: "B" }]] } }, "connections.A.main[0][0]"],
    [{ A: { main: [[{ node: "B", type: null, index: null }]] } }, "connections.A.main[0][0]"],
    [{ A: { main: [[to("B", { type: "", index: "0" })]] } }, "connections.A.main[0][0]"],
    [{ A: { main: [["B"]] } }, "connections.A.main[0][0]"],
    [{ A: { main: [[null, to("B")]] } }, "connections.A.main[0]"],
    [{ A: { main: [to("B")] } }, "connections.A.main"],
    [{ A: { main: to("B") } }, "connections.A.main"],
    [{ A: [[to("B")]] }, "connections.A"],
    [{ A: to("B") }, "connections.A, connections.A.main"],
    [{ A: { main: "id of B" } }, "connections.A.main, connections.A.main[0][0]"],
    [{ A: "B" }, "connections.A, connections.A.main, connections.A.main[0][0]"]
  ])("connections of the wrong shape: %j", (given, at) => {
    const { warnings, workflow } = caller(joined(given))
    same(workflow.connections, { A: { main: [[to("B")]] } })
    assert.include(warnings, `Repaired the shape of connections: ${at}.`)
  })

  it("a missing type is the output's, a lone target keeps its output, of which a list among several shows each", () => {
    const lone = { A: { ai_tool: [["B"]], main: [[], to("B")] }, B: { main: [to("B"), [], "A"] } }
    same(caller(joined(lone)).workflow.connections, {
      A: { ai_tool: [[to("B", { type: "ai_tool" })]], main: [[], [to("B")]] },
      B: { main: [[to("B")], [], [to("A")]] }
    })
  })

  it("duplicate connections, and an empty list for an empty object", () => {
    same(caller(joined({ A: { main: [[to("B"), to("B", { index: 1 }), to("B")], [to("B")]] } })), {
      workflow: joined({ A: { main: [[to("B"), to("B", { index: 1 })], [to("B")]] } }),
      warnings: ["Merged duplicate connections: connections.A.main[0]."]
    })
    same(caller({ ...flow(), connections: [], settings: [] }), { workflow: flow(), warnings: [] })
  })

  it("node groups lose removed nodes, and are removed when empty", () => {
    const whole = flow({ nodeGroups: [{ id: "1", nodeIds: ["id of B", "id of A"] }, { id: "2", nodeIds: [] }] })
    same(caller(whole), { workflow: whole, warnings: [] })
    const [some, none, other] = [{ id: "1", nodeIds: ["id of A", "x"] }, { id: "2", nodeIds: ["x"] }, { id: "3" }]
    const { warnings, workflow } = caller(flow({ nodeGroups: [some, none, other] }))
    same(workflow["nodeGroups"], [{ id: "1", nodeIds: ["id of A"] }, other])
    same(warnings, ["Removed nodes that do not exist from node groups: nodeGroups[0], nodeGroups[1]."])
  })
})

it("a connection to a node that does not exist is left out of a file and named, and left for a caller to fix", () => {
  const given = joined({ A: { main: [[to("b"), to("B")], [to("x")]] }, X: { main: [[to("A"), 7]] } })
  same(file(given), {
    workflow: joined({ A: { main: [[to("B")], []] } }),
    warnings: ["Left out connections of nodes that do not exist: 'b', 'x', 'X'."]
  })
  const refused = { message: "There is no node 'b'.", name: "b", candidates: ["A", "B"] }
  same(problem(given, "caller"), { path: "connections.A.main[0][0].node", ...refused })
  assert.strictEqual(problem(joined({ X: { main: [[to("A")]] } }), "caller").path, "connections.X")
})

describe("parts that cannot be repaired", () => {
  const nodes = (...some: ReadonlyArray<unknown>) => flow({ nodes: some })

  const linked = (link: Obj) => joined({ A: { main: [[link]] } })
  it.each<[given: unknown, path: string, says: string]>([
    [{ name: "tool", version: "1.0.0", dependencies: {} }, "", "no 'nodes'; its keys are: name, version, dep"],
    [{ $schema: "https://json-schema.org", type: "object" }, "", "$schema, type"],
    [[{ id: "1", name: "Key", type: "api", data: "U2Fs" }], "", "list of 1 other"],
    [[{ name: "Key", data: { user: "me" } }, {}], "", "list of 2 other"],
    [[node("A"), node("B")], "", "list of nodes alone"],
    [[flow(), flow()], "", "contains 2 workflows"],
    [[], "", "it is an empty list"],
    [null, "", "null"],
    ["{}", "", "a string"],
    [[[[[[flow()]]]]], "", "list of 1 other"],
    [without(flow(), "name"), "name", "add a 'name'"],
    [flow({ name: "" }), "name", "no name"],
    [flow({ name: 7 }), "name", "string"],
    [flow({ name: "😀".repeat(129) }), "name", "129 characters"],
    [flow({ nodes: null }), "nodes", "list"],
    [flow({ nodes: { A: {} } }), "nodes", "list"],
    [flow({ settings: "none" }), "settings", "object"],
    [flow({ connections: "A" }), "connections", "{main: [[…]]}"],
    [flow({ connections: [to("A")] }), "connections", "{main: [[…]]}"],
    [nodes(node("A"), "B"), "nodes[1]", "not a node"],
    [nodes(without(node("A"), "name")), "nodes[0].name", "no name"],
    [nodes(node("A", { name: 7 })), "nodes[0].name", "no name"],
    [nodes(node("A", { type: null })), "nodes[0].type", "'A' has no type"],
    [nodes(node("A", { type: "" })), "nodes[0].type", "no type"],
    [nodes(node("A"), without(node("B"), "typeVersion")), "nodes[1].typeVersion", "'B'"],
    [nodes(node("A", { typeVersion: "latest" })), "nodes[0].typeVersion", "a number"],
    [nodes(node("A", { disabled: "yes" })), "nodes[0].disabled", "a boolean"],
    [nodes(node("A", { parameters: "x" })), "nodes[0].parameters", "an object"],
    [nodes(node("A", { credentials: ["x"] })), "nodes[0].credentials", "an object"],
    [joined({ A: 7 }), "connections.A", "{main: [[…]]}"],
    [joined({ A: { main: 7 } }), "connections.A.main", "list of outputs"],
    [joined({ A: { main: [7] } }), "connections.A.main", "list of outputs"],
    [joined({ A: { main: [to("B"), to("A")] } }), "connections.A.main", "one level too flat"],
    [joined({ A: { main: ["B", "A"] } }), "connections.A.main", "one level too flat"],
    [joined({ A: { main: [[[to("B")]]] } }), "connections.A.main[0][0]", "{node, type, index}"],
    [linked({ type: "main" }), "connections.A.main[0][0]", "{node, type, index}"],
    [linked(to("B", { index: -1 })), "connections.A.main[0][0].index", "input"],
    [linked(to("B", { index: 0.5 })), "connections.A.main[0][0].index", "input"]
  ])("%j: %s", (given, path, says) => {
    const found = problem(given)
    assert.strictEqual(found.path, path)
    assert.include(found.message, says)
  })

  it("is not a name of 128 characters, however they are stored", () => {
    assert.strictEqual(caller(flow({ name: "😀".repeat(128) })).workflow.name, "😀".repeat(128))
  })
})

describe("whatever comes", () => {
  const Small = Schema.Literals([0, 1, 2])
  const Name = Schema.Literals(["A", "B", "C", "1"])
  /** Every fault that people and models make and that can be repaired; often several at once. */
  const Faulty = Schema.Struct({
    name: Schema.NonEmptyString.check(Schema.isMaxLength(128)),
    nodes: Schema.Array(Schema.Struct({
      id: Schema.optionalKey(Schema.Union([Name, Schema.Null, Small])),
      name: Name,
      type: Schema.NonEmptyString,
      typeVersion: Schema.Union([Schema.Finite, Schema.Literals(["1", "2.1"])]),
      position: Schema.optionalKey(Schema.Union([Schema.Tuple([Schema.Finite, Schema.Finite]), Schema.Json])),
      parameters: Schema.optionalKey(
        Schema.Union([Schema.Record(Schema.String, Schema.Json), Schema.Null, Schema.Tuple([])])
      )
    })),
    connections: Schema.Record(
      Name,
      Schema.NullOr(Schema.Struct({
        main: Schema.Union([
          Schema.Null,
          Name,
          Schema.Array(Schema.NullOr(Schema.Array(Schema.Union([
            Name,
            Schema.Null,
            Schema.Struct({
              node: Name,
              type: Schema.optionalKey(Schema.NullOr(Schema.Literals(["main", "ai_tool", ""]))),
              index: Schema.optionalKey(Schema.Union([Small, Schema.Null, Schema.Literals(["0", "1"])]))
            })
          ]))))
        ])
      }))
    ),
    settings: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Json)))
  })

  it.prop("a repairable file becomes what n8n accepts and needs no repair again", { given: Faulty }, ({ given }) => {
    const { warnings, workflow } = file(given)
    assert.isTrue(accepts(workflow))
    same(caller(workflow), { workflow, warnings: [] })
    const kindOf = (each: Obj) => [each["type"], Number(each["typeVersion"])]
    same(workflow.nodes.map(kindOf), given.nodes.map(kindOf))
    // A caller gets the same, or the names there are for the one that is not there.
    const result = prepare(given, options("caller"))
    if (Result.isSuccess(result)) return same(result.success, { warnings, workflow })
    const { candidates = [], name, path } = result.failure
    assert.match(path, /^connections[.[]/)
    same(new Set(candidates), new Set(given.nodes.map((each) => each.name)))
    assert.isFalse(candidates.includes(name ?? ""))
    assert.isTrue(warnings.some((warning) => warning.includes(`'${name}'`)))
  })

  const Unpromised = Schema.Union([
    Schema.Json,
    Schema.Struct({ name: Schema.Json, nodes: Schema.Array(Schema.Json) }),
    Schema.Struct({
      name: Schema.NonEmptyString,
      nodes: Schema.Tuple([]),
      connections: Schema.Json,
      settings: Schema.Json
    })
  ])

  it.prop("anything else is a problem in words, or no problem to n8n", { given: Unpromised }, ({ given }) => {
    const result = prepare(given, options("file"))
    assert.isTrue(Result.isSuccess(result) ? accepts(result.success.workflow) : result.failure.message !== "")
  })

  it("takes time in proportion to its size", () => {
    const many = (count: number) =>
      flow({
        nodes: Array.from({ length: count }, () => without(node("Same"), "id", "position")),
        connections: { Same: { main: [Array.from({ length: count }, (_, index) => to("Same", { index }))] } }
      })
    assert.strictEqual(arr(file(many(2_000)).workflow.nodes).length, 2_000)
  })

  it.each([
    ["nodes", "2,000", { nodes: Array.from({ length: 2_001 }, () => node("A")) }],
    ["connections", "20,000", { connections: { A: { main: [Array.from({ length: 20_001 }, () => to("A"))] } } }],
    ["values", "300,000", {
      nodes: [{ ...node("A"), parameters: { list: Array.from({ length: 300_000 }, () => 0) } }]
    }],
    ["characters", "8,388,608", { nodes: [{ ...node("A"), parameters: { text: "a".repeat(8_388_609) } }] }]
  ])("is refused in a sentence with too many %s", (what, most, parts) => {
    const { message } = problem(flow(parts))
    assert.strictEqual(message, `The workflow has more than ${most} ${what}: move parts of it into sub-workflows.`)
  })
})

describe("an update", () => {
  const current = [
    node("A", { id: "a", credentials: { api: { id: "1" } }, webhookId: "hook", typeVersion: 2, position: [5, 6] }),
    node("B", { id: "b", credentials: { api: { id: "2" } } })
  ]
  const given = (more: Obj): Obj => ({ type: "n8n-nodes-base.set", parameters: { new: true }, ...more })
  const from = { credentials: { api: { id: "1" } }, webhookId: "hook", typeVersion: 2, position: [5, 6] }
  const whole = given({ id: "a", name: "A", credentials: {}, webhookId: "own", typeVersion: 1, position: [0, 0] })
  const other = { id: "a", name: "A", type: "n8n-nodes-base.code", parameters: {} }
  const unnamed = given({ name: "New" })

  it.each<[string, ReadonlyArray<unknown>, ReadonlyArray<unknown>, ReadonlyArray<Obj>?]>([
    ["by id", [given({ id: "a", name: "Renamed" })], [given({ id: "a", name: "Renamed", ...from })]],
    ["by name", [given({ name: "A" })], [given({ name: "A", id: "a", ...from })]],
    ["by name with another id", [given({ id: "mine", name: "A" })], [given({ id: "mine", name: "A", ...from })]],
    ["for what is empty", [given({ name: "A", id: "", credentials: null })], [given({ name: "A", id: "a", ...from })]],
    ["for a type that is left out", [{ id: "a", name: "A" }], [{ id: "a", name: "A", ...from }]],
    ["not over what is given: empty credentials take them away", [whole], [whole]],
    ["of another type only its place", [other], [{ ...other, position: [5, 6] }]],
    ["nothing by a new name", [unnamed, "junk"], [unnamed, "junk"]],
    ["of one node for one node alone", [given({ name: "A" }), given({ name: "A" })], [
      given({ name: "A", id: "a", ...from }),
      given({ name: "A" })
    ]],
    // B became A: the old A has lost its name, and the new one has its own id.
    ["by id before the name", [given({ name: "A" }), given({ id: "a", name: "B" })], [
      given({ name: "A" }),
      given({ id: "a", name: "B", ...from })
    ]],
    ["nothing by an id that both lack", [unnamed], [unnamed], [without(node("X", { webhookId: "x" }), "id")]],
    ["no other properties", [given({ name: "A" })], [
      given({ name: "A", id: "id of A", typeVersion: 3.4, position: [0, 0] })
    ], [node("A", { notes: "kept only if given", disabled: true })]]
  ])("inherits %s", (_, changed, expected, stored = current) => same(inherit(changed, stored), expected))
})
