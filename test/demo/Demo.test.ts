import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Demo from "../../src/demo/Demo.ts"
import json from "../../src/demo/replays.json" with { type: "json" }
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { copies, fix, replay } from "../support/demoReplay.ts"
import * as TestTime from "../support/TestTime.ts"
import { inMemory } from "../support/world.ts"

const Node = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  type: Schema.String,
  parameters: Schema.JsonObject
})

const Items = Schema.Array(Schema.Array(Schema.Struct({
  json: Schema.JsonObject,
  binary: Schema.optionalKey(Schema.JsonObject)
})))

const Run = Schema.Struct({
  startTime: Schema.Int,
  executionTime: Schema.Int,
  executionIndex: Schema.Int,
  executionStatus: Schema.Literals(["success", "error", "waiting"]),
  source: Schema.Array(Schema.Struct({
    previousNode: Schema.String,
    previousNodeOutput: Schema.optionalKey(Schema.Int),
    previousNodeRun: Schema.Int
  })),
  data: Schema.optionalKey(Schema.Record(Schema.String, Items)),
  error: Schema.optionalKey(Schema.Struct({
    message: Schema.String,
    httpCode: Schema.String,
    context: Schema.Struct({ itemIndex: Schema.Int }),
    messages: Schema.Array(Schema.String)
  }))
})

const Connections = Schema.Record(
  Schema.String,
  Schema.Record(Schema.String, Schema.Array(Schema.Array(Schema.Struct({ node: Schema.String, type: Schema.String }))))
)

const Workflow = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  nodes: Schema.Array(Node),
  connections: Connections
})

const Execution = Schema.Struct({
  id: Schema.String,
  workflowId: Schema.String,
  status: Schema.String,
  startedAt: Schema.DateTimeUtcFromString,
  stoppedAt: Schema.NullOr(Schema.DateTimeUtcFromString),
  data: Schema.Struct({
    resultData: Schema.Struct({
      runData: Schema.Record(Schema.String, Schema.Array(Run)),
      lastNodeExecuted: Schema.optionalKey(Schema.String)
    })
  }),
  workflowData: Workflow
})

// Through JSON, so that nothing is tested that would not arrive.
const asSent = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const workflows = Schema.decodeUnknownSync(Schema.Array(Workflow))(asSent(Demo.seed.workflows))
const executions = Schema.decodeUnknownSync(Schema.Array(Execution))(asSent(Demo.seed.executions))

const runsOf = (execution: typeof Execution.Type) =>
  Object.entries(execution.data.resultData.runData).flatMap(([node, runs]) => runs.map((run) => ({ node, run })))

