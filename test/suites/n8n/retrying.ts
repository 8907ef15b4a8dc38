/** Retries from the start against a real n8n: a counting server receives each order again exactly once. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Services from "../../../src/app/Services.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import { keyOf, RetryLog } from "../../../src/executions/RetryLog.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Policy from "../../../src/workflows/policy/Policy.ts"
import { node } from "../../support/workflows.ts"
import { chain, connected, copiesLeft, jsons, made, set } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const retry = (input: Partial<Parameters<typeof tools.retryExecution.call>[0]>) =>
  tools.retryExecution.call({ latest: false, dryRun: false, from: "start", ...input })

/** Nodes that send the trigger's item on, and then a result. */
const sending = (url: string, json = "$json") =>
  [
    node("Send", "httpRequest", 4.2, {
      method: "POST",
      url: `${url}/orders`,
      sendBody: true,
      specifyBody: "json",
      jsonBody: `={{ JSON.stringify(${json}) }}`,
      options: {}
    }),
    set("Booked", "{ state: 'booked' }")
  ] as const

const published = Effect.fnUntraced(function*(name: string, trigger: Obj & { readonly name: string }, url: string) {
  const id = yield* made(name, [trigger, ...sending(url)], chain(trigger.name, "Send", "Booked"))
  yield* scenarios.publish(id)
  return id
})

const orders = (path: string) =>
  node("Orders", "webhook", 2, { path: `${path}/:shop`, httpMethod: "POST" }, { webhookId: path })

const headers = { "x-shop-key": "k-1", authorization: "Bearer secret", cookie: "session=1" }

const calls = (path: string, body: unknown) =>
  scenarios.callWebhook(`${path}/${path}/tokyo%20east?q=a%20b&tag[]=1`, { body, headers })

/** Sends an order, and returns the execution that it starts. */
const order = Effect.fnUntraced(function*(workflowId: string, path: string, body: unknown) {
  const after = yield* scenarios.newestExecution()
  yield* calls(path, body)
  return yield* scenarios.awaitExecution(workflowId, after)
})

/** Three orders that failed because the receiver was down; it is up again. */
const failedOrders = Effect.fnUntraced(function*(name: string) {
  const recorder = yield* Recorder.make
  const path = `retry-${crypto.randomUUID()}`
  const id = yield* published(name, orders(path), recorder.url)
  recorder.answer = () => Promise.resolve(500)
  const runs = yield* Effect.forEach([1, 2, 3], (no) => order(id, path, { no, lines: [{ sku: "é", n: null }] }))
  assert.deepStrictEqual(runs.map(({ status }) => status), ["error", "error", "error"])
  recorder.answer = () => Promise.resolve(undefined)
  return { recorder, path, id, ids: runs.map(({ executionId }) => executionId), sent: recorder.bodies().length }
})

const received = ({ recorder, sent }: { readonly recorder: Recorder.Recorder; readonly sent: number }) =>
  recorder.bodies().slice(sent).map((body) => obj(body) ?? {})

