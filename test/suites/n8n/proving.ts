/** Proofs of changes, and cases, against a real n8n, with a server that counts what reaches it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as provable from "../../support/scenarios/provable.ts"
import { joined, node } from "../../support/workflows.ts"
import { chain, code, copiesLeft, happened, made, set, test } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const settings = { executionOrder: "v1" }

type Recorded = Omit<provable.Subject, "changes">

/** An HTTP Request that posts its items. */
export const posting = (name: string, url: string) =>
  node(name, "httpRequest", 4.2, {
    method: "POST",
    url,
    sendBody: true,
    specifyBody: "json",
    jsonBody: "={{ JSON.stringify($json) }}",
    options: {}
  })

/** Publishes a workflow and records runs of it. */
export const recorded = Effect.fnUntraced(function*(subject: Recorded, sink: string, runs: number) {
  const path = `proving-${crypto.randomUUID()}`
  const draft = subject.draft({ path, sink })
  const id = yield* scenarios.create(Object.assign({ name: `Proof of ${subject.name}` }, { ...draft, settings }))
  yield* scenarios.publish(id)
  for (let n = 0; n < runs; n++) yield* happened(id, path, subject.body(n))
  return { id, draft, path }
})

/** Proves a workflow by its recorded runs alone. */
export const prove = (workflowId: string, more: Partial<Parameters<typeof tools.workflowProve.call>[0]> = {}) =>
  Effect.map(
    tools.workflowProve.call({ workflowId, drill: false, callers: false, ...more }),
    ({ groups = [], ...answer }) => ({ ...answer, groups })
  )

/** Runs an effect with a folder for files; `proved` proves a changed workflow as a file. */
export const withFiles = <A, E, R>(
  use: (
    proved: (id: string, draft: provable.Draft, more?: Parameters<typeof prove>[1]) => ReturnType<typeof prove>,
    folder: string
  ) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    const services = Layer.fresh(Services.layer({ filesRoots: [folder], stateFolder: `${folder}/.state` }))
    const proved = (id: string, draft: provable.Draft, more: Parameters<typeof prove>[1] = {}) =>
      Effect.andThen(
        Effect.orDie(
          fs.writeFileString(`${folder}/changed.json`, JSON.stringify({ id, name: "Changed", settings, ...draft }))
        ),
        prove("changed.json", more)
      )
    return yield* Effect.provide(use(proved, folder), services)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** Counts the workflows that an effect creates. */
const counted = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const n8n = yield* N8nClient
  let created = 0
  const result = yield* Effect.provideService(effect, N8nClient, {
    ...n8n,
    createWorkflow: (body) => Effect.tap(n8n.createWorkflow(body), () => Effect.sync(() => created++))
  })
  return { result, created }
})

const unique = () => `proving-${crypto.randomUUID()}`

const hook = (path: string, more: Obj = {}, typeVersion = 2) =>
  node("Hook", "webhook", typeVersion, { path, httpMethod: "POST", ...more }, { webhookId: path.split("/")[0] })

/** Nodes in a row. */
const row = (...nodes: provable.Draft["nodes"]): provable.Draft => ({
  nodes,
  connections: joined(...chain(...nodes.map(({ name }) => name)).map(([from, to]) => [from, to] as const))
})

/** The draft with another version of its trigger. */
const upgraded = ({ connections, nodes: [first, ...rest] }: provable.Draft, typeVersion = 2.1): provable.Draft => ({
  connections,
  nodes: first === undefined ? [] : [{ ...first, typeVersion }, ...rest]
})

type Request = readonly [path: string, request: RequestInit]

