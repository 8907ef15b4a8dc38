import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { obj } from "../../src/base/Json.ts"
import * as Connections from "../../src/n8n/model/Connections.ts"
import * as TestCopy from "../../src/trials/TestCopy.ts"
import * as TestMark from "../../src/trials/TestMark.ts"
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
  name: "copy",
  path: "p",
  now: Date.parse("2026-11-22T15:04:05.006Z"),
  timezone: "UTC",
  timeout: 1_500,
  listsWaiting: true,
  webhookUrl: "http://n8n.test/webhook/x"
}

const copy = (subject: Partial<TestCopy.Subject>, more: Partial<TestCopy.Options> = {}) =>
  Result.getOrThrow(TestCopy.make({ name: "W", nodes: [], connections: {}, ...subject }, { ...options, ...more }))

const refusal = (subject: Partial<TestCopy.Subject>, more: Partial<TestCopy.Options> = {}) =>
  Result.getOrThrow(
    Result.flip(TestCopy.make({ name: "W", nodes: [], connections: {}, ...subject }, { ...options, ...more }))
  ).message

const find = ({ body }: TestCopy.Copy, name: string) => body.nodes.find((node) => node.name === name)

const linksOf = ({ body }: TestCopy.Copy) =>
  Connections.links(body["connections"] as Connections.Connections).map(({ from, input, output, to }) =>
    `${from} ${Connections.portLabel(output)} > ${to} ${Connections.portLabel(input)}`
  )

