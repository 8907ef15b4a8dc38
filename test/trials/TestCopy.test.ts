import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { obj } from "../../src/base/Json.ts"
import * as Connections from "../../src/n8n/model/Connections.ts"
import * as TestMark from "../../src/n8n/model/TestMark.ts"
import * as pins from "../../src/trials/pins.ts"
import * as TestCopy from "../../src/trials/TestCopy.ts"
import * as TriggerItems from "../../src/trials/TriggerItems.ts"

const node = (name: string, type = "n8n-nodes-base.set", more: object = {}) => ({
  id: `id-${name}`,
  name,
  type,
  typeVersion: 1,
  position: [0, 0],
  parameters: {},
  ...more
})

const manual = node("T", "n8n-nodes-base.manualTrigger")

const to = (...targets: ReadonlyArray<string>) => ({
  main: [targets.map((name) => ({ node: name, type: "main", index: 0 }))]
})

const options: TestCopy.Options = {
  isTrigger: ({ type }) => /trigger$/i.test(type) || type.endsWith(".webhook"),
  now: Date.parse("2026-11-22T15:04:05.006Z"),
  timezone: "UTC",
  timeout: 1_500,
  isV1: false,
  webhookUrl: "http://n8n.test/webhook/x"
}

const copy = (subject: Partial<TestCopy.Subject>, more: Partial<TestCopy.Options> = {}, path = "p") => {
  const made = Result.getOrThrow(
    TestCopy.make({ name: "W", nodes: [], connections: {}, ...subject }, { ...options, ...more })
  )
  return { ...made, body: made.at({ name: "copy", path }) }
}
type Copied = ReturnType<typeof copy>

const refusal = (subject: Partial<TestCopy.Subject>, more: Partial<TestCopy.Options> = {}) =>
  Result.getOrThrow(
    Result.flip(TestCopy.make({ name: "W", nodes: [], connections: {}, ...subject }, { ...options, ...more }))
  ).message

const find = ({ body }: Copied, name: string) => body.nodes.find((node) => node.name === name)

const linksOf = ({ body }: Copied) =>
  Connections.links(body["connections"] as Connections.Connections).map(({ from, input, output, to }) =>
    `${from} ${Connections.portLabel(output)} > ${to} ${Connections.portLabel(input)}`
  )

