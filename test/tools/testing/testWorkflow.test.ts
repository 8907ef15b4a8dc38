import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as N8nChecks from "../../../src/app/doctor/N8nChecks.ts"
import * as Services from "../../../src/app/Services.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import * as Errors from "../../../src/base/Errors.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import * as TestMark from "../../../src/n8n/model/TestMark.ts"
import { WriteGuard } from "../../../src/n8n/WriteGuard.ts"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../../src/tools/index.ts"
import { currentOwner } from "../../../src/trials/TestCopies.ts"
import { reasonOf } from "../../support/reason.ts"
import { joined, main, node } from "../../support/workflows.ts"
import { clientOf, type Needs } from "../../support/world.ts"
import { assertSnapshot } from "../snapshot.ts"

const original = {
  id: "orig",
  name: "Orders",
  active: false,
  nodes: [node("T", "manualTrigger"), node("Out", "noOp")],
  connections: { T: main("Out") },
  settings: {},
  shared: [{ role: "workflow:owner", projectId: "p1" }]
}

const run = (order: number, json: Obj | ReadonlyArray<Obj>, previousNode?: string) => ({
  startTime: 1,
  executionTime: 2,
  executionIndex: order,
  executionStatus: "success",
  source: previousNode === undefined ? [] : [{ previousNode }],
  data: { main: [[json].flat().map((one) => ({ json: one }))] }
})

/** What n8n would have of the copy's run; the fake runs nothing. */
const executionOf = (copy: Obj, status: string, runData: Obj) => ({
  id: "77",
  workflowId: copy["id"],
  status,
  mode: "webhook",
  startedAt: "2026-11-22T10:00:00.000Z",
  stoppedAt: "2026-11-22T10:00:00.120Z",
  workflowData: copy,
  data: { resultData: { runData: { "test_workflow call": [run(0, { body: {} })], ...runData } } }
})

type Hook = NonNullable<N8nApi.Options["before"]>

/** An n8n in which the copy's webhook starts an execution, and a node of the copy answers with its id. */
const world = Effect.fnUntraced(function*(
  {
    answer = () => new Response("77"),
    hook,
    isListed = true,
    runData = { T: [run(1, { a: 1 }, "test_workflow items")], Out: [run(2, { done: true }, "T")] },
    status = "success",
    subject = original,
    version = "2",
    webhookUrl,
    workflows = []
  }: {
    /** What comes of the answer of our node. */
    readonly answer?: () => Response
    readonly hook?: Hook
    /** Whether the execution can be found in a list. */
    readonly isListed?: boolean
    /** The runs of the workflow's own nodes. */
    readonly runData?: Obj
    readonly status?: string
    readonly subject?: N8nApi.Workflow
    readonly version?: "2" | "1"
    readonly webhookUrl?: URL
    readonly workflows?: ReadonlyArray<N8nApi.Workflow>
  } = {}
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  let started = false
  let ended = status
  const before: Hook = (request, n8n) =>
    Effect.gen(function*() {
      const replaced = hook === undefined ? undefined : yield* hook(request, n8n)
      if (replaced instanceof Response) return replaced
      const { pathname } = new URL(request.url)
      const copy = (yield* n8n.workflows).find(({ name }) => TestMark.ownerOf(name)?.pid === process.pid)
      if (copy === undefined || request.method === "OPTIONS") return
      const teller = arr(copy["nodes"]).map(obj).find((each) => each?.["name"] === "test_workflow id")?.["type"]
      if (pathname.startsWith("/webhook/")) {
        started = true
        if (teller === "n8n-nodes-base.respondToWebhook") return answer()
      }
      if (!started) return
      if (pathname === `/api/v1/workflows/${copy.id}` && teller === "n8n-nodes-base.code") {
        return Response.json({ ...copy, staticData: { "node:test_workflow id": { id: "77" } } })
      }
      if (pathname === "/api/v1/executions") {
        return Response.json({ data: isListed ? [executionOf(copy, ended, runData)] : [], nextCursor: null })
      }
      if (pathname === "/api/v1/executions/77") return Response.json(executionOf(copy, ended, runData))
      if (pathname === "/api/v1/executions/77/stop") {
        ended = "canceled"
        return Response.json(executionOf(copy, ended, runData))
      }
      return
    })
  const api = yield* N8nApi.make({ workflows: [subject, ...workflows], executions: [] }, { version, before })
  const n8n = clientOf(api.client, { apiKey: "the-key", webhookUrl })
  const process_ = () =>
    Effect.provide(
      Layer.merge(n8n, Layer.fresh(Services.layer({ filesRoots: [folder], stateFolder: `${folder}/.state` })))
    )
  return { api, folder, process: process_ }
})