/** Publishes a workflow and records a run of each request. */
const requested = Effect.fnUntraced(function*(draft: provable.Draft, ...requests: ReadonlyArray<Request>) {
  const { url } = yield* RealN8n
  const id = yield* scenarios.create(Object.assign({ name: "Proof of a trigger" }, { ...draft, settings }))
  yield* scenarios.publish(id)
  for (const [path, request] of requests) {
    const before = yield* scenarios.newestExecution()
    yield* Effect.promise(() => fetch(new URL(path, url), request)).pipe(
      Effect.repeat({ schedule: Schedule.spaced("150 millis"), times: 100, while: ({ status }) => status === 404 }),
      scenarios.live
    )
    yield* scenarios.awaitExecution(id, before)
  }
  return { id, draft }
})

const json = (body: unknown) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body)
})

/** Runs a test with a server, and looks afterwards whether it sent anything or left a copy. */
const sendingNothing = <A, E, R, B, F, S>(
  before: (sink: Recorder.Recorder) => Effect.Effect<A, E, R>,
  test: (made: A, sink: Recorder.Recorder) => Effect.Effect<B, F, S>
) =>
  Effect.gen(function*() {
    const sink = yield* Recorder.make
    const made = yield* before(sink)
    const sent = sink.lines().length
    yield* test(made, sink)
    assert.lengthOf(sink.lines(), sent)
    assert.deepStrictEqual(yield* copiesLeft, [])
  })

