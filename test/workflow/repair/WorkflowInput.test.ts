import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import { links } from "../../../src/n8n/model/Connections.ts"
import {
  inherit,
  type Options,
  prepare,
  type Prepared,
  type Problem,
  readOnly
} from "../../../src/workflow/repair/WorkflowInput.ts"
import * as fixtures from "../../support/fixtures.ts"
import { lookups } from "../check/lookups.ts"

const options = (source: Options["source"]): Options => {
  let next = 0
  return { source, newId: () => `new${++next}` }
}
const file = (input: unknown): Prepared => Result.getOrThrow(prepare(input, options("file")))
const caller = (input: unknown): Prepared => Result.getOrThrow(prepare(input, options("caller")))
const problem = (input: unknown, source: Options["source"] = "file"): Problem =>
  Result.getOrThrow(Result.flip(prepare(input, options(source))))

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const node = (name: string, more: Obj = {}): Obj => ({
  id: `id of ${name}`,
  name,
  type: "n8n-nodes-base.set",
  typeVersion: 3.4,
  position: [0, 0],
  parameters: {},
  ...more
})
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

// ---- workflows as n8n has them

const Small = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
const Extra = Schema.Record(
  Schema.String,
  Schema.Union([Schema.String, Schema.Boolean, Schema.Record(Schema.String, Schema.Json)])
)
const Sketch = Schema.Struct({
  name: Schema.NonEmptyString.check(Schema.isMaxLength(128)),
  nodes: Schema.Array(Schema.Struct({
    label: Schema.String,
    type: Schema.NonEmptyString,
    typeVersion: Schema.Finite,
    position: Schema.Tuple([Schema.Finite, Schema.Finite]),
    parameters: Schema.Record(Schema.String, Schema.Json),
    extra: Extra,
    disabled: Schema.optionalKey(Schema.Boolean),
    credentials: Schema.optionalKey(Schema.Struct({ api: Schema.Struct({ id: Schema.NullOr(Schema.String) }) }))
  })).check(Schema.isMaxLength(6)),
  links: Schema.Array(Schema.Struct({
    from: Small(5),
    output: Small(3),
    type: Schema.Literals(["main", "ai_tool"]),
    to: Small(5),
    input: Small(2)
  })).check(Schema.isMaxLength(10)),
  settings: Schema.Record(Schema.NonEmptyString, Schema.Union([Schema.NonEmptyString, Schema.Boolean, Schema.Finite])),
  extra: Extra
})

/** Outputs before a used one are `null`, as n8n's editor leaves them. */
const connected = (sketch: typeof Sketch.Type["links"], names: ReadonlyArray<string>) => {
  const connections: { [from: string]: { [type: string]: Array<Array<Obj> | null> } } = {}
  for (const { from, input, output, to, type } of sketch) {
    const [source, target] = [names[from], names[to]]
    if (source === undefined || target === undefined) continue
    const outputs = (connections[source] ??= {})[type] ??= []
    while (outputs.length <= output) outputs.push(null)
    const link = { node: target, type, index: input }
    if (outputs[output]?.some((each) => each["node"] === target && each["index"] === input)) continue
    outputs[output] = [...outputs[output] ?? [], link]
  }
  return connections
}

const Valid = Arbitrary.schema(Sketch).pipe(Arbitrary.map((sketch) => {
  const nodes = sketch.nodes.map(({ extra, label, ...rest }, index) => ({
    ...Object.fromEntries(Object.entries(extra).map(([key, value]) => [`x-${key}`, value])),
    ...rest,
    id: `id-${index}`,
    name: `${label} ${index}`
  }))
  return {
    ...Object.fromEntries(Object.entries(sketch.extra).map(([key, value]) => [`x-${key}`, value])),
    name: sketch.name,
    nodes,
    connections: connected(sketch.links, nodes.map(({ name }) => name)),
    settings: sketch.settings
  }
}))