describe("a copy", () => {
  it("has ids that are its own and fit where n8n keeps those of triggers on PostgreSQL: 36 characters", () => {
    const path = "8a1c0f5e-0000-4000-8000-000000000001"
    const made = copy({ nodes: [manual, node("A")], connections: { T: to("A") } }, { path })
    const ids = made.body.nodes.map(({ id }) => id ?? "")
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const id of ids) assert.isAtMost(id.length, 36)
  })

  it("is started by a webhook whose items pass through the trigger, disabled", () => {
    const made = copy({ nodes: [manual, node("A")], connections: { T: to("A") } }, { testData: [{ a: 1 }, { a: 2 }] })
    assert.deepStrictEqual(linksOf(made), [
      "test_workflow call main[0] > test_workflow id main[0]",
      "test_workflow id main[0] > test_workflow items main[0]",
      "test_workflow items main[0] > T main[0]",
      "T main[0] > A main[0]"
    ])
    assert.isTrue(find(made, "T")?.disabled)
    assert.deepStrictEqual(made.items, [{ a: 1 }, { a: 2 }])
    assert.strictEqual(made.nodeCount, 1)
  })

  it("tells its execution's id: in its answer, or where that is the workflow's, on 1.x in its static data", () => {
    const respond = (more: object = {}) => ({
      nodes: [manual, node("R", "n8n-nodes-base.respondToWebhook", more)],
      connections: { T: to("R") }
    })
    const told = (made: TestCopy.Copy) => [made.responds, find(made, "test_workflow id")?.type, made.addedNodes.length]
    const answer = "n8n-nodes-base.respondToWebhook"
    assert.deepStrictEqual(told(copy({ nodes: [manual, node("A")], connections: { T: to("A") } })), [false, answer, 3])
    assert.deepStrictEqual(told(copy(respond())), [true, undefined, 2])
    assert.deepStrictEqual(told(copy(respond(), { listsWaiting: false })), [true, "n8n-nodes-base.code", 3])
    const pinned = copy({ ...respond(), pinData: { R: [{ json: {} }] } }, { listsWaiting: false })
    assert.deepStrictEqual(told(pinned), [false, answer, 3])
    const { connections, nodes } = respond({ disabled: true })
    const off = copy({ nodes: [...nodes, node("A")], connections: { ...connections, R: to("A") } })
    assert.deepStrictEqual(told(off), [false, answer, 3])

    assert.strictEqual(TestCopy.idInResponse("42"), "42")
    assert.isUndefined(TestCopy.idInResponse("{\"message\":\"Workflow was started\"}"))
    assert.strictEqual(TestCopy.idInStaticData({ global: {}, "node:test_workflow id": { id: "42" } }), "42")
    assert.isUndefined(TestCopy.idInStaticData(null))
  })

  it("saves its data, calls no error workflow, and keeps the rest of the settings", () => {
    const settings = {
      errorWorkflow: "9",
      saveDataSuccessExecution: "none",
      timezone: "Asia/Tokyo",
      executionTimeout: -1
    }
    const made = copy({ nodes: [manual, node("A")], connections: { T: to("A") }, settings })
    assert.deepStrictEqual(made.body["settings"], {
      saveDataSuccessExecution: "all",
      saveDataErrorExecution: "all",
      saveExecutionProgress: true,
      timezone: "Asia/Tokyo",
      executionTimeout: 3
    })
  })

  it("does not write its progress down in a loop", () => {
    const made = copy({ nodes: [manual, node("A"), node("B")], connections: { T: to("A"), A: to("B"), B: to("A") } })
    assert.strictEqual(obj(made.body["settings"])?.["saveExecutionProgress"], false)
  })

  it("disables other triggers, and has no Error Trigger, which n8n would run even disabled", () => {
    const made = copy({
      nodes: [
        manual,
        node("A"),
        node("E", "n8n-nodes-base.errorTrigger"),
        node("S", "n8n-nodes-base.scheduleTrigger"),
        node("B")
      ],
      connections: { T: to("A"), E: to("B") }
    })
    assert.deepInclude(find(made, "E"), { type: "n8n-nodes-base.noOp", disabled: true })
    assert.isTrue(find(made, "S")?.disabled)
    assert.isUndefined(find(made, "B"))
    const started = copy({
      nodes: [manual, node("E", "n8n-nodes-base.errorTrigger"), node("B")],
      connections: { E: to("B") }
    })
    assert.strictEqual(started.start, "E")
    assert.deepInclude(find(started, "E"), { type: "n8n-nodes-base.noOp", disabled: true })
  })

  it("returns pinned items by a Code node without what served it; a trigger's are its test data", () => {
    const made = copy({
      nodes: [manual, node("A", "x.agent"), node("M", "x.model"), node("B")],
      connections: {
        T: to("A"),
        A: to("B"),
        M: { ai_languageModel: [[{ node: "A", type: "ai_languageModel", index: 0 }]] }
      },
      pinData: { A: [{ json: { a: 1 }, pairedItem: 0 }], T: [{ json: { t: 1 } }] }
    })
    assert.deepInclude(find(made, "A"), {
      type: "n8n-nodes-base.code",
      parameters: { jsCode: "return [{\"json\":{\"a\":1}}]" }
    })
    assert.isUndefined(find(made, "M"))
    assert.deepStrictEqual(made.items, [{ t: 1 }])
  })

  it("keeps what serves a node", () => {
    const ai = (type: string, name: string) => ({ [type]: [[{ node: name, type, index: 0 }]] })
    const made = copy({
      nodes: [manual, node("A", "x.agent"), node("Tool", "x.tool"), node("M", "x.model")],
      connections: { T: to("A"), Tool: ai("ai_tool", "A"), M: ai("ai_languageModel", "Tool") }
    })
    assert.includeMembers(linksOf(made), ["Tool ai_tool > A ai_tool", "M ai_languageModel > Tool ai_languageModel"])
  })

  it("starts at a node by name or id, and leaves out what comes before but what is named", () => {
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
      const made = copy(subject, { startNode, testData: { b: 1 } })
      assert.deepStrictEqual(linksOf(made).slice(2), [
        "test_workflow items main[0] > B main[0]",
        "B main[0] > C main[0]"
      ])
      assert.isUndefined(find(made, "Z"))
      assert.isTrue(find(made, "A")?.disabled)
      assert.isUndefined(find(made, "B")?.disabled)
    }
  })

  it("starts at the trigger that leads to most, from the output that leads on", () => {
    const made = copy({
      nodes: [
        manual,
        node("A"),
        node("W", "n8n-nodes-base.webhook"),
        node("B"),
        node("R", "n8n-nodes-base.respondToWebhook")
      ],
      connections: { T: to("A"), W: { main: [null, [{ node: "B", type: "main", index: 0 }]] }, B: to("R") }
    })
    assert.strictEqual(made.start, "W")
    assert.include(linksOf(made), "W main[0] > B main[0]")
    assert.strictEqual(obj(find(made, "test_workflow call")?.parameters)?.["responseMode"], "responseNode")
  })

  it("says why there is none", () => {
    assert.match(refusal({ nodes: [node("A")] }), /no trigger/)
    assert.match(refusal({ nodes: [{ ...manual, disabled: true }] }), /'T' is disabled/)
    assert.match(refusal({ nodes: [manual, node("A")] }), /'T' leads to none/)
    assert.match(
      refusal({ nodes: [manual, node("A", "x.y", { disabled: true })], connections: { T: to("A") } }),
      /disabled/
    )
    assert.match(refusal({ nodes: [manual] }, { startNode: "Q" }), /no node 'Q'/)
  })
})