/** Adds the tests of proofs to a suite. */
export const proving = (it: It, { drafts }: { readonly drafts: boolean }) => {
  for (const subject of [provable.orders, provable.batches, provable.routes]) {
    it.effect(
      `proof of ${subject.name}: unchanged it is the same, each change is located, and nothing is sent`,
      () =>
        sendingNothing((sink) => recorded(subject, sink.url, 6), ({ draft, id }, sink) =>
          Effect.gen(function*() {
            assert.isNotEmpty(sink.lines())
            const same = yield* prove(id)
            assert.deepInclude(same, { runs: 6, same: 6, groups: [] }, JSON.stringify(same))
            yield* withFiles((proved) =>
              Effect.gen(function*() {
                for (const change of subject.changes) {
                  const { groups, runs, verdict } = yield* proved(id, provable.changed(draft, change))
                  assert.strictEqual(runs, 6)
                  assert.strictEqual(groups[0]?.node, change.at, `${change.name}: ${verdict} ${JSON.stringify(groups)}`)
                }
                const [, , last] = draft.nodes.toReversed()
                const renamed = yield* proved(id, provable.renamed(draft, last?.name ?? "", "名前"))
                assert.deepInclude(renamed, { same: 6, groups: [] }, JSON.stringify(renamed))
              })
            )
            assert.strictEqual(obj(yield* scenarios.fetchJson(`workflows/${id}`))?.["active"], true)
          })),
      600_000
    )
  }

  if (drafts) {
    it.effect(
      "proof of a waiting draft: the draft differs, the published version does not",
      () =>
        sendingNothing((sink) => recorded(provable.orders, sink.url, 4), ({ draft, id }) =>
          Effect.gen(function*() {
            const [change] = provable.orders.changes
            assert.isDefined(change)
            const body = { name: "Proof of a draft", settings, ...provable.changed(draft, change) }
            yield* N8nClient.use((n8n) => n8n.putWorkflow(id, body, { publishes: false }))
            assert.strictEqual((yield* prove(id)).groups[0]?.node, change.at)
            assert.deepInclude(yield* prove(`${id}@published`), { runs: 4, same: 4 })
            const ignore = ["email", "mail", "sent.jsonBody.email"]
            assert.deepInclude(yield* prove(id, { ignore }), { runs: 4, same: 4 })
          })),
      120_000
    )
  }

  it.effect(
    "proof of a trigger's new version: both receive the requests on copies, and return the same",
    () =>
      sendingNothing((sink) =>
        Effect.gen(function*() {
          const send = posting("Send", sink.url)
          const respond = node("Respond", "respondToWebhook", 1.1, { respondWith: "text", responseBody: "done" })
          const paths = Array.from({ length: 7 }, unique)
          const [plain = "", templated = "", methods = "", responding = "", form = "", chat = "", secret = ""] = paths
          const several = { multipleMethods: true, httpMethod: ["GET", "POST"] }
          const posted = new URLSearchParams({ a: "1", b: "é" })
          const submitted = new FormData()
          submitted.append("field-0", "Ann")
          const formFields = { values: [{ fieldLabel: "Name", fieldType: "text" }] }
          const forms = { path: form, formTitle: "Order", formFields, options: {} }
          const chats = { public: true, mode: "webhook", options: {} }
          const { body: credential } = yield* scenarios.request("POST", "credentials", {
            name: "Caller",
            type: "httpBasicAuth",
            data: { user: "u", password: "p" }
          })
          const basic = {
            ...hook(secret, { authentication: "basicAuth" }, 1),
            credentials: { httpBasicAuth: { id: String(obj(credential)?.["id"]), name: "Caller" } }
          }
          const chatting = { action: "sendMessage", sessionId: "s", chatInput: "hi" }
          const tested = yield* Effect.all([
            requested(
              row(hook(plain, {}, 1), send),
              [`webhook/${plain}?q=a%20b&tag[]=1`, { method: "POST", headers: { "x-order": "7" }, body: posted }],
              [`webhook/${plain}`, json({ no: 1, lines: [{ sku: "é", n: null }] })]
            ),
            requested(
              row(hook(`${templated}/:shop`, { responseMode: "lastNode" }, 1), send),
              [`webhook/${templated}/${templated}/tokyo%20east`, json({ no: 2 })]
            ),
            requested(row(hook(methods, several, 1), send), [`webhook/${methods}?no=3`, json({ no: 3 })]),
            requested(
              row(hook(responding, { responseMode: "responseNode" }, 1), respond, send),
              [`webhook/${responding}`, json({ no: 4 })]
            ),
            requested(
              row(node("Form", "formTrigger", 2, forms, { webhookId: form }), send),
              [`form/${form}`, { method: "POST", body: submitted }]
            ),
            requested(
              row(node("Chat", "@n8n/n8n-nodes-langchain.chatTrigger", 1, chats, { webhookId: chat }), send),
              [`webhook/${chat}/chat`, json(chatting)]
            )
          ])
          const authorization = `Basic ${btoa("u:p")}`
          const refused = yield* requested(
            row(basic, send),
            [`webhook/${secret}`, { method: "POST", headers: { authorization } }]
          )
          return { tested, refused }
        }), ({ refused, tested }) =>
        withFiles((proved) =>
          Effect.gen(function*() {
            for (const [index, { draft, id }] of tested.entries()) {
              const changed = upgraded(draft, draft.nodes[0]?.name === "Chat" ? 1.1 : 2.1)
              const answer = yield* proved(id, changed)
              const requests = index === 0 ? "2 requests" : "1 request"
              assert.include(
                answer.verdict,
                `same; trigger tested on a copy: ${requests}, same items`,
                JSON.stringify(answer)
              )
            }
            // What needs the caller's secret is not tested, and says so.
            const { notReplayed, verdict } = yield* proved(refused.id, upgraded(refused.draft))
            assert.strictEqual(verdict, "1 same; 1 change in no replay (notReplayed)")
            assert.match(JSON.stringify(notReplayed), /refused it \(HTTP 401\): authorization headers/)
          })
        )),
    240_000
  )

  it.effect(
    "proof of a trigger's new version: a body, a status and a refusal are differences, as on n8n then",
    () =>
      sendingNothing((sink) =>
        Effect.gen(function*() {
          const [coded, unused, got] = [unique(), unique(), unique()]
          const respond = node("Respond", "respondToWebhook", 1.1, { respondWith: "text", responseBody: "done" })
          const send = posting("Send", sink.url)
          const status = row(hook(coded, { responseCode: 201 }, 1), send)
          const refusal = row(hook(unused, {}, 1), respond, send)
          const body = row(hook(got, { httpMethod: "GET" }, 1), send)
          return [
            { ...yield* requested(body, [`webhook/${got}?no=3`, { method: "GET" }]), names: "body added" },
            {
              ...yield* requested(status, [`webhook/${coded}`, json({})]),
              names: "answer.status"
            },
            { ...yield* requested(refusal, [`webhook/${unused}`, json({})]), names: "failed" }
          ] as const
        }), (cases) =>
        withFiles((proved) =>
          Effect.forEach(cases, ({ draft, id, names }) =>
            Effect.map(proved(id, upgraded(draft)), ({ groups, same }) => {
              assert.deepStrictEqual([same, groups[0]?.node], [0, "Hook"])
              assert.include(groups[0]?.paths, names)
            }))
        )).pipe(Effect.andThen(Effect.gen(function*() {
          // n8n answers so.
          const { url } = yield* RealN8n
          const path = unique()
          const draft = row(hook(path, { responseCode: 201 }, 1), set("Out", "{}"))
          const { id } = yield* requested(draft, [`webhook/${path}`, json({})])
          const status = Effect.promise(async () =>
            (await fetch(new URL(`webhook/${path}`, url), json({}))).status
          )
          assert.strictEqual(yield* status, 201)
          yield* tools.updateWorkflow.call({ id, ...upgraded(draft) })
          const now = yield* Effect.repeat(status, {
            schedule: Schedule.spaced("150 millis"),
            times: 100,
            until: (status) => status === 200
          }).pipe(scenarios.live)
          assert.strictEqual(now, 200)
        }))),
    240_000
  )

  it.effect(
    "proof of an extraction: a sub-workflow that only computes runs, one that sends does not, and nothing is claimed",
    () =>
      sendingNothing((sink) => {
        const chained: Recorded = {
          name: "a chain to extract",
          body: (n) => ({ n: n + 1 }),
          draft: ({ path }) =>
            row(
              hook(path),
              set("Tax", "{ gross: $json.body.n * 1.5 }"),
              code("Format", "return items.map(({ json }) => ({ json: { ...json, text: 'No. ' + json.gross } }))"),
              posting("Book", sink.url),
              set("End", "{ booked: true }")
            )
        }
        return recorded(chained, sink.url, 3)
      }, ({ draft, id }, sink) =>
        Effect.gen(function*() {
          assert.lengthOf(sink.lines(), 3)
          const extract = (nodes: ReadonlyArray<string>, name: string) =>
            tools.workflowEdit.call({ workflowId: id, operations: [{ op: "extract", nodes, name }] })
          yield* extract(["Tax", "Format"], "Taxes")
          assert.deepInclude(yield* prove(id), { runs: 3, same: 3, groups: [], notReplayed: [] })
          // Its code ran in a copy of it, with a fence.
          const taxes = (yield* scenarios.allWorkflows).find(({ name }) => name === "Taxes")
          const executions = obj(yield* scenarios.fetchJson(`executions?workflowId=${String(taxes?.["id"])}`))
          assert.deepStrictEqual(arr(executions?.["data"]), [])
          // A new node that sends is known to send; only what follows it is not known.
          yield* withFiles((proved) =>
            Effect.gen(function*() {
              const audited = row(...draft.nodes.toSpliced(3, 0, posting("Audit", `${sink.url}/audit`)))
              const { groups, verdict = "" } = yield* proved(id, audited)
              assert.deepInclude(groups[0], { node: "Audit", runs: 3 })
              assert.match(verdict, /3 runs send something else/)
            })
          )
          yield* extract(["Book", "End"], "Booking")
          const { groups, same, verdict = "" } = yield* prove(id)
          assert.deepStrictEqual([same, groups.map(({ node }) => node)], [0, ["Booking"]])
          assert.match(verdict, /^0 same; 3 cannot be compared after 'Booking': it has no recorded items/)
        })),
    120_000
  )

  it.effect("proof of a loop that is gone: nothing is claimed of the nodes after it", () =>
    sendingNothing((sink) => {
      const looping: Recorded = {
        name: "a loop",
        body: () => ({}),
        draft: ({ path }) => ({
          nodes: [
            hook(path),
            code("Rows", "return [1, 2, 3].map((n) => ({ json: { n } }))"),
            node("Loop", "splitInBatches", 3, { batchSize: 1, options: {} }),
            posting("Price", `${sink.url}/price?id=7`),
            code("Sum", "return [{ json: { n: $input.all().length } }]")
          ],
          connections: joined(["Hook", "Rows"], ["Rows", "Loop"], ["Loop", "Sum"], ["Loop", "Price", "main", 1], [
            "Price",
            "Loop"
          ])
        })
      }
      return recorded(looping, sink.url, 2)
    }, ({ draft, id }) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* prove(id), { runs: 2, same: 2 })
        const flat = row(...draft.nodes.filter(({ name }) => name !== "Loop"))
        const { groups, verdict } = yield* withFiles((proved) => proved(id, flat))
        assert.deepStrictEqual(groups.map(({ node }) => node), ["Price"])
        assert.match(verdict ?? "", /^0 same; 2 cannot be compared after 'Price': it ran in a loop then/)
      })), 120_000)

  it.effect(
    "proof: an interrupted one leaves no copy",
    () =>
      sendingNothing((sink) => recorded(provable.orders, sink.url, 6), ({ id }) =>
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(prove(id))
          yield* copiesLeft.pipe(
            Effect.filterOrFail((names) => names.length > 0),
            Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 200 }),
            scenarios.live
          )
          yield* Fiber.interrupt(running)
        })),
    120_000
  )

  it.effect(
    "cases: five in one copy; sent is what the server received; against another version",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const nodes = (limit: number): ReadonlyArray<Obj> => [
          hook(unique(), { responseMode: "responseNode" }),
          code(
            "Total",
            `const { n } = $input.first().json.body\nif (n === 3) throw new Error('no three')\nreturn [{ json: { total: n > ${limit} ? 100 : n } }]`
          ),
          posting("Send", `=${sink.url}/totals/{{ $json.total }}`),
          node("Respond", "respondToWebhook", 1.1, {
            respondWith: "json",
            responseBody: "={{ $json }}",
            options: { responseCode: 201, responseHeaders: { entries: [{ name: "X-Order", value: "7" }] } }
          })
        ]
        const links = chain("Hook", "Total", "Send", "Respond")
        const id = yield* made("cases", nodes(5), links)
        const other = yield* made("cases of another version", nodes(4), links)
        const cases = [1, 2, 3, 4, 5].map((n) => ({ name: `n=${n}`, testData: { n } }))
        const { created, result } = yield* counted(test(id, { cases, show: { nodes: ["Total"], fields: ["total"] } }))
        assert.strictEqual(created, 1)
        assert.deepStrictEqual(sink.bodies(), [1, 2, 4, 5].map((total) => ({ total })))
        assert.strictEqual(result.status, "error")
        const [first, , failed] = result.cases ?? []
        assert.deepInclude(obj(failed?.["failure"]), { node: "Total" })
        assert.deepStrictEqual<unknown>(obj(first?.["data"])?.["items"], [{ json: { total: 1 } }])
        assert.deepInclude(arr(first?.["sent"])[0], { node: "Send", to: `POST ${sink.url}/totals/1`, items: 1 })
        const { headers, status } = obj(first?.["response"]) ?? {}
        assert.deepStrictEqual([status, obj(headers)?.["x-order"]], [201, "7"])

        const compared = yield* counted(test(id, { cases, against: other }))
        assert.strictEqual(compared.created, 2)
        assert.deepInclude(compared.result, { same: 4 }, JSON.stringify(compared.result))
        assert.deepStrictEqual(arr(compared.result.differ).map((each) => obj(each)?.["case"]), ["n=5"])
        assert.deepStrictEqual(yield* copiesLeft, [])
      }),
    120_000
  )
}