/** What n8n 2.41 checks of a workflow's structure (n8n-workflow, workflow-structure-validation), in our words. */
const accepts = ({ connections, name, nodes, settings }: Prepared["workflow"]): boolean => {
  const names = new Set(nodes.map((each) => each["name"]))
  return name !== "" && [...name].length <= 128 && names.size === nodes.length &&
    new Set(nodes.map((each) => each["id"])).size === nodes.length &&
    nodes.every((each) =>
      typeof each["id"] === "string" && each["id"] !== "" && typeof each["name"] === "string" &&
      typeof each["type"] === "string" && each["type"] !== "" && Number.isFinite(each["typeVersion"]) &&
      arr(each["position"]).length === 2 && arr(each["position"]).every(Number.isFinite) &&
      obj(each["parameters"]) !== undefined && Object.values(each).every((value) => value !== null)
    ) &&
    Object.keys(connections).every((from) => names.has(from)) &&
    Object.values(connections).every((types) =>
      Object.values(types).every((outputs) =>
        Array.isArray(outputs) &&
        outputs.every((targets) =>
          targets === null || (Array.isArray(targets) && targets.every((target) =>
            names.has(target.node) && typeof target.type === "string" && target.type !== "" &&
            Number.isInteger(target.index) && (target.index ?? -1) >= 0
          ))
        )
      )
    ) && Object.values(settings).every((value) => value !== null && value !== "")
}