/** Runs a generator in front of this n8n; `here.process()` is another process with the same folder. */
const inWorld = <Eff extends Effect.Effect<unknown, unknown, FileSystem.FileSystem | Needs>, A>(
  options: Parameters<typeof world>[0],
  use: (here: Effect.Success<ReturnType<typeof world>>) => Generator<Eff, A, never>
) =>
  Effect.flatMap(world(options), (here) => here.process()(Effect.gen(() => use(here)))).pipe(
    Effect.scoped,
    Effect.provide(NodeServices.layer)
  )

const test = (more: Obj = {}) =>
  Effect.map(tools.testWorkflow.run({ workflowId: "orig", ...more }), ({ data }) => data as Obj)

const refused = (more: Obj = {}) => Effect.flip(test(more))

const names = (api: N8nApi.N8nApi) => Effect.map(api.workflows, (all) => all.map(({ name }) => name))

/** Whether a request of this method or to this path was sent. */
const sent = (api: N8nApi.N8nApi, part: string) =>
  Effect.map(api.requests, (all) => all.some(({ method, url }) => method === part || url.includes(part)))

describe("test_workflow", () => {
  it.live("answers what it did, token by token", () =>
    inWorld({}, function*() {
      const answer = yield* tools.testWorkflow.run({ workflowId: "orig", testData: { a: 1 } })
      const shown = JSON.stringify({ tokens: countTokens(JSON.stringify(answer)), ...answer }, null, 2)
      yield* Effect.promise(() => assertSnapshot(shown, "answer-test_workflow"))
    }))

  it.live("runs a copy in the original's project, removes it, and keeps what it read, for other processes too", () =>
    inWorld({}, function*({ api, process }) {
      const told: Array<unknown> = []
      const caller = {
        progress: (...progress: ReadonlyArray<unknown>) => Effect.sync(() => void told.push(progress)),
        confirm: () => Effect.succeed("unasked" as const)
      }
      const found = yield* test({ testData: "{\"a\":1}" }).pipe(Effect.provideService(CallContext, caller))
      assert.deepInclude(found, { executionId: "77", status: "success", executionTime: 120 })
      assert.deepStrictEqual(found["data"], { node: "Out", items: [{ json: { done: true } }] })
      assert.deepStrictEqual(found["logs"], ["T: 1 item, 2 ms", "Out: 1 item, 2 ms"])
      assert.deepStrictEqual(told, [[1, 4, "published"], [4, 4, "success"]])
      assert.deepStrictEqual(yield* names(api), ["Orders"])

      assert.isFalse(yield* sent(api, "/executions?"))
      const requests = yield* api.requests
      const created = obj(requests.find(({ method, url }) => method === "POST" && url.endsWith("/workflows"))?.body)
      assert.strictEqual(created?.["projectId"], "p1")
      const called = requests.filter(({ url }) => url.includes("/webhook/"))
      assert.deepStrictEqual(obj(called.at(-1)?.body)?.["items"], [{ a: 1 }])
      assert.notInclude(JSON.stringify(called), "the-key")

      const again = yield* tools.getExecution.call({ id: "77", nodeOffset: 0 }).pipe(process())
      assert.deepInclude(again, { workflowName: "Orders", status: "success" })
      assert.isUndefined(again.url)
      const gone = yield* Effect.flip(tools.getExecution.call({ id: "78", nodeOffset: 0 })).pipe(process())
      assert.strictEqual(gone._tag, "NotFoundError")
    }))

  it.live("says which nodes ran and which returned pinned items, and the copy contains them", () =>
    inWorld({
      subject: {
        ...original,
        nodes: [
          node("T", "manualTrigger"),
          ...["Out", "Rest", "Tool"].map((name) => node(name, "noOp")),
          node("Api", "httpRequest")
        ],
        connections: joined(["T", "Api"], ["Api", "Out"], ["Out", "Rest"], ["Tool", "Rest", "ai_tool"])
      },
      runData: {
        T: [run(1, { a: 1 }, "test_workflow items")],
        Api: [run(2, { v: 1 }, "T")],
        Out: [run(3, { v: 1 }, "Api")]
      }
    }, function*({ api }) {
      const answer = yield* test({ pins: { Api: [{ v: 1 }] }, endNode: "Out" })
      assert.deepStrictEqual([answer["ran"], answer["pinned"]], [["Out"], ["Api"]])
      const requests = yield* api.requests
      const { pins } = obj(requests.find(({ url }) => url.includes("/webhook/"))?.body) ?? {}
      assert.deepInclude(pins, { pin: "{\"runs\":[[{\"json\":{\"v\":1}}]],\"repeats\":true}", outputs: [[0]] })
      for (
        const [more, message] of [
          [{ pins: { Apy: [] } }, /pins name 'Apy', which is not a node/],
          [{ pins: { Rest: [] }, endNode: "Out" }, /'Rest', which does not run/],
          [{ pins: { Tool: [{ a: 1 }] } }, /'Tool', which is a sub-node/],
          [{ pins: { Api: "ran" } }, /pins/],
          [{ pins: { Api: [1] } }, /pins of 'Api' contain a value that is not an item/],
          [{ startNode: "Nobody" }, /Nobody/],
          [{ startNode: "Rest", endNode: "Out" }, /does not lead to 'Out'/],
          [{ replay: "88" }, /Execution '88' not found/],
          [{ replay: "88", mode: "live" }, /no effect on a live workflow/],
          [{ mode: "live" }, /not published/]
        ] as const
      ) assert.match((yield* refused(more)).message, message)
      const writes = (all: ReadonlyArray<N8nApi.RecordedRequest>) => all.filter(({ method }) => method !== "GET").length
      assert.strictEqual(writes(yield* api.requests), writes(requests))
    }))

  it.live("names the node that it starts at among those that ran", () =>
    inWorld({ runData: { Out: [run(1, { a: 1 }, "test_workflow items")] } }, function*() {
      assert.deepStrictEqual((yield* test({ startNode: "Out", endNode: "Out" }))["ran"], ["Out"])
    }))

  describe("live", () => {
    const subject = {
      ...original,
      active: true,
      nodes: [node("Hook", "webhook", 1, { path: "orders", httpMethod: "POST" }), node("Out", "noOp")],
      connections: { Hook: main("Out") }
    }
    const answers: Readonly<Record<string, Hook>> = {
      "Status 403": () => Effect.sync(() => new Response("no", { status: 403 })),
      "Status 500": () => Effect.sync(() => new Response("no", { status: 500 })),
      Unreachable: () => Effect.fail(new N8nApi.Disconnected())
    }

    it.live.each(Object.entries(answers))(
      "reports the answer of a call that started nothing: %s",
      ([reason, answer]) =>
        inWorld({
          subject,
          hook: (request, n8n) => request.url.includes("/webhook/") ? answer(request, n8n) : Effect.undefined
        }, function*() {
          assert.strictEqual(reasonOf(yield* refused({ mode: "live", timeout: 1_000 })), reason)
        })
    )

    it.live("runs no node that the policy bans", () =>
      inWorld({ subject }, function*({ api }) {
        const nodes: Array<unknown> = []
        const banned = new Errors.ValidationError({ reason: "banned", field: "" })
        const error = yield* refused({ mode: "live" }).pipe(
          Effect.provideService(WriteGuard, {
            check: () => Effect.void,
            checkTest: (all) => Effect.andThen(Effect.sync(() => nodes.push(...all)), Effect.fail(banned)),
            faults: () => Effect.succeed([])
          })
        )
        assert.deepStrictEqual([error.message, nodes.length], [banned.message, 2])
        assert.isFalse(yield* sent(api, "/webhook/"))
      }))

    it.live("says of a workflow's name only what fits in a sentence", () =>
      inWorld(
        { subject: { ...original, name: `ghp_${"aB3dE5gH7j".repeat(4).slice(0, 36)}\nIgnore ${"x".repeat(90)}` } },
        function*() {
          const { message } = yield* refused({ mode: "live" })
          assert.match(message, /^'\[redacted\] Ignore x+…' is not published/)
          assert.isBelow(message.length, 140)
        }
      ))
  })

  const items = [{ json: { a: 1 } }]
  it.live.each<readonly [type: string, main: ReadonlyArray<ReadonlyArray<Obj>>, shown: Obj]>([
    ["filter", [[], items], { output: "Discarded", items }],
    ["if", [items, items], { output: "true", items }],
    ["unknown", [[], [], items], { output: "main[2]", items }],
    ["if", [items, []], { items }],
    ["filter", [[], []], { items: [] }],
    ["noOp", [items], { items }]
  ])(
    "says which output of %s the items come from, if it is not the first or only one: %j",
    ([type, main, shown]) =>
      inWorld({
        subject: { ...original, nodes: [node("T", "manualTrigger"), node("Out", type)] },
        runData: { T: [run(1, { a: 1 }, "test_workflow items")], Out: [{ ...run(2, {}, "T"), data: { main } }] }
      }, function*() {
        assert.deepStrictEqual((yield* test())["data"], { node: "Out", ...shown })
      })
  )

  describe("of 20 nodes", () => {
    const names = Array.from({ length: 20 }, (_, index) => `Prepare the order ${index}`)
    const subject = {
      ...original,
      nodes: [node("T", "manualTrigger"), ...names.map((name) => node(name, "set"))],
      connections: joined(...names.map((name, index) => [names[index - 1] ?? "T", name] as const))
    }
    const order = (index: number) => ({ orderNo: index, customer: { id: `c-${index}`, email: `c${index}@shop.test` } })
    const orders = Array.from({ length: 300 }, (_, index) => order(index))
    /** The answer in at most 650 tokens. */
    const tested = (last: Obj, status = "success") =>
      inWorld({
        subject,
        status,
        runData: {
          T: [run(1, { a: 1 }, "test_workflow items")],
          ...Object.fromEntries(names.map((name, index) => [name, [run(index + 2, orders, names[index - 1] ?? "T")]])),
          "Prepare the order 19": [last]
        }
      }, function*() {
        const answer = yield* tools.testWorkflow.run({ workflowId: "orig" })
        assert.isAtMost(countTokens(JSON.stringify(answer)), 650)
        return answer.data as Obj
      })

    it.live("answers in 650 tokens, and nothing twice", () =>
      Effect.gen(function*() {
        const { data, logs, ...rest } = yield* tested(run(21, orders, "Prepare the order 18"))
        assert.lengthOf(arr(logs), 21)
        assert.isAtLeast(arr(obj(data)?.["items"]).length, 3)
        assert.deepInclude(obj(obj(data)?.["_truncated"]), { path: "data.items", total: 300 })
        assert.hasAllKeys(rest, ["executionId", "status", "executionTime", "version"])
      }))

    it.live("that failed: the message is only in failure", () =>
      Effect.gen(function*() {
        const error = { name: "NodeOperationError", message: "Order 17 has no address", context: { itemIndex: 17 } }
        const { data: _, ...failing } = run(21, [], "Prepare the order 18")
        const data = yield* tested({ ...failing, executionStatus: "error", error }, "error")
        assert.strictEqual(arr(data["logs"]).at(-1), "Prepare the order 19: failed")
        assert.deepInclude(obj(data["failure"]), { node: "Prepare the order 19", inputItem: order(17) })
        assert.lengthOf(JSON.stringify(data).split("Order 17 has no address"), 2)
      }))
  })

  it.live("takes a file, and on 1.x leaves out what that does not take", () =>
    inWorld({ version: "1" }, function*({ api, folder }) {
      const { active: _, id: __, shared: ___, ...file } = original
      yield* FileSystem.FileSystem.use((fs) => fs.writeFileString(`${folder}/w.json`, JSON.stringify(file)))
      const [ofFile, ofN8n] = [yield* test({ workflowId: "w.json" }), yield* test()]
      assert.deepStrictEqual([ofFile["status"], ofN8n["status"]], ["success", "success"])
      const repaired = "The file was tested as its creation repairs it: Set executionOrder to 'v1'"
      assert.include(str(ofFile["hint"]), repaired)
      assert.notInclude(str(ofN8n["hint"]) ?? "", "repairs")
      assert.deepStrictEqual(yield* names(api), ["Orders"])
    }))

  it.live("says in n8n's words why a workflow cannot be published, and runs nothing", () =>
    inWorld({
      hook: ({ url }) =>
        Effect.sync(() =>
          url.endsWith("/publish")
            ? Response.json({ message: "Unrecognized node type: x.y" }, { status: 400 })
            : undefined
        )
    }, function*({ api }) {
      const error = yield* refused()
      assert.deepInclude(error, { _tag: "ValidationError", errorDetails: "Unrecognized node type: x.y" })
      assert.deepStrictEqual(yield* names(api), ["Orders"])
      assert.isFalse(yield* sent(api, "/webhook/"))
    }))

  /** Starts a test and interrupts it as soon as a request to `path` is under way. */
  const interruptedAt = (
    path: string,
    options: Parameters<typeof world>[0],
    use: (api: N8nApi.N8nApi) => Effect.Effect<void>
  ) =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const hook: Hook = ({ url }) =>
        Effect.asVoid(Effect.when(Deferred.succeed(asked, undefined), Effect.sync(() => url.includes(path))))
      yield* inWorld({ ...options, hook }, function*({ api }) {
        const running = yield* Effect.forkChild(test())
        yield* Deferred.await(asked)
        yield* Fiber.interrupt(running)
        yield* use(api)
      })
    })

  it.live("cleans up when it is interrupted, and stops what runs", () =>
    interruptedAt("/executions/77", { status: "running" }, (api) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* names(api), ["Orders"])
        assert.isTrue(yield* sent(api, "/executions/77/stop"))
      })))

  it.live("calls webhooks where they are", () =>
    interruptedAt("hooks.test", { webhookUrl: new URL("https://hooks.test/base/") }, (api) =>
      Effect.gen(function*() {
        assert.isTrue(yield* sent(api, "https://hooks.test/base/webhook/"))
        assert.isFalse(yield* sent(api, "http://n8n.test/webhook/"))
      })))

  const responding = {
    ...original,
    nodes: [...original.nodes, node("R", "respondToWebhook")],
    connections: joined(["T", "Out"], ["Out", "R"])
  }
  it.live.each<readonly [string, Parameters<typeof world>[0], string]>([
    ["on 1.x, which does not list waiting ones", { version: "1", isListed: false, status: "waiting" }, "waiting"],
    [
      "on 1.x, of a workflow that responds",
      { version: "1", isListed: false, status: "waiting", subject: responding },
      "waiting"
    ],
    ["in the list where the answer is lost", { answer: () => new Response("Bad Gateway", { status: 502 }) }, "success"]
  ])("finds the execution %s", ([, options, status]) =>
    inWorld(options, function*() {
      assert.deepInclude(yield* test(), { executionId: "77", status })
    }))

  it.live("removes abandoned copies of others, not ones in use nor ones with only the name; doctor shows it", () => {
    const starter = (path: string) =>
      node("test_workflow call", "webhook", 2, { path, httpMethod: "POST", responseMode: "responseNode" }, {
        id: path,
        webhookId: path
      })
    const leftOver = (id: string, owner: TestMark.Owner, createdAt: string, path = `${id}-0000`) => ({
      ...original,
      id,
      name: TestMark.nameOf("Old", owner, id),
      nodes: path === "" ? original.nodes : [...original.nodes, starter(path)],
      createdAt
    })
    const [now, before] = [new Date().toISOString(), "2026-01-01T00:00:00.000Z"]
    const [gone, other] = [{ ...currentOwner(), pid: 2 ** 22 + 1 }, { machine: "other", pid: 1 }]
    const workflows = [
      leftOver("dead", gone, now),
      leftOver("old", other, before),
      leftOver("used", other, now),
      leftOver("mine", gone, before, "orders"),
      leftOver("bare", gone, before, "")
    ]
    return inWorld({ workflows }, function*({ api, folder }) {
      const checks = yield* N8nChecks.examine({ tools: [], filesRoots: [], state: folder })
      assert.match(checks.find(({ name }) => name === "Test copies")?.detail ?? "", /^3 on n8n/)
      yield* test()
      assert.deepStrictEqual((yield* api.workflows).map(({ id }) => id), ["orig", "used", "mine", "bare"])
      // What went could come back, as it was.
      const { versions: [version] } = yield* tools.workflowHistory.call({ id: "old" })
      yield* tools.workflowRestore.run({ id: "old", version: version?.version, confirm: true })
      assert.include(yield* names(api), "Restored Old")
    })
  })
})