/** Adds the tests of retries to a suite; the releases differ only in which version ran, which n8n 1 does not record. */
export const retrying = (it: It, v2: boolean) => {
  it.effect(
    "retry of a run and of the sub-workflow's run that it started: the order arrives once",
    () =>
      Effect.gen(function*() {
        const recorder = yield* Recorder.make
        const path = `retry-${crypto.randomUUID()}`
        const child = yield* made("sends orders", [
          node("Called", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }),
          ...sending(recorder.url)
        ], chain("Called", "Send", "Booked"))
        if (v2) yield* scenarios.publish(child)
        const parent = yield* made("calls what sends", [
          orders(path),
          node("Call", "executeWorkflow", 1.2, {
            workflowId: { __rl: true, mode: "id", value: child },
            mode: "once",
            options: {}
          })
        ], chain("Orders", "Call"))
        yield* scenarios.publish(parent)
        recorder.answer = () => Promise.resolve(500)
        const { executionId: caller } = yield* order(parent, path, { no: 1 })
        const listed = obj(yield* scenarios.fetchJson(`executions?workflowId=${child}&status=error`))
        const called = str(obj(arr(listed?.["data"])[0])?.["id"]) ?? ""
        recorder.answer = () => Promise.resolve(undefined)
        const before = recorder.bodies().length
        const both = yield* retry({ ids: [caller, called] })
        assert.deepStrictEqual(both.runs?.map(({ id, status }) => [id, status]), [[caller, "success"]])
        assert.deepStrictEqual(both.skipped?.map(({ as, ids }) => [ids, as]), [[[called], [caller]]])
        const later = yield* retry({ ids: [called], from: "failure" })
        assert.deepStrictEqual(later.skipped?.map(({ as }) => as), [[caller]])
        assert.lengthOf(recorder.bodies().slice(before), 1)
      }),
    120_000
  )

  it.effect("retry from the start: each order arrives exactly once, as it was recorded", () =>
    Effect.gen(function*() {
      const failed = yield* failedOrders("retried orders")
      const { id, ids } = failed
      yield* retry({ ids, dryRun: true })
      const context = { progress: () => Effect.void, confirm: () => Effect.succeed("no" as const) }
      yield* Effect.flip(Effect.provideService(retry({ ids }), CallContext, context))
      assert.deepStrictEqual(received(failed), [])

      // Two calls at the same time, one of them with a set of runs.
      const answers = yield* Effect.all([retry({ ids }), retry({ workflowId: id, last: 3 })], { concurrency: 2 })
      const runs = answers.flatMap(({ runs = [] }) => runs)
      const { activeVersionId } = obj(yield* scenarios.fetchJson(`workflows/${id}`)) ?? {}
      assert.include(answers.map(({ version }) => version), v2 ? activeVersionId : undefined)
      assert.deepStrictEqual(
        runs.map(({ id, items, lastNode, status }) => [id, status, lastNode, items]).toSorted(),
        ids.map((id) => [id, "success", "Booked", { count: 1, first: { state: "booked" } }]).toSorted()
      )
      const bodies = received(failed)
      assert.deepStrictEqual(
        bodies.map(({ body, params, query }) => ({ body, params, query })).toSorted((a, b) =>
          Number(obj(a.body)?.["no"]) - Number(obj(b.body)?.["no"])
        ),
        [1, 2, 3].map((no) => ({
          body: { no, lines: [{ sku: "é", n: null }] },
          params: { shop: "tokyo east" },
          query: { q: "a b", tag: ["1"] }
        }))
      )
      for (const { headers } of bodies) {
        assert.strictEqual(obj(headers)?.["x-shop-key"], "k-1")
        assert.doesNotHaveAnyKeys(headers, ["authorization", "cookie", "x-effect-n8n-mcp-test"])
      }
      // Each new run has the order of the run that it names.
      for (const { id, newId } of runs) {
        const nodeName = "Orders"
        const { output } = yield* tools.getExecutionByNode.call({
          id: newId ?? "",
          nodeName,
          itemOffset: 0,
          itemLimit: 1
        })
        assert.strictEqual(obj(obj(jsons(output)[0])?.["body"])?.["no"], ids.indexOf(id) + 1)
      }

      assert.deepStrictEqual((yield* retry({ ids })).runs, [])
      yield* Effect.flip(retry({ id: ids[0] ?? "", from: "failure" }))
      assert.lengthOf(received(failed), 3)
    }), 120_000)

  it.effect(
    "retry after a crash in between: the request may have been sent, and is not sent again",
    () =>
      Effect.gen(function*() {
        const failed = yield* failedOrders("crashed retry")
        const { ids: [first = "", second = ""] } = failed
        const { instance } = yield* N8nClient
        yield* RetryLog.use((log) => log.claim(keyOf(instance), { run: first, number: 0 }))
        const { runs, skipped } = yield* retry({ ids: [first, second] })
        assert.deepStrictEqual([runs?.map(({ id }) => id), skipped?.map(({ ids }) => ids)], [[second], [[first]]])
        assert.lengthOf(received(failed), 1)
      }),
    120_000
  )

  it.effect(
    "retry while an equal order arrives: its run is not guessed, and nothing is sent a second time",
    () =>
      Effect.gen(function*() {
        const failed = yield* failedOrders("equal orders")
        const { id, ids: [first = ""], path, recorder } = failed
        // Both runs end together.
        const both = Promise.withResolvers<undefined>()
        recorder.answer = () => {
          if (received(failed).length === 2) both.resolve(undefined)
          return both.promise
        }
        const arriving = Effect.sync(() => received(failed).length).pipe(
          Effect.repeat({ schedule: Schedule.spaced("50 millis"), times: 600, until: (count) => count > 0 }),
          Effect.andThen(calls(path, { no: 1, lines: [{ sku: "é", n: null }] }))
        )
        const [{ runs }] = yield* Effect.all([retry({ ids: [first] }), arriving], { concurrency: 2 })
        assert.deepStrictEqual(runs?.map(({ newId, status }) => [newId, status]), [[undefined, "unknown"]])
        const { wouldRetry = [] } = yield* retry({ workflowId: id, dryRun: true })
        assert.notInclude(wouldRetry.map(({ id }) => id), first)
        assert.lengthOf(received(failed), 2)
      }),
    120_000
  )

  it.effect(
    "retry from the failure: a request without an answer is named before it is sent a second time",
    () =>
      Effect.gen(function*() {
        const recorder = yield* Recorder.make
        const path = `retry-${crypto.randomUUID()}`
        const [send, booked] = sending(recorder.url)
        const hasty = { ...send, parameters: { ...send.parameters, options: { timeout: 300 } } }
        const id = yield* made("no answer", [orders(path), hasty, booked], chain("Orders", "Send", "Booked"))
        yield* scenarios.publish(id)
        recorder.answer = () => new Promise(() => undefined)
        const { executionId, status } = yield* order(id, path, { no: 1 })
        assert.strictEqual(status, "error")
        recorder.answer = () => Promise.resolve(undefined)
        const ids = [executionId]
        const dry = yield* retry({ ids, from: "failure", dryRun: true })
        assert.deepStrictEqual(dry.wouldRetry?.map(({ repeats, to }) => [to, repeats]), [["node 'Send'", ["Send"]]])
        assert.lengthOf(recorder.bodies(), 1)
        const { runs: [run] = [] } = yield* retry({ ids, from: "failure" })
        assert.deepInclude(run, { status: "success", lastNode: "Booked" })
        const { availableNodes } = yield* tools.getExecution.call({ id: run?.newId ?? "" })
        assert.deepStrictEqual(availableNodes.map(({ nodeName, reused }) => [nodeName, reused]), [
          ["Booked", undefined],
          ["Send", undefined],
          ["Orders", true]
        ])
        const { groups = [] } = yield* tools.listExecutions.call({ workflowId: id, groupBy: "failure" })
        assert.deepInclude(groups[0], { count: 1, retried: 1 })
        assert.lengthOf(recorder.bodies(), 2)
      }),
    60_000
  )

  it.effect("retry of runs of a schedule, a form and a chat: each gets what it got then", () =>
    Effect.gen(function*() {
      const recorder = yield* Recorder.make
      const { url } = yield* RealN8n
      recorder.answer = () => Promise.resolve(500)
      const path = `retry-${crypto.randomUUID()}`
      const every = (interval: Obj) => node("Every", "scheduleTrigger", 1.2, { rule: { interval: [interval] } })
      const before = yield* scenarios.newestExecution()
      const nightly = yield* published("nightly", every({ field: "seconds", secondsInterval: 2 }), recorder.url)
      const scheduled = yield* scenarios.awaitExecution(nightly, before)
      yield* scenarios.unpublish(nightly)
      yield* scenarios.edit(nightly, {
        nodes: [every({ field: "months", monthsInterval: 11 }), ...sending(recorder.url)],
        versionId: obj(yield* scenarios.fetchJson(`workflows/${nightly}`))?.["versionId"]
      })
      assert.deepStrictEqual((yield* retry({ ids: [scheduled.executionId] })).runs, [])
      yield* scenarios.publish(nightly)

      const options = ["a", "b"].map((option) => ({ option }))
      const values = [
        { fieldLabel: "Name", fieldType: "text" },
        { fieldLabel: "Count", fieldType: "number" },
        { fieldLabel: "Kinds", fieldType: "dropdown", multiselect: true, fieldOptions: { values: options } }
      ]
      const submitted = new FormData()
      for (const [index, value] of ["Ann", "7", "[\"a\",\"b\"]"].entries()) submitted.append(`field-${index}`, value)
      const form = node(
        "Form",
        "formTrigger",
        2.2,
        { formTitle: "Order", formFields: { values }, options: { path: `${path}-form` } },
        { webhookId: path }
      )
      const chat = node(
        "Chat",
        "@n8n/n8n-nodes-langchain.chatTrigger",
        1.1,
        { public: true, mode: "webhook", options: {} },
        { webhookId: `${path}-chat` }
      )
      const hello = JSON.stringify({ action: "sendMessage", sessionId: "s", chatInput: "hi" })
      const json = { "content-type": "application/json" }
      const started = Effect.fnUntraced(function*(trigger: typeof form, at: string, init: RequestInit) {
        const id = yield* published(trigger.name, trigger, recorder.url)
        const newest = yield* scenarios.newestExecution()
        yield* Effect.promise(() => fetch(new URL(at, url), { method: "POST", ...init })).pipe(
          Effect.repeat({ schedule: Schedule.spaced("150 millis"), times: 100, while: ({ status }) => status === 404 })
        )
        return yield* scenarios.awaitExecution(id, newest)
      })
      const runsThen = [
        scheduled,
        yield* started(form, `form/${path}-form?ref=9`, { body: submitted }),
        yield* started(chat, `webhook/${path}-chat/chat`, { body: hello, headers: json })
      ]
      recorder.answer = () => Promise.resolve(undefined)
      const sent = recorder.bodies().length

      const { runs } = yield* retry({ ids: runsThen.map(({ executionId }) => executionId) })
      assert.deepStrictEqual(runs?.map(({ status }) => status), ["success", "success", "success"])
      const bodies = received({ recorder, sent })
      assert.lengthOf(bodies, 3)
      const [time] = bodies.flatMap((body) => str(body["timestamp"]) ?? [])
      const withTime = recorder.bodies().filter((body) => JSON.stringify(body).includes(String(time)))
      assert.isAtLeast(withTime.length, 2, "the recorded time of the schedule")
      assert.deepStrictEqual(
        bodies.filter(({ Name }) => Name === "Ann").map((
          body
        ) => [body["Count"], body["Kinds"], body["formQueryParameters"]]),
        [[7, ["a", "b"], { ref: "9" }]]
      )
      assert.lengthOf(bodies.filter(({ chatInput }) => chatInput === "hi"), 1)
      assert.deepStrictEqual(yield* copiesLeft, [])
      const listed = arr(obj(yield* scenarios.fetchJson(`executions?workflowId=${nightly}`))?.["data"])
      const copy = runs?.find(({ id }) => id === scheduled.executionId)?.newId ?? ""
      assert.notInclude(listed.map((each) => str(obj(each)?.["id"])), copy)
      assert.strictEqual((yield* tools.getExecution.call({ id: copy, nodeOffset: 0 })).status, "success")
      yield* scenarios.unpublish(nightly)
    }), 180_000)

  it.effect(
    "retry under a policy: nothing runs where the workflow that n8n would run has a banned node",
    () =>
      Effect.gen(function*() {
        const failed = yield* failedOrders("banned orders")
        const { id, ids: [first = "", second = "", third = ""] } = failed
        const banning = Effect.provide(Policy.layer({ bannedNodes: ["httpRequest"] }))
        const newest = yield* scenarios.newestExecution()
        for (const input of [{ from: "failure" }, { from: "failure", latest: true }, { from: "start" }] as const) {
          assert.include((yield* Effect.flip(banning(retry({ id: first, ...input })))).message, "bannedNodes")
          assert.deepStrictEqual((yield* banning(retry({ ids: [first, second], ...input }))).runs, [])
        }
        const { retryExecution } = yield* N8nClient
        assert.include((yield* Effect.flip(banning(retryExecution(first, false)))).message, "bannedNodes")
        assert.deepStrictEqual(received(failed), [])
        assert.strictEqual(yield* scenarios.newestExecution(), newest)

        // n8n runs the execution's own workflow, or with `latest` the stored one.
        yield* tools.updateWorkflow.call({
          id,
          nodes: [orders(failed.path), node("Send", "noOp", 1)],
          connections: connected(chain("Orders", "Send"))
        })
        assert.deepInclude(yield* banning(retry({ id: second, from: "failure", latest: true })), { status: "success" })
        yield* Effect.flip(banning(retry({ id: third, from: "failure" })))
        assert.deepStrictEqual(received(failed), [])
        assert.deepInclude(yield* retry({ id: third, from: "failure" }), { status: "success" })
        assert.lengthOf(received(failed), 1)
      }),
    120_000
  )

  it.effect(
    "retry from the start where nothing can be sent: of a deleted run, another method, an unpublished one",
    () =>
      Effect.gen(function*() {
        const failed = yield* failedOrders("refused orders")
        const { id, ids, path, recorder } = failed
        const refused = (input: Parameters<typeof retry>[0]) =>
          Effect.map(retry(input), ({ runs, skipped = [] }) => {
            assert.deepStrictEqual(runs, [])
            return skipped.flatMap(({ ids }) => ids).toSorted()
          })
        assert.deepStrictEqual(yield* refused({ ids: ["99999999"] }), ["99999999"])
        const hook = orders(path)
        const nodes = [{ ...hook, parameters: { ...hook.parameters, httpMethod: "PUT" } }, ...sending(recorder.url)]
        const connections = connected(chain("Orders", "Send", "Booked"))
        yield* scenarios.request("PUT", `workflows/${id}`, { name: "refused orders", nodes, connections, settings: {} })
        assert.deepStrictEqual(yield* refused({ ids }), ids.toSorted())
        yield* scenarios.unpublish(id)
        assert.deepStrictEqual(yield* refused({ ids }), ids.toSorted())
        assert.deepStrictEqual(received(failed), [])
      }),
    120_000
  )

  it.effect(
    "retry's dry run advises the start by which a fix takes effect, and n8n agrees",
    () =>
      Effect.gen(function*() {
        const recorder = yield* Recorder.make
        const path = `retry-${crypto.randomUUID()}`
        const priced = (price: number) => [
          node("Called", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }),
          set("Compute", `{ no: $json.body.no, price: ${price} }`)
        ]
        const price = yield* made("price", priced(-5), chain("Called", "Compute"))
        if (v2) yield* scenarios.publish(price)
        const workflowId = { __rl: true, mode: "id", value: price, cachedResultName: "price" }
        const nodes = (json = "$json", body = "$json.body") => {
          const [send, booked] = sending(recorder.url, json)
          return [
            orders(path),
            set("Valid", `{ body: ${body} }`),
            node("Price", "executeWorkflow", 1.2, { workflowId, mode: "once", options: {} }),
            send,
            booked
          ]
        }
        const links = chain("Orders", "Valid", "Price", "Send", "Booked")
        const id = yield* made("priced orders", nodes(), links)
        const fix = (...args: Parameters<typeof nodes>) =>
          tools.updateWorkflow.call({ id, nodes: nodes(...args), connections: connected(links) })
        yield* scenarios.publish(id)
        recorder.answer = (sent) => Promise.resolve(Number(obj(sent)?.["price"]) < 0 ? 400 : undefined)
        const runs = yield* Effect.forEach([1, 2], (no) => order(id, path, { no }))
        const ids = runs.map(({ executionId }) => executionId)
        assert.deepStrictEqual(runs.map(({ status }) => status), ["error", "error"])
        const before = recorder.bodies().length
        const advised = (ids: ReadonlyArray<string>) =>
          Effect.map(
            retry({ ids, from: "failure", dryRun: true }),
            ({ advice = [] }) =>
              advice.map(({ call }) => ({ from: obj(call)?.["from"], latest: obj(call)?.["latest"] }))
          )

        assert.deepStrictEqual(yield* advised(ids), [{ from: "failure", latest: undefined }])
        // A fix of the failed node needs the current workflow, from that node on.
        yield* fix("{ ...$json, fixed: true }")
        assert.deepStrictEqual(yield* advised(ids), [{ from: "failure", latest: true }])
        // A fix of the sub-workflow is newer than the items that n8n would reuse.
        yield* tools.updateWorkflow.call({ id: price, nodes: priced(700) })
        assert.deepStrictEqual(yield* advised(ids), [{ from: "start", latest: undefined }])
        assert.lengthOf(recorder.bodies(), before)

        // n8n agrees: from the failure the old price is sent, from the start the new one.
        const resumed = yield* retry({ ids: ids.slice(0, 1), from: "failure", latest: true })
        assert.deepStrictEqual(received({ recorder, sent: before }), [{ no: 1, price: -5, fixed: true }])
        const { runs: done, sent } = yield* retry({ ids: [resumed.runs?.[0]?.newId ?? "", ids[1] ?? ""] })
        assert.deepStrictEqual(done?.map(({ status }) => status), ["success", "success"])
        assert.sameDeepMembers(
          received({ recorder, sent: before + 1 }),
          [1, 2].map((no) => ({ no, price: 700, fixed: true }))
        )
        const told = ["Send", `POST ${recorder.url}/orders`, 1]
        assert.deepStrictEqual<unknown>(sent?.map(({ items, node, to }) => [node, to, items]), [told, told])

        // A fix of a node before the failure, in the workflow itself.
        yield* tools.updateWorkflow.call({ id: price, nodes: priced(-7) })
        const { executionId: third } = yield* order(id, path, { no: 3 })
        yield* fix("{ ...$json, fixed: true }", "{ no: 9 }")
        assert.deepStrictEqual(yield* advised([third]), [{ from: "start", latest: undefined }])
      }),
    120_000
  )
}