describe("correct parts", () => {
  const Source = Schema.Literals(["caller", "file"])

  it.prop("comes out as it went in, but for read-only keys", { valid: Valid, source: Source }, ({ source, valid }) => {
    const given = { ...valid, ...Object.fromEntries([...readOnly].map((key) => [key, { some: "thing" }])) }
    same(Result.getOrThrow(prepare(given, options(source))), { workflow: valid, warnings: [] })
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
    const given = flow({
      staticData: null,
      pinData: undefined,
      nodes: [
        node("A", { credentials: null, webhookId: undefined, notes: "" }),
        node("B", { credentials: { a: null, b: 1 } })
      ],
      settings: { errorWorkflow: null, timezone: "", executionTimeout: 0, saveManualExecutions: false }
    })
    same(caller(given), {
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

describe("wrapped parts", () => {
  it.each([
    { wrapped: [flow()] },
    { wrapped: { workflow: flow() } },
    { wrapped: { success: true, data: flow() } },
    { wrapped: { workflow: { id: 7, name: "Flow", workflow: without(flow(), "name") } } },
    { wrapped: [{ data: [flow()] }] }
  ])("is taken out: %j", ({ wrapped }) => {
    same(file(wrapped), {
      workflow: flow(),
      warnings: ["Unwrapped the workflow."]
    })
  })
})

describe("missing parts", () => {
  it("settings and parameters, without a word", () => {
    same(caller(without(flow({ nodes: [without(node("A"), "parameters")] }), "settings")), {
      workflow: flow({ nodes: [node("A")] }),
      warnings: []
    })
  })

  it("connections: said of a file, where they were lost", () => {
    const given = without(flow(), "connections")
    same(caller(given), { workflow: flow(), warnings: [] })
    same(file(given), { workflow: flow(), warnings: ["The file has no connections."] })
  })

  it("ids: each node has its own", () => {
    const given = flow({
      nodes: [without(node("A"), "id"), node("B", { id: "" }), node("C", { id: "x" }), node("D", { id: "x" })]
    })
    const { warnings, workflow } = caller(given)
    same(workflow.nodes.map((each) => each["id"]), ["new1", "new2", "x", "new3"])
    same(warnings, ["Gave new ids to nodes whose id was taken: 'D'."])
  })

  it("ids: no longer than n8n on PostgreSQL takes, but for those that it has", () => {
    const long = "webhook-trigger-that-receives-customer-orders"
    const given = flow({ nodes: [node("A", { id: long }), node("B")] })
    const { warnings, workflow } = caller(given)
    same(workflow.nodes.map((each) => each["id"]), ["new1", node("B").id])
    same(warnings, ["Gave new ids to nodes whose id has more than 36 characters: 'A'."])
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
    const positions = (nodes: ReadonlyArray<Obj>) =>
      file(flow({ nodes })).workflow.nodes.map((each) => each["position"])
    const bare = (name: string) => without(node(name), "position")
    same(positions([bare("A"), bare("B")]), [[0, 0], [220, 0]])
    const note = node("Note", { position: [100, 50], parameters: { width: 1_000 } })
    same(
      positions([bare("A"), node("B", { position: [900, 7] }), note, node("C", { position: "left" })]),
      [[1_320, 50], [900, 7], [100, 50], [1_540, 50]]
    )
    same(file(flow({ nodes: [bare("A"), node("B", { position: [1] })] })).warnings, [
      "Repositioned nodes whose position was not [x, y]: 'B'."
    ])
  })

  it("names beyond the twentieth are counted", () => {
    const nodes = Array.from({ length: 23 }, (_, index) => node(`N${index}`, { typeVersion: "1" }))
    const [warning = ""] = caller(flow({ nodes })).warnings
    assert.isTrue(
      warning.startsWith("Read typeVersion as a number: 'N0', ") && warning.endsWith("'N19' and 3 more."),
      warning
    )
  })
})

describe("unambiguous parts", () => {
  it.each([
    { key: "typeVersion", given: "1.2", meant: 1.2, says: "Read typeVersion as a number: 'A'." },
    { key: "maxTries", given: " 3", meant: 3, says: "Read maxTries as a number: 'A'." },
    { key: "disabled", given: "true", meant: true, says: "Read disabled as a boolean: 'A'." },
    { key: "retryOnFail", given: "false", meant: false, says: "Read retryOnFail as a boolean: 'A'." },
    { key: "id", given: 5, meant: "5", says: "Read id as a string: 'A'." },
    { key: "parameters", given: [], meant: {}, says: "Read parameters as an object: 'A'." },
    { key: "credentials", given: [], meant: {}, says: "Read credentials as an object: 'A'." },
    { key: "position", given: { x: 1, y: -2.5 }, meant: [1, -2.5], says: "Read position as [x, y]: 'A'." },
    { key: "position", given: ["1", "2"], meant: [1, 2], says: "Read position as [x, y]: 'A'." },
    { key: "position", given: [1, 2, 3], meant: [1, 2], says: "Read position as [x, y]: 'A'." }
  ])("$key: $given", ({ given, key, meant, says }) => {
    same(caller(flow({ nodes: [node("A", { [key]: given })] })), {
      workflow: flow({ nodes: [node("A", { [key]: meant })] }),
      warnings: [says]
    })
  })

  it("duplicate names: the later ones get a free one, connections mean the first", () => {
    const twin = (id: string) => node("A", { id })
    const { warnings, workflow } = caller(flow({
      nodes: [twin("1"), twin("2"), node("A1"), twin("3"), node("B")],
      connections: { A: { main: [[to("B")]] }, 3: { main: [[to("B")]] }, B: { main: [[to("A"), to("2")]] } }
    }))
    same(workflow.nodes.map((each) => each["name"]), ["A", "A2", "A1", "A3", "B"])
    same(workflow.connections, {
      A: { main: [[to("B")]] },
      A3: { main: [[to("B")]] },
      B: { main: [[to("A"), to("A2")]] }
    })
    assert.include(warnings, "Renamed nodes whose name was taken: 'A' to 'A2', 'A' to 'A3'.")
  })

  it("an invented name does not match a connection", () => {
    const given = flow({ nodes: [node("A"), node("A", { id: "2" })], connections: { A: { main: [[to("A1")]] } } })
    same(file(given).workflow.connections, { A: { main: [[]] } })
    assert.strictEqual(problem(given, "caller").name, "A1")
  })

  it("connections by node id", () => {
    const given = joined({
      "id of A": { main: [null, [to("id of B")]] },
      B: { ai_tool: [[to("id of A", { type: "ai_tool" })]] }
    })
    same(caller(given), {
      workflow: joined({ A: { main: [null, [to("B")]] }, B: { ai_tool: [[to("A", { type: "ai_tool" })]] } }),
      warnings: ["Connections named nodes by id; now they go by name: 'A', 'B'."]
    })
  })

  it("connections of one node by name and by id both remain", () => {
    const given = joined({
      A: { main: [[to("B")], null] },
      "id of A": { main: [[to("B"), to("A")], [to("B")], []], ai_tool: [] }
    })
    same(caller(given).workflow.connections, {
      A: { main: [[to("B"), to("A")], [to("B")], []], ai_tool: [] }
    })
  })

  it.each([
    { given: { A: { main: [[{ node: "B" }]] } }, at: "connections.A.main[0][0]" },
    { given: { A: { main: [[{ node: "B", type: null, index: null }]] } }, at: "connections.A.main[0][0]" },
    { given: { A: { main: [[to("B", { type: "", index: "0" })]] } }, at: "connections.A.main[0][0]" },
    { given: { A: { main: [["B"]] } }, at: "connections.A.main[0][0]" },
    { given: { A: { main: [[null, to("B")]] } }, at: "connections.A.main[0]" },
    { given: { A: { main: [to("B")] } }, at: "connections.A.main" },
    { given: { A: { main: to("B") } }, at: "connections.A.main" },
    { given: { A: [[to("B")]] }, at: "connections.A" },
    { given: { A: to("B") }, at: "connections.A, connections.A.main" },
    { given: { A: { main: "id of B" } }, at: "connections.A.main, connections.A.main[0][0]" },
    { given: { A: "B" }, at: "connections.A, connections.A.main, connections.A.main[0][0]" }
  ])("connections of the wrong shape: %j", ({ at, given }) => {
    const { warnings, workflow } = caller(joined(given))
    same(workflow.connections, { A: { main: [[to("B")]] } })
    assert.include(warnings, `Repaired the shape of connections: ${at}.`)
  })

  it("a missing type is the output's, a lone target keeps its output", () => {
    same(
      caller(joined({ A: { ai_tool: [["B"]], main: [[], to("B")] }, B: { main: null } })).workflow.connections,
      { A: { ai_tool: [[to("B", { type: "ai_tool" })]], main: [[], [to("B")]] }, B: { main: [] } }
    )
  })

  it("several lone targets, where a list among them shows that each is an output", () => {
    same(caller(joined({ A: { main: [to("B"), [], "A"] } })).workflow.connections, {
      A: { main: [[to("B")], [], [to("A")]] }
    })
  })

  it("duplicate connections", () => {
    same(caller(joined({ A: { main: [[to("B"), to("B", { index: 1 }), to("B")], [to("B")]] } })), {
      workflow: joined({ A: { main: [[to("B"), to("B", { index: 1 })], [to("B")]] } }),
      warnings: ["Merged duplicate connections: connections.A.main[0]."]
    })
  })

  it("an empty list for an empty object", () => {
    same(
      caller(flow({ connections: [], settings: [] })),
      { workflow: flow(), warnings: [] } as unknown
    )
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

describe("a connection to a node that does not exist", () => {
  const given = joined({ A: { main: [[to("b"), to("B")], [to("x")]] }, X: { main: [[to("A"), 7]] } })

  it("is left out of a file and named; the outputs stay in place", () => {
    same(file(given), {
      workflow: joined({ A: { main: [[to("B")], []] } }),
      warnings: ["Left out connections of nodes that do not exist: 'b', 'x', 'X'."]
    })
  })

  it("is left for the caller to fix", () => {
    same(problem(given, "caller"), {
      path: "connections.A.main[0][0].node",
      message: "There is no node 'b'.",
      name: "b",
      candidates: ["A", "B"]
    })
    assert.strictEqual(problem(joined({ X: { main: [[to("A")]] } }), "caller").path, "connections.X")
  })
})

describe("parts that cannot be repaired", () => {
  const nodes = (...some: ReadonlyArray<unknown>) => flow({ nodes: some })

  it.each([
    {
      given: { name: "tool", version: "1.0.0", dependencies: {} },
      path: "",
      says: "no 'nodes'; its keys are: name, version, dep"
    },
    { given: { $schema: "https://json-schema.org", type: "object" }, path: "", says: "$schema, type" },
    { given: [{ id: "1", name: "Key", type: "api", data: "U2Fs" }], path: "", says: "list of 1 other" },
    { given: [{ name: "Key", data: { user: "me" } }, {}], path: "", says: "list of 2 other" },
    { given: [node("A"), node("B")], path: "", says: "list of nodes alone" },
    { given: [flow(), flow()], path: "", says: "contains 2 workflows" },
    { given: [], path: "", says: "it is an empty list" },
    { given: null, path: "", says: "null" },
    { given: "{}", path: "", says: "a string" },
    { given: [[[[[flow()]]]]], path: "", says: "list of 1 other" },
    { given: without(flow(), "name"), path: "name", says: "add a 'name'" },
    { given: flow({ name: "" }), path: "name", says: "no name" },
    { given: flow({ name: 7 }), path: "name", says: "string" },
    { given: flow({ name: "😀".repeat(129) }), path: "name", says: "129 characters" },
    { given: flow({ nodes: null }), path: "nodes", says: "list" },
    { given: flow({ nodes: { A: {} } }), path: "nodes", says: "list" },
    { given: flow({ settings: "none" }), path: "settings", says: "object" },
    { given: flow({ connections: "A" }), path: "connections", says: "{main: [[…]]}" },
    { given: flow({ connections: [to("A")] }), path: "connections", says: "{main: [[…]]}" },
    { given: nodes(node("A"), "B"), path: "nodes[1]", says: "not a node" },
    { given: nodes(without(node("A"), "name")), path: "nodes[0].name", says: "no name" },
    { given: nodes(node("A", { name: 7 })), path: "nodes[0].name", says: "no name" },
    { given: nodes(node("A", { type: null })), path: "nodes[0].type", says: "'A' has no type" },
    { given: nodes(node("A", { type: "" })), path: "nodes[0].type", says: "no type" },
    { given: nodes(node("A"), without(node("B"), "typeVersion")), path: "nodes[1].typeVersion", says: "'B'" },
    { given: nodes(node("A", { typeVersion: "latest" })), path: "nodes[0].typeVersion", says: "a number" },
    { given: nodes(node("A", { disabled: "yes" })), path: "nodes[0].disabled", says: "a boolean" },
    { given: nodes(node("A", { parameters: "x" })), path: "nodes[0].parameters", says: "an object" },
    { given: nodes(node("A", { credentials: ["x"] })), path: "nodes[0].credentials", says: "an object" },
    { given: joined({ A: 7 }), path: "connections.A", says: "{main: [[…]]}" },
    { given: joined({ A: { main: 7 } }), path: "connections.A.main", says: "list of outputs" },
    { given: joined({ A: { main: [7] } }), path: "connections.A.main", says: "list of outputs" },
    { given: joined({ A: { main: [to("B"), to("A")] } }), path: "connections.A.main", says: "one level too flat" },
    { given: joined({ A: { main: ["B", "A"] } }), path: "connections.A.main", says: "one level too flat" },
    { given: joined({ A: { main: [[[to("B")]]] } }), path: "connections.A.main[0][0]", says: "{node, type, index}" },
    {
      given: joined({ A: { main: [[{ type: "main" }]] } }),
      path: "connections.A.main[0][0]",
      says: "{node, type, index}"
    },
    {
      given: joined({ A: { main: [[to("B", { index: -1 })]] } }),
      path: "connections.A.main[0][0].index",
      says: "input"
    },
    {
      given: joined({ A: { main: [[to("B", { index: 0.5 })]] } }),
      path: "connections.A.main[0][0].index",
      says: "input"
    }
  ])("$path: $says", ({ given, path, says }) => {
    const found = problem(given)
    assert.strictEqual(found.path, path)
    assert.include(found.message, says)
  })

  it("is not a name of 128 characters, however they are stored", () => {
    assert.strictEqual(caller(flow({ name: "😀".repeat(128) })).workflow.name, "😀".repeat(128))
  })
})

describe("whatever comes", () => {
  const Name = Schema.Literals(["A", "B", "C", "1"])
  /** Every fault that people and models make and that can be repaired; often several at once. */
  const Faulty = Schema.Struct({
    name: Schema.NonEmptyString.check(Schema.isMaxLength(128)),
    nodes: Schema.Array(Schema.Struct({
      id: Schema.optionalKey(Schema.Union([Name, Schema.Null, Small(2)])),
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
              index: Schema.optionalKey(Schema.Union([Small(2), Schema.Null, Schema.Literals(["0", "1"])]))
            })
          ]))))
        ])
      }))
    ),
    settings: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Json)))
  })

  it.prop("a repairable file becomes what n8n accepts and needs no repair again", { given: Faulty }, ({ given }) => {
    const { workflow } = file(given)
    assert.isTrue(accepts(workflow))
    same(caller(workflow), { workflow, warnings: [] })
    same(
      workflow.nodes.map((each) => [each["type"], Number(each["typeVersion"])]),
      given.nodes.map((each) => [
        each.type,
        Number(each.typeVersion)
      ])
    )
  })

  it.prop(
    "a caller gets the same, or the names there are for the one that is not there",
    { given: Faulty },
    ({ given }) => {
      const result = prepare(given, options("caller"))
      if (Result.isSuccess(result)) return same(result.success, file(given))
      const { candidates = [], name, path } = result.failure
      assert.match(path, /^connections[.[]/)
      same(new Set(candidates), new Set(given.nodes.map((each) => each.name)))
      assert.isFalse(candidates.includes(name ?? ""))
      assert.isTrue(file(given).warnings.some((warning) => warning.includes(`'${name}'`)))
    }
  )

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

  const Damage = Schema.Struct({
    sourcesById: Schema.Boolean,
    targetsById: Schema.Boolean,
    noInput: Schema.Boolean,
    bare: Schema.Boolean,
    doubled: Schema.Boolean,
    noIds: Schema.Boolean
  })

  it.prop("damage that can mean one thing only is undone", { valid: Valid, damage: Damage }, ({ damage, valid }) => {
    const ids = new Map(valid.nodes.map(({ id, name }) => [name, id]))
    const targets = (type: string, given: ReadonlyArray<Obj>) =>
      given.flatMap((target) => {
        const name = String(target["node"])
        const by = damage.targetsById ? ids.get(name) : name
        const isFirst = target["index"] === 0 && target["type"] === type
        const broken = !isFirst
          ? { ...target, node: by }
          : damage.bare
          ? by
          : damage.noInput
          ? { node: by }
          : { ...target, node: by }
        return damage.doubled ? [broken, broken] : [broken]
      })
    const connections = Object.fromEntries(
      Object.entries(valid.connections).map(([from, types]) => [
        damage.sourcesById ? ids.get(from) : from,
        Object.fromEntries(
          Object.entries(types).map(([type, outputs]) => [type, outputs.map((some) => some && targets(type, some))])
        )
      ])
    )
    const isById = damage.sourcesById || damage.targetsById
    const nodes = damage.noIds && !isById ? valid.nodes.map(({ id: _, ...rest }) => rest) : valid.nodes
    const { warnings, workflow } = caller({ ...valid, nodes, connections })
    same(workflow.connections, valid.connections)
    same(
      workflow.nodes.map((each) => ({ ...each, id: "" })),
      valid.nodes.map((each) => ({ ...each, id: "" }))
    )
    const isLinked = links(workflow.connections).length > 0
    assert.isTrue(!isLinked || !(isById || damage.doubled) || warnings.length > 0)
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

  it("inherits by id, else by name, what the caller left out", () => {
    same(inherit([given({ id: "a", name: "Renamed" })], current), [
      given({ id: "a", name: "Renamed", ...from })
    ])
    same(inherit([given({ name: "A" })], current), [given({ name: "A", id: "a", ...from })])
    same(inherit([given({ id: "mine", name: "A" })], current), [
      given({ id: "mine", name: "A", ...from })
    ])
    same(inherit([given({ name: "A", id: "", credentials: null })], current), [
      given({ name: "A", id: "a", ...from })
    ])
  })

  it("takes a type that is left out for the same", () => {
    same(inherit([{ id: "a", name: "A" }], current), [{ id: "a", name: "A", ...from }])
  })

  it("keeps what the caller gave; empty credentials take them away", () => {
    const whole = given({ id: "a", name: "A", credentials: {}, webhookId: "own", typeVersion: 1, position: [0, 0] })
    same(inherit([whole], current), [whole])
  })

  it("inherits nothing else, and nothing of another type's but its place", () => {
    const other = { id: "a", name: "A", type: "n8n-nodes-base.code", parameters: {} }
    same(inherit([other], current), [{ ...other, position: [5, 6] }])
    same(inherit([given({ name: "New" }), "junk"], current), [given({ name: "New" }), "junk"])
    const noted = [node("A", { notes: "kept only if given", disabled: true })]
    assert.notProperty(obj(inherit([given({ name: "A" })], noted)[0]), "disabled")
  })

  it("gives one node's things to one node alone", () => {
    const twice = inherit([given({ name: "A" }), given({ name: "A" })], current)
    same(twice, [given({ name: "A", id: "a", ...from }), given({ name: "A" })])
    // B became A: the old A has lost its name, and the new one has its own id.
    const swapped = inherit([given({ name: "A" }), given({ id: "a", name: "B" })], current)
    same(swapped, [given({ name: "A" }), given({ id: "a", name: "B", ...from })])
  })

  it("does not match nodes by an id that both lack", () => {
    const nameless = [without(node("X", { webhookId: "x" }), "id")]
    same(inherit([given({ name: "Y" })], nameless), [given({ name: "Y" })])
  })

  it.prop("of unchanged nodes is not a change", { valid: Valid }, ({ valid }) => {
    same(inherit(valid.nodes, valid.nodes), valid.nodes)
    const bare = valid.nodes.map(({ credentials: _, position: __, typeVersion: ___, ...rest }) => rest)
    same(inherit(bare, valid.nodes), valid.nodes)
  })
})