describe("Demo", () => {
  it("has one of everything", () => {
    const statuses = executions.map(({ status }) => status).toSorted()
    assert.deepStrictEqual(statuses, [
      "canceled",
      "error",
      "running",
      ...Array.from({ length: 8 }, () => "success"),
      "waiting"
    ])
    assert.strictEqual(Demo.seed.workflows.filter(({ isArchived }) => isArchived).length, 1)
    const types = new Set(workflows.flatMap(({ connections }) => Object.values(connections).flatMap(Object.keys)))
    assert.deepStrictEqual([...types].toSorted(), ["ai_languageModel", "ai_memory", "ai_tool", "main"])
    const items = executions.flatMap(runsOf).flatMap(({ run }) => Object.values(run.data ?? {}).flat(2))
    assert.isAbove(items.filter(({ binary }) => binary !== undefined).length, 0)
  })

  it("has unique ids and names in n8n's format", () => {
    assert.isTrue(workflows.every(({ id }) => /^[0-9A-Za-z]{16}$/.test(id)))
    const nodeIds = workflows.flatMap(({ nodes }) => nodes.map(({ id }) => id))
    assert.isTrue(nodeIds.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/.test(id)))
    for (const all of [workflows.map(({ id }) => id), nodeIds, executions.map(({ id }) => id)]) {
      assert.strictEqual(new Set(all).size, all.length)
    }
  })

  it("numbers its executions in the order of their start", () => {
    const byId = executions.toSorted((a, b) => Number(a.id) - Number(b.id))
    const byTime = executions.toSorted((a, b) => a.startedAt.epochMilliseconds - b.startedAt.epochMilliseconds)
    assert.deepStrictEqual(byId.map(({ id }) => id), byTime.map(({ id }) => id))
  })

  it.each(workflows)("connects only existing nodes of $name", ({ connections, nodes }) => {
    const names = nodes.map(({ name }) => name)
    const ends = Object.values(connections).flatMap((ports) => Object.values(ports).flat(2).map(({ node }) => node))
    const connected = new Set([...Object.keys(connections), ...ends])
    assert.deepStrictEqual([...connected].toSorted(), names.toSorted())
  })

  it.each(executions)("has execution $id in n8n's format", (execution) => {
    const { data: { resultData: { lastNodeExecuted, runData } }, status, stoppedAt, workflowData } = execution
    const workflow = workflows.find(({ id }) => id === execution.workflowId)
    assert.deepStrictEqual(workflowData.nodes, workflow?.nodes)
    const runs = runsOf(execution)
    if (status === "running" || status === "canceled") {
      assert.deepStrictEqual(runs, [])
      assert.strictEqual(stoppedAt === null, status === "running")
      return
    }
    assert.deepStrictEqual(
      runs.map(({ run }) => run.executionIndex).toSorted((a, b) => a - b),
      runs.map((_, i) => i)
    )
    for (const { node, run } of runs) {
      assert.isDefined(workflowData.nodes.find(({ name }) => name === node), `${node} is not a node`)
      assert.isAtLeast(run.startTime, execution.startedAt.epochMilliseconds)
      assert.isAtMost(run.startTime + run.executionTime, stoppedAt?.epochMilliseconds ?? 0)
      assert.strictEqual(run.executionStatus === "error", run.error !== undefined)
      assert.strictEqual(run.data === undefined, run.error !== undefined)
      if (run.data) assert.isAbove(Object.values(run.data).flat(2).length, 0, `${node} puts nothing out`)
      for (const { previousNode, previousNodeOutput, previousNodeRun } of run.source) {
        const before = runData[previousNode]?.[previousNodeRun]
        assert.isDefined(before, `${node} comes of ${previousNode}, which did not run`)
        assert.isBelow(before?.executionIndex ?? Infinity, run.executionIndex)
        // A sub-node's source is its agent, which has no output of that name.
        if (previousNodeOutput === undefined) continue
        const links = workflowData.connections[previousNode]?.["main"]?.[previousNodeOutput] ?? []
        assert.include(links.map((link) => link.node), node)
        assert.isAbove(before?.data?.["main"]?.[previousNodeOutput]?.length ?? 0, 0, `${node} has no input`)
      }
    }
    const last = runData[lastNodeExecuted ?? ""]?.at(-1)
    assert.strictEqual(last?.executionStatus, status)
    assert.isTrue(runs.every(({ run }) => run.source.length > 0 || run.executionIndex === 0))
  })

  it("runs a node of the loop several times", () => {
    const sales = executions.find(({ id }) => id === "240")?.data.resultData.runData
    assert.deepStrictEqual(
      sales?.["Loop over regions"]?.map(({ data }) => data?.["main"]?.map((output) => output.length)),
      [[0, 2], [0, 1], [3, 0]]
    )
    assert.strictEqual(sales?.["Get orders"]?.[0]?.data?.["main"]?.[0]?.length, 23)
  })

  it("shows the cause of the failure", () => {
    const failed = executions.filter(({ status }) => status === "error")
    assert.deepStrictEqual(failed.map(({ id }) => id), ["239"])
    const runData = failed[0]?.data.resultData.runData
    const { error, source } = runData?.["Upsert CRM contact"]?.[0] ?? {}
    assert.strictEqual(error?.httpCode, "422")
    assert.include(error?.messages[0], "can't be blank")
    const input = runData?.[source?.[0]?.previousNode ?? ""]?.[0]?.data?.["main"]?.[0]?.map(({ json }) => json)
    assert.deepStrictEqual(input?.map(({ email }) => email === null), [false, true, false])
    assert.strictEqual(input?.[error?.context.itemIndex ?? 0]?.["email"], null)
    const fetched = runData?.["Fetch customers"]?.[0]?.data?.["main"]?.[0]?.find(({ json }) => json["email"] === null)
    assert.strictEqual(fetched?.json["createdBy"], "phone order")
    assert.isUndefined(runData?.["Tell sales"])
  })

  it("contains secrets to redact", () => {
    const text = JSON.stringify(Demo.seed.executions)
    assert.match(text, /"authorization":"Bearer demo_[0-9a-f]{24}"/)
    assert.match(text, /"resumeToken":"[0-9a-f]{64}"/)
  })

  it.effect("is served by the API", () =>
    Effect.gen(function*() {
      const { client } = yield* N8nApi.make(Demo.seed)
      const List = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })
      const get = (path: string) =>
        client.get(`http://demo.test/api/v1${path}`).pipe(
          Effect.flatMap((response) => response.json),
          Effect.flatMap(Schema.decodeUnknownEffect(List)),
          Effect.map(({ data }) => data.map(({ id }) => id))
        )
      assert.deepStrictEqual(yield* get("/executions?status=error"), ["239"])
      assert.deepStrictEqual(yield* get("/executions?status=running"), ["241"])
      assert.strictEqual((yield* get("/executions")).length, 11)
      assert.strictEqual((yield* get("/workflows")).length, 6)
    }))

  it.effect("has a recording for exactly the copies that its replays make", () =>
    Effect.gen(function*() {
      const keys = (yield* TestTime.run(copies)).map(({ body, copy }) => Demo.keyOf(copy, body))
      assert.deepStrictEqual(keys.toSorted(), Object.keys(json).toSorted())
    }))

  it.effect("replays the fix as n8n did, and refuses what is not recorded", () =>
    inMemory(function*() {
      const before = yield* replay()
      yield* fix
      const after = yield* replay()
      const otherwise = yield* Effect.flip(tools.testWorkflow.call({ workflowId: "cR5mSyNc9bVh4KqE", replay: "235" }))
      const would = ({ data, sent, status }: typeof before) => ({
        status,
        upserts: sent?.find(({ node }) => node === "Upsert CRM contact")?.items,
        leftOut: JSON.stringify(data).match(/cus_\d+/g)
      })
      assert.deepStrictEqual(would(before), { status: "success", upserts: 3, leftOut: ["cus_1043"] })
      assert.deepStrictEqual(would(after), { status: "success", upserts: 2, leftOut: ["cus_1042", "cus_1043"] })
      assert.include(JSON.stringify(otherwise), "the n8n of --demo runs nothing")
      assert.notInclude(JSON.stringify(otherwise), "may have run")
    }, { seed: Demo.seed, runs: Demo.runs }))
})