describe("a copy", () => {
  it("has its own ids of at most 36 characters, n8n's limit for triggers on PostgreSQL", () => {
    const path = "8a1c0f5e-0000-4000-8000-000000000001"
    const created = copy({ nodes: [manual, node("A")], connections: { T: to("A") } }, {}, path)
    const ids = created.body.nodes.map(({ id }) => id ?? "")
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const id of ids) assert.isAtMost(id.length, 36)
  })

  it("is started by a webhook whose items pass through the disabled trigger", () => {
    const created = copy({ nodes: [manual, node("A")], connections: { T: to("A") } }, {
      testData: [{ a: 1 }, { a: 2 }]
    })
    assert.deepStrictEqual(linksOf(created), [
      "test_workflow call main[0] > test_workflow id main[0]",
      "test_workflow id main[0] > test_workflow items main[0]",
      "test_workflow items main[0] > T main[0]",
      "T main[0] > A main[0]"
    ])
    assert.isTrue(find(created, "T")?.disabled)
    assert.deepStrictEqual(created.request.items, [{ a: 1 }, { a: 2 }])
    assert.strictEqual(created.nodeCount, 1)
  })

  it("that starts later gives it what earlier nodes gave, where it refers to them, linked item by item", () => {
    const refers = node("Use", "n8n-nodes-base.set", {
      parameters: { a: "={{ $('A').item.json.x }} {{ $('B').first() }}" }
    })
    const subject = {
      nodes: [manual, node("A"), node("B"), node("Unnamed"), refers],
      connections: { T: to("A"), A: to("B"), B: to("Unnamed"), Unnamed: to("Use") }
    }
    const earlier = new Map<string, pins.Earlier>([
      ["A", { items: [{ x: 1 }, { x: 2 }], origins: [1, undefined] }],
      ["B", { items: [{ y: 1 }, { y: 2 }], origins: [0, 1] }],
      ["Unnamed", { items: [{ z: 1 }] }]
    ])
    const created = copy(subject, { startNode: "Use", testData: [{ a: 1 }, { a: 2 }], earlier })
    assert.deepStrictEqual(linksOf(created).slice(1), [
      "test_workflow id main[0] > A main[0]",
      "A main[0] > B main[0]",
      "B main[0] > test_workflow items main[0]",
      "test_workflow items main[0] > Use main[0]"
    ])
    const carried = created.request.pins.map(({ pin }) => JSON.parse(pin))
    assert.deepStrictEqual(carried.map(({ runs }) => runs), [
      [[{ json: { x: 1 } }, { json: { x: 2 } }]],
      [[{ json: { y: 1 }, pairedItem: 1 }, { json: { y: 2 } }]],
      [[{ json: { a: 1 }, pairedItem: 0 }, { json: { a: 2 }, pairedItem: 1 }]]
    ])
    assert.deepStrictEqual(created.pinned, ["A", "B"])
    assert.isFalse(created.addedNodes.has("A"))
    assert.isUndefined(find(created, "Unnamed"))
  })

  it("reports the execution's id in its answer, or if the workflow responds, on 1.x in its static data", () => {
    const respond = (more: object = {}) => ({
      nodes: [manual, node("R", "n8n-nodes-base.respondToWebhook", more)],
      connections: { T: to("R") }
    })
    const summarize = (
      created: Copied
    ) => [created.responds, find(created, "test_workflow id")?.type, created.addedNodes.size]
    const answer = "n8n-nodes-base.respondToWebhook"
    assert.deepStrictEqual(summarize(copy({ nodes: [manual, node("A")], connections: { T: to("A") } })), [
      false,
      answer,
      3
    ])
    assert.deepStrictEqual(summarize(copy(respond())), [true, undefined, 2])
    assert.deepStrictEqual(summarize(copy(respond(), { isV1: true })), [true, "n8n-nodes-base.code", 3])
    const pinned = copy({ ...respond(), pinData: { R: [{ json: {} }] } }, { isV1: true })
    assert.deepStrictEqual(summarize(pinned), [false, answer, 4])
    const { connections, nodes } = respond({ disabled: true })
    const off = copy({ nodes: [...nodes, node("A")], connections: { ...connections, R: to("A") } })
    assert.deepStrictEqual(summarize(off), [false, answer, 3])

    assert.strictEqual(pins.idInResponse("42"), "42")
    assert.isUndefined(pins.idInResponse("{\"message\":\"Workflow was started\"}"))
    assert.strictEqual(pins.idInStaticData({ global: {}, "node:test_workflow id": { id: "42" } }), "42")
    assert.isUndefined(pins.idInStaticData(null))
  })

  it("saves its data, calls no error workflow, and keeps all other settings", () => {
    const settings = {
      errorWorkflow: "9",
      saveDataSuccessExecution: "none",
      timezone: "Asia/Tokyo",
      executionTimeout: -1
    }
    const created = copy({ nodes: [manual, node("A")], connections: { T: to("A") }, settings })
    assert.deepStrictEqual(created.body["settings"], {
      saveDataSuccessExecution: "all",
      saveDataErrorExecution: "all",
      saveExecutionProgress: true,
      timezone: "Asia/Tokyo",
      executionTimeout: 3
    })
  })

  it("does not save its progress in a loop", () => {
    const created = copy({ nodes: [manual, node("A"), node("B")], connections: { T: to("A"), A: to("B"), B: to("A") } })
    assert.strictEqual(obj(created.body["settings"])?.["saveExecutionProgress"], false)
  })

  it("disables other triggers and replaces an Error Trigger, which n8n would run even disabled", () => {
    const created = copy({
      nodes: [
        manual,
        node("A"),
        node("E", "n8n-nodes-base.errorTrigger"),
        node("S", "n8n-nodes-base.scheduleTrigger"),
        node("B")
      ],
      connections: { T: to("A"), E: to("B") }
    })
    assert.deepInclude(find(created, "E"), { type: "n8n-nodes-base.noOp", disabled: true })
    assert.isTrue(find(created, "S")?.disabled)
    assert.isUndefined(find(created, "B"))
    const started = copy({
      nodes: [manual, node("E", "n8n-nodes-base.errorTrigger"), node("B")],
      connections: { E: to("B") }
    })
    assert.strictEqual(started.start, "E")
    assert.deepInclude(find(started, "E"), { type: "n8n-nodes-base.noOp", disabled: true })
  })

  it("returns pinned items by a Code node without its sub-nodes; a trigger's pinned items are its test data", () => {
    const created = copy({
      nodes: [manual, node("A", "x.agent"), node("M", "x.model"), node("B")],
      connections: {
        T: to("A"),
        A: to("B"),
        M: { ai_languageModel: [[{ node: "A", type: "ai_languageModel", index: 0 }]] }
      },
      pinData: { A: [{ json: { a: 1 }, pairedItem: 0 }], T: [{ json: { t: 1 } }] }
    })
    assert.strictEqual(find(created, "A")?.type, "n8n-nodes-base.code")
    assert.deepStrictEqual(created.request.pins.map(({ pin }) => JSON.parse(pin)), [
      { runs: [[{ json: { a: 1 } }]], repeats: true }
    ])
    assert.isUndefined(find(created, "M"))
    assert.deepStrictEqual(created.request.items, [{ t: 1 }])
  })

  it("keeps sub-nodes", () => {
    const ai = (type: string, name: string) => ({ [type]: [[{ node: name, type, index: 0 }]] })
    const created = copy({
      nodes: [manual, node("A", "x.agent"), node("Tool", "x.tool"), node("M", "x.model")],
      connections: { T: to("A"), Tool: ai("ai_tool", "A"), M: ai("ai_languageModel", "Tool") }
    })
    assert.includeMembers(linksOf(created), ["Tool ai_tool > A ai_tool", "M ai_languageModel > Tool ai_languageModel"])
  })

  it("starts at a node by name or id, and omits earlier nodes unless they are referenced", () => {
    const subject = {
      nodes: [
        manual,
        node("A"),
        node("Z"),
        node("B", "x.y", { parameters: { v: "={{ $('A').item.json.a }}" } }),
        node("C")
      ],
      connections: { T: to("Z"), Z: to("A"), A: to("B"), B: to("C") }
    }
    for (const startNode of ["B", "id-B"]) {
      const created = copy(subject, { startNode, testData: { b: 1 } })
      assert.deepStrictEqual(linksOf(created).slice(2), [
        "test_workflow items main[0] > B main[0]",
        "B main[0] > C main[0]"
      ])
      assert.isUndefined(find(created, "Z"))
      assert.isTrue(find(created, "A")?.disabled)
      assert.isUndefined(find(created, "B")?.disabled)
    }
  })

  it("starts at the trigger that reaches most nodes, from its connected output", () => {
    const created = copy({
      nodes: [
        manual,
        node("A"),
        node("W", "n8n-nodes-base.webhook"),
        node("B"),
        node("R", "n8n-nodes-base.respondToWebhook")
      ],
      connections: { T: to("A"), W: { main: [null, [{ node: "B", type: "main", index: 0 }]] }, B: to("R") }
    })
    assert.strictEqual(created.start, "W")
    assert.include(linksOf(created), "W main[0] > B main[0]")
    assert.strictEqual(obj(find(created, "test_workflow call")?.parameters)?.["responseMode"], "responseNode")
  })

  it("says why no copy can be created", () => {
    assert.match(refusal({ nodes: [node("A")] }), /no trigger/)
    assert.match(refusal({ nodes: [{ ...manual, disabled: true }] }), /'T' is disabled/)
    assert.match(refusal({ nodes: [manual, node("A")] }), /'T' leads to no other/)
    assert.match(
      refusal({ nodes: [manual, node("A", "x.y", { disabled: true })], connections: { T: to("A") } }),
      /disabled/
    )
    assert.match(refusal({ nodes: [manual] }, { startNode: "Q" }), /no node 'Q'/)
  })
})

