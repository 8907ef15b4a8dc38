import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CallContext } from "../../src/base/CallContext.ts"
import * as Deadline from "../../src/base/Deadline.ts"
import { type Obj, obj } from "../../src/base/Json.ts"
import { keyOf, RetryLog } from "../../src/executions/RetryLog.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { rounds } from "../support/seed.ts"
import * as TestTime from "../support/TestTime.ts"
import { node as placed } from "../support/workflows.ts"
import { inWorld, type Needs, type Options } from "../support/world.ts"

const node = (name: string, type: string, parameters: Obj = {}) => placed(name, type, 2, parameters)

const workflow = (id: string, more: Obj = {}) => ({
  id,
  name: `注文 ${id}`,
  active: true,
  nodes: [node("Hook", "webhook", { path: `in-${id}`, httpMethod: "POST" }), node("Pay", "httpRequest")],
  connections: { Hook: { main: [[{ node: "Pay", type: "main", index: 0 }]] } },
  ...more
})

const shop = workflow("shop")

const requestOf = (no: number) => ({
  headers: { "content-type": "application/json", "content-length": "8", cookie: "a=b", "x-key": `k${no}` },
  params: {},
  query: {},
  body: { no },
  webhookUrl: "http://n8n.test/webhook/in-shop",
  executionMode: "production"
})

const startedAt = "2026-11-01T03:00:00.000Z"

const failed = (id: number, no = id, of: N8nApi.Workflow = shop) => ({
  ...FakeN8n.failedExecution({
    workflow: of,
    id: String(id),
    startedAt,
    node: "Pay",
    message: "card declined",
    items: { Hook: [requestOf(no)] }
  }) as FakeN8n.Execution,
  mode: "webhook"
})

/** Requests to webhooks. */
const sent = (api: N8nApi.N8nApi) =>
  Effect.map(
    api.requests,
    (requests) => requests.filter(({ method, url }) => method === "POST" && url.includes("/webhook/"))
  )

const orders = (api: N8nApi.N8nApi) =>
  Effect.map(sent(api), (requests) => requests.map(({ body }) => obj(body)?.["no"]).toSorted())

/** An n8n in which a webhook's call leaves an execution with what it has received. */
const inShop = <A, E>(
  use: (here: { readonly api: N8nApi.N8nApi }) => Effect.Effect<A, E, Needs>,
  { before, ...options }: Options = {},
  executions: N8nApi.Seed["executions"] = [failed(1), failed(2), failed(3)]
) => {
  let last = 0
  return inWorld(use, {
    seed: { workflows: [shop], executions },
    runs: (workflow) =>
      FakeN8n.succeededExecution({ workflow, items: { Hook: [requestOf(last)], Pay: [{ paid: last, ...result }] } }),
    ...options,
    before: (request, api) => {
      if (request.method === "POST" && request.url.includes("/webhook/")) last = Number(obj(request.body)?.["no"])
      return before?.(request, api) ?? Effect.void
    }
  })
}

/** More than two fields, one of them an object. */
const result = { currency: "JPY", shop: "Kobe", receipt: { no: 7 } }

const retry = (input: Obj) => TestTime.run(Deadline.bounded(tools.retryExecution.call(input), true))

const ids = ["1", "2", "3"]

const answering = (answer: "yes" | "no", questions: Array<string> = []) =>
  Effect.provideService(CallContext, {
    progress: () => Effect.void,
    confirm: (question) => Effect.sync(() => (questions.push(question), answer))
  })