const day = 86_400_000

describe("the demo's times", () => {
  it.each(["2026-11-21T06:31:19Z", "2026-11-27T04:00:00Z", "2031-02-28T23:59:59Z"])(
    "are those of last night at %s",
    (now) => {
      const { executions } = Demo.asOf(Date.parse(now))
      const age = Date.parse(now) - Math.max(...executions.map(({ startedAt }) => Date.parse(String(startedAt))))
      assert.isAtLeast(age, 0)
      assert.isBelow(age, day)
    }
  )

  it("move together and by whole days, items stay as they are", () => {
    const { executions, workflows } = Demo.asOf(Date.parse("2031-02-28T23:59:59Z"))
    const by = Date.parse(String(executions[0]?.["startedAt"])) -
      Date.parse(String(Demo.seed.executions[0]?.["startedAt"]))
    assert.strictEqual(by % day, 0)
    assert.strictEqual(
      Date.parse(String(workflows[0]?.["updatedAt"])) - Date.parse(String(Demo.seed.workflows[0]?.["updatedAt"])),
      by
    )
    const text = (recording: typeof Demo.seed) =>
      JSON.stringify(recording.executions.map((execution) => execution["data"]))
    const start = (text: string) => Number(/"startTime":(\d+)/.exec(text)?.[1])
    const [before, after] = [text(Demo.seed), text({ ...Demo.seed, executions, workflows })]
    assert.strictEqual(start(after) - start(before), by)
    assert.strictEqual(after.replaceAll(/"startTime":\d+/g, ""), before.replaceAll(/"startTime":\d+/g, ""))
    assert.strictEqual(executions[0]?.["id"], Demo.seed.executions[0]?.["id"])
  })
})