describe("the items of a trigger", () => {
  const around = {
    now: Date.parse("2026-11-01T15:04:05.006Z"),
    timezone: "America/New_York",
    webhookUrl: "http://h/webhook/x"
  }
  const emit = (type: string, testData: unknown, parameters: object = {}) =>
    TriggerItems.fromTrigger(node("T", type, { parameters }), testData, around)

  it("have n8n's time fields for a schedule", () => {
    assert.deepStrictEqual(emit("n8n-nodes-base.scheduleTrigger", undefined), [{
      timestamp: "2026-11-01T10:04:05.006-05:00",
      "Readable date": "November 1st 2026, 10:04:05 am",
      "Readable time": "10:04:05 am",
      "Day of week": "Sunday",
      Year: "2026",
      Month: "November",
      "Day of month": "01",
      Hour: "10",
      Minute: "04",
      Second: "05",
      Timezone: "America/New_York (UTC-05:00)"
    }])
  })

  it("are a request for a webhook, created from its body, the whole request, or the query if it has no body", () => {
    const [post] = emit("n8n-nodes-base.webhook", { a: 1 }, { httpMethod: "POST" })
    assert.deepInclude(post, { body: { a: 1 }, query: {}, params: {}, executionMode: "production" })
    const [whole] = emit("n8n-nodes-base.webhook", { headers: { "X-A": "1" }, body: [1] })
    assert.deepInclude(whole, { body: [1] })
    assert.strictEqual(obj(whole?.["headers"])?.["x-a"], "1")
    const [get] = emit("n8n-nodes-base.webhook", { q: "1" })
    assert.deepInclude(get, { query: { q: "1" } })
    assert.lengthOf(emit("n8n-nodes-base.webhook", [{ a: 1 }, { a: 2 }]), 2)
  })

  it("are the test data for other triggers, with the fields that each always has", () => {
    assert.deepInclude(emit("@n8n/n8n-nodes-langchain.chatTrigger", "Hi")[0], {
      chatInput: "Hi",
      action: "sendMessage"
    })
    assert.deepInclude(emit("n8n-nodes-base.formTrigger", { Name: "A" })[0], { Name: "A", formMode: "production" })
    const inputs = { workflowInputs: { values: [{ name: "x" }, { name: "y" }] } }
    assert.deepStrictEqual(emit("n8n-nodes-base.executeWorkflowTrigger", { x: 1 }, inputs), [{ x: 1, y: null }])
    assert.deepInclude(emit("n8n-nodes-base.errorTrigger", { workflow: { id: "7" } })[0], { workflow: { id: "7" } })
    assert.deepStrictEqual(emit("x.someTrigger", [{ json: { a: 1 } }, 5, []]), [{ a: 1 }, { value: 5 }, { value: [] }])
    assert.deepStrictEqual(emit("x.someTrigger", []), [{}])
  })
})

describe("a copy's name", () => {
  const mine = { machine: "ab12", pid: 42 }

  it("has the owner and the workflow's name, within n8n's length", () => {
    const name = TestMark.nameOf(`受付: ${"x".repeat(200)}`, mine, "t0")
    assert.isAtMost([...name].length, 128)
    assert.deepStrictEqual(TestMark.ownerOf(name), mine)
    assert.match(TestMark.originalName(name), /^受付: x+$/)
    assert.strictEqual(TestMark.originalName("Orders"), "Orders")
    assert.isUndefined(TestMark.ownerOf("effect-n8n-mcp test copy of mine"))
  })

  it("is abandoned when its process has ended, or after an hour", () => {
    const name = TestMark.nameOf("W", mine, "t0")
    const now = Date.parse("2026-11-22T12:00:00Z")
    const at = (createdAt: string, gone = false) => TestMark.isLeftover({ name, createdAt }, now, () => gone)
    assert.isFalse(at("2026-11-22T11:30:00Z"))
    assert.isTrue(at("2026-11-22T11:30:00Z", true))
    assert.isTrue(at("2026-11-22T10:59:00Z"))
    assert.isFalse(TestMark.isLeftover({ name: "W", createdAt: "2020-01-01" }, now, () => true))
  })
})