describe("a retry from the start", () => {
  it.effect("sends each recorded request once, and names the new run and its last items", () =>
    inShop(({ api }) =>
      Effect.gen(function*() {
        const { runs, version } = yield* retry({ ids, from: "start" })
        assert.deepStrictEqual(yield* orders(api), [1, 2, 3])
        assert.deepStrictEqual(runs?.map(({ id, items, lastNode, status }) => [id, status, lastNode, items]), [
          ["1", "success", "Pay", { count: 1, first: { paid: 1, ...result } }],
          ["2", "success", "Pay", { count: 1, first: { paid: 2, ...result } }],
          ["3", "success", "Pay", { count: 1, first: { paid: 3, ...result } }]
        ])
        const [request] = yield* sent(api)
        assert.deepInclude(request?.headers, { "x-key": `k${obj(request?.body)?.["no"]}` })
        assert.notProperty(request?.headers, "cookie")
        assert.notProperty(request?.headers, "x-n8n-api-key")
        assert.isUndefined(version)
        const again = yield* retry({ workflowName: "注文", from: "start" })
        assert.deepStrictEqual(again.skipped?.map(({ reason }) => reason), ["already retried successfully"])
        assert.lengthOf(yield* sent(api), 3)
      })
    ))

  it.effect("asks first, and sends nothing in a dry run or if the user declines", () =>
    inShop(({ api }) =>
      Effect.gen(function*() {
        const questions: Array<string> = []
        const dry = yield* retry({ ids, from: "start", dryRun: true }).pipe(answering("no", questions))
        assert.deepStrictEqual(questions, [])
        assert.deepStrictEqual(dry.wouldRetry?.[0], { id: "1", to: "POST /webhook/in-shop", body: "{\"no\":1}" })
        assert.deepStrictEqual(dry.advice, [{
          call: { ids, from: "failure" },
          why: "Nothing that ran has changed since."
        }])
        const declined = yield* Effect.flip(retry({ id: "1", from: "start" }).pipe(answering("no", questions)))
        assert.strictEqual(declined.message, "The user did not agree, or could not be asked")
        assert.deepStrictEqual(questions, [
          "Retry 1 run from the start (1 recorded request to http://n8n.test): 1 of workflow shop ('注文 shop')?"
        ])
        assert.deepStrictEqual(yield* sent(api), [])
        const single = yield* retry({ id: "1", from: "start" }).pipe(answering("yes"))
        assert.deepInclude(single, { id: "4", status: "success", lastNode: "Pay" })
        assert.lengthOf(yield* sent(api), 1)
      })
    ))

  it.effect("names the nodes whose effects it repeats before anything is sent", () => {
    const charge = {
      ...shop,
      nodes: [...shop.nodes, node("Rows", "splitOut"), node("Charge", "httpRequest")],
      connections: {
        Hook: { main: [[{ node: "Rows", type: "main", index: 0 }]] },
        Rows: { main: [[{ node: "Charge", type: "main", index: 0 }]] },
        Charge: { main: [[{ node: "Pay", type: "main", index: 0 }]] }
      }
    }
    return inShop(
      ({ api }) =>
        Effect.gen(function*() {
          const dry = yield* retry({ id: "1", from: "start", dryRun: true })
          assert.deepStrictEqual(dry.wouldRetry?.map(({ repeats }) => repeats), [["Charge"]])
          const questions: Array<string> = []
          yield* Effect.flip(retry({ id: "1", from: "start" }).pipe(answering("no", questions)))
          assert.include(questions[0], ", which repeats 'Charge': ")
          assert.deepStrictEqual(yield* sent(api), [])
        }),
      { seed: { workflows: [charge], executions: [failed(1, 1, charge)] } }
    )
  })

  it.effect("sends once for calls at the same time, and for requests that were sent by retries", () =>
    inShop(({ api }) =>
      Effect.gen(function*() {
        const both = yield* TestTime.run(
          Effect.forEach([1, 2], () => tools.retryExecution.call({ ids, from: "start" }), { concurrency: 2 })
        )
        assert.deepStrictEqual(both.flatMap(({ runs }) => runs?.map(({ id }) => id) ?? []).toSorted(), ids)
        assert.deepStrictEqual(yield* orders(api), [1, 2, 3])
      })
    ))

  it.effect("does not send again what got no answer, except on request after asking", () =>
    inShop(({ api }) =>
      Effect.gen(function*() {
        const { runs } = yield* retry({ ids: ["1"], from: "start" })
        assert.deepStrictEqual(runs?.map(({ newId, status }) => [newId, status]), [[undefined, "unknown"]])
        const { skipped } = yield* retry({ ids: ["1"], from: "start" })
        assert.include(skipped?.[0]?.reason, "may have been sent again")
        assert.lengthOf(yield* sent(api), 1)
        const questions: Array<string> = []
        yield* Effect.flip(retry({ id: "1", force: true }).pipe(answering("no", questions)))
        assert.include(questions[0], "also if they may have been sent again already")
        assert.lengthOf(yield* sent(api), 1)
        yield* retry({ id: "1", from: "start", force: true }).pipe(answering("yes"))
        assert.lengthOf(yield* sent(api), 2)
      }), { before: ({ url }) => url.includes("/webhook/") ? Effect.fail(new FakeN8n.Disconnected()) : Effect.void }))

  it.effect("is not repeated if the workflow itself may have answered that the caller is not authorized", () =>
    inShop(({ api }) =>
      Effect.gen(function*() {
        const { runs } = yield* retry({ ids: ["1"], from: "start" })
        assert.deepStrictEqual(runs?.map(({ note, status }) => [status, note]), [
          ["unknown", "the webhook answered 401; n8n lists no run of it"]
        ])
        const { skipped } = yield* retry({ ids: ["1"], from: "start" })
        assert.include(skipped?.[0]?.reason, "may have been sent again")
        assert.lengthOf(yield* sent(api), 1)
      }), {
      before: ({ url }) =>
        Effect.succeed(
          url.includes("/webhook/") ? Response.json({ error: "unknown shop" }, { status: 401 }) : undefined
        )
    }))

  it.effect("ends in time although its new run goes on", () =>
    inShop(() =>
      Effect.gen(function*() {
        const { runs } = yield* retry({ ids: ["1"], from: "start" })
        assert.deepStrictEqual(runs?.map(({ newId, status }) => [newId, status]), [[undefined, "unknown"]])
        assert.match(runs?.[0]?.note ?? "", /^the webhook answered 200; its run is one of \d+$/)
      }), { runs: () => ({ ...failed(4, 1), status: "running" }) }))

  it.effect("may be repeated if the webhook certainly ran nothing, or the new run failed", () => {
    let answer: Response | undefined = Response.json({ message: "Authorization is required!" }, { status: 401 })
    return inShop(({ api }) =>
      Effect.gen(function*() {
        const refused = yield* retry({ ids: ["1"], from: "start" })
        assert.deepStrictEqual(refused.skipped, [{
          ids: ["1"],
          reason: "the webhook refused it (HTTP 401): authorization headers are not sent again"
        }])
        answer = undefined
        const first = yield* retry({ ids: ["1"], from: "start" })
        assert.deepStrictEqual(first.runs?.map(({ newId, status }) => [newId, status]), [["4", "error"]])
        // The new run is a retry of the first: its request is the same.
        const both = yield* retry({ ids: ["1", "4"], from: "start", dryRun: true })
        assert.deepStrictEqual(both.wouldRetry?.map(({ id }) => id), ["4"])
        assert.deepStrictEqual(both.skipped, [{
          ids: ["1"],
          reason: "another of these runs is a retry of it",
          as: ["4"]
        }])
        assert.lengthOf(yield* sent(api), 2)
      }), {
      before: ({ url }) => Effect.succeed(url.includes("/webhook/") ? answer : undefined),
      runs: () => failed(4, 1)
    })
  })

  it.effect("is refused for each run for its own reason, and the others go on", () => {
    const other = workflow("closed", { active: false })
    const many = [
      failed(1),
      { ...FakeN8n.succeededExecution({ workflow: shop, id: "2", startedAt }) as FakeN8n.Execution },
      { ...failed(3), status: "running" },
      { ...failed(4), status: "waiting" },
      { ...failed(5), data: null },
      failed(6, 6, other),
      failed(7, 7, workflow("gone")),
      { ...failed(8), mode: "manual" }
    ]
    return inShop(
      ({ api }) =>
        Effect.gen(function*() {
          const { runs, skipped } = yield* retry({ ids: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], from: "start" })
          assert.deepStrictEqual(runs?.map(({ id }) => id), ["1"])
          assert.deepStrictEqual(skipped, [
            { ids: ["2"], reason: "it succeeded" },
            { ids: ["3"], reason: "it is still running" },
            { ids: ["4"], reason: "it waits" },
            { ids: ["5"], reason: "n8n stored no data of it" },
            { ids: ["6"], reason: "its workflow is not published" },
            { ids: ["7"], reason: "its workflow was deleted" },
            { ids: ["8"], reason: "it was a test in the editor, not a request to the production address" },
            { ids: ["9"], reason: "n8n does not have it: deleted or pruned" }
          ])
          assert.lengthOf(yield* sent(api), 1)
        }),
      { seed: { workflows: [shop, other], executions: many } }
    )
  })

  it.effect("sends nothing that cannot be recorded first", () =>
    inShop(({ api }) =>
      Effect.gen(function*() {
        const log = yield* RetryLog
        const { instance } = yield* N8nClient
        yield* log.claim(keyOf(instance), { run: "2", number: 0 })
        const { runs, skipped } = yield* retry({ ids, from: "start" })
        assert.deepStrictEqual(runs?.map(({ id }) => id), ["1", "3"])
        assert.deepStrictEqual(skipped?.map(({ ids }) => ids), [["2"]])
        assert.deepStrictEqual(yield* orders(api), [1, 3])
      })
    ))
})