describe("what a trigger emits", () => {
  const around = {
    now: Date.parse("2026-11-01T15:04:05.006Z"),
    timezone: "America/New_York",
    webhookUrl: "http://h/webhook/x"
  }
  const emit = (type: string, testData: unknown, parameters: object = {}) =>
    TriggerItems.fromTrigger(node("T", type, { parameters }), testData, around)

  it("of a schedule is the time, as n8n writes it", () => {
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

  it("of a webhook is a request: of its body, or whole; without a body, the query", () => {
    const [post] = emit("n8n-nodes-base.webhook", { a: 1 }, { httpMethod: "POST" })
    assert.deepInclude(post, { body: { a: 1 }, query: {}, params: {}, executionMode: "production" })
    const [whole] = emit("n8n-nodes-base.webhook", { headers: { "X-A": "1" }, body: [1] })
    assert.deepInclude(whole, { body: [1] })
    assert.strictEqual(obj(whole?.["headers"])?.["x-a"], "1")
    const [get] = emit("n8n-nodes-base.webhook", { q: "1" })
    assert.deepInclude(get, { query: { q: "1" } })
    assert.lengthOf(emit("n8n-nodes-base.webhook", [{ a: 1 }, { a: 2 }]), 2)
  })

  it("of the others is the item, with what that trigger always has", () => {
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

  it("tells whose it is and of what, within n8n's length", () => {
    const name = TestMark.nameOf(`受付: ${"x".repeat(200)}`, mine, "t0")
    assert.isAtMost([...name].length, 128)
    assert.deepStrictEqual(TestMark.ownerOf(name), mine)
    assert.match(TestMark.originalName(name), /^受付: x+$/)
    assert.strictEqual(TestMark.originalName("Orders"), "Orders")
    assert.isUndefined(TestMark.ownerOf("effect-n8n-mcp test copy of mine"))
  })

  it("is left over when its process is gone, or after an hour", () => {
    const name = TestMark.nameOf("W", mine, "t0")
    const now = Date.parse("2026-11-22T12:00:00Z")
    const at = (createdAt: string, gone = false) => TestMark.isLeftover({ name, createdAt }, now, () => gone)
    assert.isFalse(at("2026-11-22T11:30:00Z"))
    assert.isTrue(at("2026-11-22T11:30:00Z", true))
    assert.isTrue(at("2026-11-22T10:59:00Z"))
    assert.isFalse(TestMark.isLeftover({ name: "W", createdAt: "2020-01-01" }, now, () => true))
  })
})