describe("a retry from the failed node", () => {
  it.effect("leaves a run alone that another server is retrying, in whichever way", () =>
    inShop(({ api }) =>
      Effect.gen(function*() {
        const { instance } = yield* N8nClient
        yield* RetryLog.use((log) => log.claim(keyOf(instance), { run: "2", number: 0 }))
        const { runs, skipped } = yield* retry({ ids })
        assert.deepStrictEqual(runs?.map(({ id }) => id), ["1", "3"])
        assert.deepStrictEqual(skipped?.map(({ ids }) => ids), [["2"]])
        const requests = (yield* api.requests).filter(({ url }) => url.endsWith("/retry"))
        assert.lengthOf(requests, 2)
        // What n8n has resumed is known, though its end was not recorded.
        yield* RetryLog.use((log) => log.claim(keyOf(instance), { run: "1", number: 1 }))
        yield* api.addExecution({ ...failed(9, 1), mode: "retry", retryOf: "1" })
        assert.deepStrictEqual((yield* retry({ ids: ["9"], dryRun: true })).wouldRetry, [{ id: "9", to: "node 'Pay'" }])
      })
    ))

  describe("is advised in a dry run", () => {
    const link = (to: string) => ({ main: [[{ node: to, type: "main", index: 0 }]] })
    const sub = {
      ...workflow("sub"),
      name: "Prices",
      nodes: [node("Called", "executeWorkflowTrigger"), node("Compute", "set", { value: 1 })],
      connections: { Called: link("Compute") },
      updatedAt: "2026-10-01T03:00:00.000Z"
    }
    const calling = workflow("shop", {
      nodes: [
        ...shop.nodes,
        node("Valid", "set", { value: 1 }),
        node("Enrich", "executeWorkflow", { workflowId: { value: "sub" } })
      ],
      connections: { Hook: link("Valid"), Valid: link("Enrich"), Enrich: link("Pay") }
    })
    const run = {
      ...FakeN8n.failedExecution({
        workflow: calling,
        id: "1",
        startedAt,
        node: "Pay",
        message: "card declined",
        items: { Hook: [requestOf(1)], Valid: [{ no: 1 }], Enrich: [{ no: 1 }] }
      }) as FakeN8n.Execution,
      mode: "webhook"
    }
    const changed = (of: N8nApi.Workflow, name: string, more: Obj) => ({
      ...of,
      nodes: (of["nodes"] as ReadonlyArray<Obj>).map((each) => each["name"] === name ? { ...each, ...more } : each)
    })
    const advice = (workflows: ReadonlyArray<N8nApi.Workflow>) =>
      inShop(() => Effect.map(retry({ ids: ["1"], dryRun: true }), ({ advice = [] }) => advice[0]), {
        seed: { workflows: [...workflows], executions: [run] }
      })
    const fixed = changed(calling, "Pay", { parameters: { url: "x" } })
    const other = changed(calling, "Valid", { parameters: { keepOnlySet: true } })
    const longer = {
      ...calling,
      nodes: [...calling.nodes, node("Extra", "set")],
      connections: { Hook: link("Valid"), Valid: link("Enrich"), Enrich: link("Extra"), Extra: link("Pay") }
    }
    const [failure, start] = [{ from: "failure" }, { from: "start" }]
    const cases: ReadonlyArray<readonly [string, ReadonlyArray<N8nApi.Workflow>, Obj, RegExp]> = [
      ["nothing", [calling, sub], failure, /Nothing that ran has changed/],
      ["a position", [changed(calling, "Valid", { position: [9, 9] }), sub], failure, /Nothing that ran/],
      ["the failed node", [fixed, sub], { from: "failure", latest: true }, /at 'Pay' or after it/],
      ["a node before it", [other, sub], start, /old items: 'Valid'; the start runs 'Enrich' again/],
      ["a node that is new before it", [longer, sub], start, /old items: 'Extra', 'Pay'/],
      ["the sub-workflow", [calling, { ...sub, updatedAt: "2026-11-09" }], start, /'Enrich' \(sub-workflow 'Prices'\)/],
      ["the workflow, which was deleted", [sub], failure, /cannot be read, so a fix before 'Pay'/]
    ]
    for (const [what, workflows, call, why] of cases) {
      it.effect(`where ${what} changed`, () =>
        Effect.gen(function*() {
          const row = yield* advice(workflows)
          assert.deepStrictEqual(row?.["call"], { ids: ["1"], ...call })
          assert.match(String(row?.["why"]), why)
          assert.deepStrictEqual(row?.["reuses"], ["Enrich"])
        }))
    }
  })

  it.effect.prop(
    "accounts for each run that was asked for: retried, skipped, or not reached",
    {
      fates: Schema.Array(
        Schema.Literals(["error", "success", "running", "waiting", "hidden", "gone", "repaired", "stuck"])
      ).check(Schema.isMinLength(1), Schema.isMaxLength(9)),
      from: Schema.Literals(["failure", "start"]),
      dryRun: Schema.Boolean
    },
    ({ dryRun, fates, from }) => {
      const asked = fates.map((_, index) => String(index + 1))
      const executions = fates.flatMap((fate, index): ReadonlyArray<FakeN8n.Execution> => {
        const run = failed(index + 1)
        if (fate === "gone") return []
        if (fate === "hidden") return [{ ...run, data: undefined }]
        if (fate === "repaired") return [{ ...run, retrySuccessId: "99" }]
        return fate === "error" || fate === "stuck" ? [run] : [{ ...run, status: fate, finished: fate === "success" }]
      })
      return inShop(
        () =>
          Effect.gen(function*() {
            const { next, runs = [], skipped = [], wouldRetry = [] } = yield* retry({ ids: asked, from, dryRun })
            const rest = (next?.["ids"] ?? []) as ReadonlyArray<string>
            const all = [...runs, ...wouldRetry].map(({ id }) => id)
            assert.deepStrictEqual([...all, ...skipped.flatMap(({ ids }) => ids), ...rest].toSorted(), asked.toSorted())
            for (const { reason } of skipped) assert.isNotEmpty(reason)
          }),
        {
          before: ({ method, url }) => {
            const [, id = ""] = /executions\/(\d+)\/retry$/.exec(url) ?? []
            return method === "POST" && fates[Number(id) - 1] === "stuck" ? Effect.never : Effect.void
          }
        },
        executions
      )
    },
    { arbitrary: { runs: rounds(12) } }
  )

  it.effect("ends in time, and lists the runs that were not reached", () =>
    inShop(() =>
      Effect.gen(function*() {
        const { next, runs } = yield* retry({ ids: Array.from({ length: 8 }, (_, index) => String(index + 1)) })
        assert.deepStrictEqual(runs?.map(({ id }) => id), ["1", "2", "3", "4"])
        assert.deepStrictEqual(next, { ids: ["5", "6", "7", "8"], from: "failure" })
      }), {
      before: ({ method, url }) => method === "POST" && url.endsWith("/retry") ? Effect.never : Effect.void
    }, Array.from({ length: 8 }, (_, index) => failed(index + 1))))

  it.effect("needs an id, ids or filters, and only one of them", () =>
    inShop(() =>
      Effect.gen(function*() {
        for (const input of [{}, { id: "1", ids }, { id: "1", last: 2 }, { dryRun: true }]) {
          assert.match((yield* Effect.flip(retry(input))).message, /^Execution ID is required/)
        }
        assert.match((yield* Effect.flip(retry({ ids: Array.from({ length: 51 }, () => "1") }))).message, /at most 50/)
      })
    ))
})
