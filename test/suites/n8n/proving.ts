/** Proofs of changes, and cases, against a real n8n, with a server that counts what reaches it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { XMLParser } from "fast-xml-parser"
import * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as cli from "../../support/cli.ts"
import * as provable from "../../support/provable.ts"
import { joined, node } from "../../support/workflows.ts"
import { chain, code, copiesLeft, made, set, test } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const settings = { executionOrder: "v1" }

type Recorded = Omit<provable.Subject, "changes">

/** Workflow without the defaults that n8n adds to the workflow of an execution, and a branch that no run takes. */
const sparse: Recorded = {
  name: "a branch not taken",
  body: (n) => ({ n }),
  draft: ({ path, sink }) => ({
    nodes: [
      node("Hook", "webhook", 2, { path, httpMethod: "POST" }, { webhookId: path }),
      // n8n 1 passes every item through a condition without these keys.
      node("Big?", "if", 2.2, {
        conditions: {
          combinator: "and",
          options: { version: 2, caseSensitive: true, leftValue: "", typeValidation: "strict" },
          conditions: [{
            leftValue: "={{ $json.body.n }}",
            rightValue: 99,
            operator: { type: "number", operation: "gt" }
          }]
        }
      }),
      node("Alert", "httpRequest", 4.2, {
        method: "POST",
        url: sink,
        sendBody: true,
        specifyBody: "json",
        jsonBody: "{}"
      }),
      node("Done", "set", 3.4, { mode: "raw", jsonOutput: "={{ $json.body }}" })
    ],
    connections: joined(["Hook", "Big?"], ["Big?", "Alert"], ["Big?", "Done", "main", 1])
  })
}

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
  const draft = subject.draft({ path, sink, sub: "", openAi: {} })
  const id = yield* scenarios.create(Object.assign({ name: `Proof of ${subject.name}` }, { ...draft, settings }))
  yield* scenarios.publish(id)
  for (let n = 0; n < runs; n++) yield* scenarios.callWebhook(path, { body: subject.body(n) })
  yield* scenarios.fetchJson(`executions?workflowId=${id}&limit=100`).pipe(
    Effect.filterOrFail((page) => {
      const all = arr(obj(page)?.["data"]).map((each) => obj(each)?.["status"])
      return all.length === runs && all.every((status) => status === "success" || status === "error")
    }),
    Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 100 }),
    scenarios.live
  )
  return { id, draft, path }
})

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

/** Adds the tests of proofs to a suite. */
export const proving = (it: It, { drafts }: { readonly drafts: boolean }) => {
  for (const subject of [provable.orders, provable.batches, provable.routes]) {
    it.effect(
      `proof of ${subject.name}: unchanged it is the same, each change is located, and nothing is sent`,
      () =>
        Effect.gen(function*() {
          const sink = yield* Recorder.make
          const { draft, id } = yield* recorded(subject, sink.url, 12)
          const sent = sink.lines().length
          assert.isAbove(sent, 0)
          const same = yield* prove(id, { last: 12 })
          assert.deepInclude(same, { runs: 12, same: 12, groups: [] }, JSON.stringify(same))
          yield* withFiles((proved) =>
            Effect.gen(function*() {
              for (const change of subject.changes) {
                const { groups, runs, verdict } = yield* proved(id, provable.changed(draft, change))
                assert.strictEqual(runs, 12)
                assert.strictEqual(groups[0]?.node, change.at, `${change.name}: ${verdict} ${JSON.stringify(groups)}`)
              }
              const [, , last] = draft.nodes.toReversed()
              const renamed = yield* proved(id, provable.renamed(draft, last?.name ?? "", "名前"))
              assert.deepInclude(renamed, { same: 12, groups: [] }, JSON.stringify(renamed))
            })
          )
          assert.lengthOf(sink.lines(), sent)
          assert.deepStrictEqual(yield* copiesLeft, [])
          assert.strictEqual(obj(yield* scenarios.fetchJson(`workflows/${id}`))?.["active"], true)
        }),
      600_000
    )
  }

  it.effect(
    "proof of a node that no run reaches: unchanged without its defaults, and changed with another address",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const { draft, id } = yield* recorded(sparse, sink.url, 2)
        assert.deepInclude(yield* prove(id), { runs: 2, same: 2, notReplayed: [] })
        const alert = draft.nodes.findIndex(({ name }) => name === "Alert")
        const nodes = draft.nodes.map((each, index) =>
          index === alert ? { ...each, parameters: { ...each.parameters, url: `${sink.url}/elsewhere` } } : each
        )
        yield* withFiles((proved) =>
          Effect.map(
            proved(id, { ...draft, nodes }),
            ({ notReplayed }) =>
              assert.deepStrictEqual(notReplayed, [{ node: "Alert", why: "changed, and no run reaches it" }])
          )
        )
        assert.lengthOf(sink.lines(), 0)
      }),
    120_000
  )

  if (drafts) {
    it.effect(
      "proof of a waiting draft: the draft differs, the published version does not",
      () =>
        Effect.gen(function*() {
          const sink = yield* Recorder.make
          const { draft, id } = yield* recorded(provable.orders, sink.url, 4)
          const sent = sink.lines().length
          const [change] = provable.orders.changes
          assert.isDefined(change)
          const n8n = yield* N8nClient
          yield* n8n.putWorkflow(
            id,
            { name: "Proof of a draft", settings, ...provable.changed(draft, change) },
            { publishes: false }
          )
          const { groups } = yield* prove(id)
          assert.strictEqual(groups[0]?.node, change.at)
          assert.deepInclude(yield* prove(`${id}@published`), { runs: 4, same: 4 })
          assert.deepInclude(yield* prove(id, { ignore: ["email", "mail", "sent.jsonBody.email"] }), {
            runs: 4,
            same: 4
          })
          assert.lengthOf(sink.lines(), sent)
        }),
      120_000
    )
  }

  it.effect(
    "proof: a webhook that answers with the last node answers differently, as n8n then does",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const answering: Recorded = {
          name: "answers with the last node",
          body: (n) => ({ n: n + 1 }),
          draft: ({ path }) => ({
            nodes: [
              node("Hook", "webhook", 2, { path, httpMethod: "POST", responseMode: "lastNode" }, { webhookId: path }),
              node("Answer", "set", 3.4, { mode: "raw", jsonOutput: "={{ { n: $json.body.n } }}" })
            ],
            connections: joined(["Hook", "Answer"])
          })
        }
        const { draft, id, path } = yield* recorded(answering, sink.url, 3)
        assert.match((yield* prove(id)).verdict ?? "", /^3 same/)
        const nodes = draft.nodes.map((each) =>
          each.name === "Answer"
            ? { ...each, parameters: { ...each.parameters, jsonOutput: "={{ { n: -$json.body.n } }}" } }
            : each
        )
        yield* withFiles((proved) =>
          Effect.map(
            proved(id, { ...draft, nodes }),
            ({ verdict }) => assert.match(verdict ?? "", /; 3 clients get another answer$/)
          )
        )
        const answer = Effect.map(scenarios.callWebhook(path, { body: { n: 7 } }), ({ body }) => body)
        assert.deepStrictEqual(yield* answer, { n: 7 })
        yield* tools.updateWorkflow.call({ id, nodes })
        assert.deepStrictEqual(yield* answer, { n: -7 })
      }),
    120_000
  )

  describe("proof of a trigger's new version", () => {
    const newest = 2.1
    /** Version 1 of a webhook, before a node that sends. */
    const draftOf = (path: string, sink: string, more: Obj = {}, ...between: provable.Draft["nodes"]) => {
      const nodes: provable.Draft["nodes"] = [
        node("Hook", "webhook", 1, { path, httpMethod: "POST", ...more }, { webhookId: path.split("/")[0] }),
        ...between,
        posting("Send", sink)
      ]
      const links = nodes.slice(1).map(({ name }, index) => [nodes[index]?.name ?? "", name] as const)
      return { nodes, connections: joined(...links) }
    }
    const upgraded = ({ connections, nodes: [first, ...rest] }: provable.Draft, typeVersion = newest) => ({
      connections,
      nodes: first === undefined ? [] : [{ ...first, typeVersion }, ...rest]
    })
    /** Records a run of each request. */
    const requested = Effect.fnUntraced(function*(
      draft: provable.Draft,
      requests: ReadonlyArray<readonly [path: string, request: RequestInit]>
    ) {
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
    const tested = (requests: string) => new RegExp(`same; trigger tested on a copy: ${requests}, same items$`)

    it.effect(
      "both versions receive the requests on copies, with query, body and headers, and return the same",
      () =>
        Effect.gen(function*() {
          const sink = yield* Recorder.make
          const [plain, templated, methods, responding] = Array.from(
            { length: 4 },
            () => `proving-${crypto.randomUUID()}`
          )
          const body = new URLSearchParams({ a: "1", b: "é" })
          const respond = node("Respond", "respondToWebhook", 1.1, { respondWith: "text", responseBody: "done" })
          const cases = [
            yield* requested(draftOf(`${plain}`, sink.url), [
              [`webhook/${plain}?q=a%20b&tag[]=1`, { method: "POST", headers: { "x-order": "7" }, body }],
              [`webhook/${plain}`, json({ no: 1, lines: [{ sku: "é", n: null }] })]
            ]),
            yield* requested(draftOf(`${templated}/:shop`, sink.url, { responseMode: "lastNode" }), [
              [`webhook/${templated}/${templated}/tokyo%20east`, json({ no: 2 })]
            ]),
            yield* requested(draftOf(`${methods}`, sink.url, { multipleMethods: true, httpMethod: ["GET", "POST"] }), [
              [`webhook/${methods}?no=3`, json({ no: 3 })]
            ]),
            yield* requested(draftOf(`${responding}`, sink.url, { responseMode: "responseNode" }, respond), [
              [`webhook/${responding}`, json({ no: 4 })]
            ])
          ]
          const sent = sink.lines().length
          yield* withFiles((proved) =>
            Effect.forEach(cases, ({ draft, id }, index) =>
              Effect.map(proved(id, upgraded(draft)), ({ groups, notReplayed, verdict = "" }) => {
                assert.match(
                  verdict,
                  tested(index === 0 ? "2 requests" : "1 request"),
                  JSON.stringify([groups, notReplayed])
                )
                assert.deepStrictEqual(
                  (notReplayed ?? []).filter(({ node }) =>
                    node === "Hook"
                  ),
                  []
                )
              }))
          )
          assert.lengthOf(sink.lines(), sent)
          assert.deepStrictEqual(yield* copiesLeft, [])
        }),
      240_000
    )

    it.effect(
      "the body of a request without one, a status and a refusal are differences, as on n8n then",
      () =>
        Effect.gen(function*() {
          const sink = yield* Recorder.make
          const { url } = yield* RealN8n
          const [coded = "", unused = "", got = ""] = Array.from({ length: 3 }, () => `proving-${crypto.randomUUID()}`)
          const respond = node("Respond", "respondToWebhook", 1.1, { respondWith: "text", responseBody: "done" })
          const read = yield* requested(draftOf(got, sink.url, { httpMethod: "GET" }), [
            [`webhook/${got}?no=3`, { method: "GET" }]
          ])
          const cases = [
            {
              ...yield* requested(draftOf(coded, sink.url, { responseCode: 201 }), [[`webhook/${coded}`, json({})]]),
              path: coded,
              was: 201,
              is: 200,
              names: "answer.status"
            },
            {
              ...yield* requested(draftOf(unused, sink.url, {}, respond), [[`webhook/${unused}`, json({})]]),
              path: unused,
              was: 200,
              is: 500,
              names: "failed"
            }
          ]
          const sent = sink.lines().length
          yield* withFiles((proved) =>
            Effect.forEach([{ ...read, names: "body added" }, ...cases], ({ draft, id, names }) =>
              Effect.map(proved(id, upgraded(draft)), ({ groups, same, verdict = "" }) => {
                assert.strictEqual(same, 0)
                assert.strictEqual(groups[0]?.node, "Hook")
                assert.include(groups[0]?.paths, names)
                assert.notInclude(verdict, "tested on a copy")
              }))
          )
          assert.lengthOf(sink.lines(), sent)
          assert.deepStrictEqual(yield* copiesLeft, [])
          for (const { draft, id, is, path, was } of cases) {
            const statusNow = Effect.promise(() =>
              fetch(new URL(`webhook/${path}`, url), json({}))
            ).pipe(
              Effect.map(({ status }) => status)
            )
            assert.strictEqual(yield* statusNow, was)
            yield* tools.updateWorkflow.call({ id, ...upgraded(draft) })
            const status = yield* statusNow.pipe(
              Effect.repeat({ schedule: Schedule.spaced("150 millis"), times: 100, until: (status) => status === is }),
              scenarios.live
            )
            assert.strictEqual(status, is)
          }
        }),
      240_000
    )

    it.effect(
      "forms and chats are tested as well; what needs the caller's secret is not, and says so",
      () =>
        Effect.gen(function*() {
          const sink = yield* Recorder.make
          const [form, chat, secret] = Array.from({ length: 3 }, () => `proving-${crypto.randomUUID()}`)
          const submitted = new FormData()
          submitted.append("field-0", "Ann")
          const after = (first: provable.Draft["nodes"][number]): provable.Draft => ({
            nodes: [first, posting("Send", sink.url)],
            connections: joined([first.name, "Send"])
          })
          const fields = { values: [{ fieldLabel: "Name", fieldType: "text" }] }
          const { body: credential } = yield* scenarios.request("POST", "credentials", {
            name: "Caller",
            type: "httpBasicAuth",
            data: { user: "u", password: "p" }
          })
          const [forms, chats, secrets] = [
            yield* requested(
              after(
                node("Form", "formTrigger", 2, { path: form, formTitle: "Order", formFields: fields, options: {} }, {
                  webhookId: form
                })
              ),
              [[`form/${form}`, { method: "POST", body: submitted }]]
            ),
            yield* requested(
              after(
                node(
                  "Chat",
                  "@n8n/n8n-nodes-langchain.chatTrigger",
                  1,
                  { public: true, mode: "webhook", options: {} },
                  {
                    webhookId: chat
                  }
                )
              ),
              [[`webhook/${chat}/chat`, json({ action: "sendMessage", sessionId: "s", chatInput: "hi" })]]
            ),
            yield* requested(
              after(node("Hook", "webhook", 1, { path: secret, httpMethod: "POST", authentication: "basicAuth" }, {
                webhookId: secret,
                credentials: { httpBasicAuth: { id: String(obj(credential)?.["id"]), name: "Caller" } }
              })),
              [[`webhook/${secret}`, { method: "POST", headers: { authorization: `Basic ${btoa("u:p")}` } }]]
            )
          ]
          const sent = sink.lines().length
          yield* withFiles((proved) =>
            Effect.gen(function*() {
              for (const [{ draft, id }, version] of [[forms, 2.1], [chats, 1.1]] as const) {
                const { groups, notReplayed, verdict = "" } = yield* proved(id, upgraded(draft, version))
                assert.match(verdict, tested("1 request"), JSON.stringify([groups, notReplayed]))
              }
              const { notReplayed, verdict } = yield* proved(secrets.id, upgraded(secrets.draft))
              assert.strictEqual(verdict, "1 same; 1 change in no replay (notReplayed)")
              assert.match(JSON.stringify(notReplayed), /1 → 2\.1: .* refused it \(HTTP 401\): authorization headers/)
            })
          )
          assert.lengthOf(sink.lines(), sent)
          assert.deepStrictEqual(yield* copiesLeft, [])
        }),
      240_000
    )
  })

  it.effect(
    "proof of an extraction: a sub-workflow that only computes runs, one that sends does not, and nothing is claimed",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const { draft, id } = yield* recorded(
          {
            name: "a chain to extract",
            body: (n) => ({ n: n + 1 }),
            draft: ({ path }) => ({
              nodes: [
                node("Hook", "webhook", 2, { path, httpMethod: "POST" }, { webhookId: path }),
                set("Tax", "{ gross: $json.body.n * 1.5 }"),
                code("Format", "return items.map(({ json }) => ({ json: { ...json, text: 'No. ' + json.gross } }))"),
                posting("Book", sink.url),
                set("End", "{ booked: true }")
              ],
              connections: joined(["Hook", "Tax"], ["Tax", "Format"], ["Format", "Book"], ["Book", "End"])
            })
          },
          sink.url,
          3
        )
        const sent = sink.lines().length
        assert.strictEqual(sent, 3)
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
            const audit = posting("Audit", `${sink.url}/audit`)
            const withAudit = {
              nodes: [...draft.nodes.slice(0, 3), audit, ...draft.nodes.slice(3)],
              connections: joined(["Hook", "Tax"], ["Tax", "Format"], ["Format", "Audit"], ["Audit", "Book"], [
                "Book",
                "End"
              ])
            }
            const { groups, verdict = "" } = yield* proved(id, withAudit)
            assert.deepInclude(groups[0], { node: "Audit", runs: 3 })
            assert.include(groups[0]?.paths, "ran")
            assert.match(verdict, /3 runs send something else/)
          })
        )
        yield* extract(["Book", "End"], "Booking")
        const { groups, same, verdict = "" } = yield* prove(id)
        assert.strictEqual(same, 0)
        assert.deepStrictEqual(groups.map(({ node }) => node), ["Booking"])
        assert.match(verdict, /^0 same; 3 cannot be compared after 'Booking': it has no recorded items/)
        assert.notMatch(verdict, /answer/)
        assert.lengthOf(sink.lines(), sent)
        assert.deepStrictEqual(yield* copiesLeft, [])
      }),
    120_000
  )

  it.effect(
    "proof of a loop that is gone: nothing is claimed of the nodes after it",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const rows = code("Rows", "return [1, 2, 3].map((n) => ({ json: { n } }))")
        const nodes = (path: string) => [
          node("Hook", "webhook", 2, { path, httpMethod: "POST" }, { webhookId: path }),
          rows,
          node("Loop", "splitInBatches", 3, { batchSize: 1, options: {} }),
          posting("Price", `${sink.url}/price?id=7`),
          set("Keep", "{ price: $json.price }"),
          code("Sum", "return [{ json: { n: $input.all().length } }]")
        ]
        const subject: Recorded = {
          name: "a loop",
          body: () => ({}),
          draft: ({ path }) => ({
            nodes: nodes(path),
            connections: joined(["Hook", "Rows"], ["Rows", "Loop"], ["Loop", "Sum"], ["Loop", "Price", "main", 1], [
              "Price",
              "Keep"
            ], ["Keep", "Loop"])
          })
        }
        const { draft, id } = yield* recorded(subject, sink.url, 2)
        const sent = sink.lines().length
        assert.strictEqual(sent, 6)
        assert.deepInclude(yield* prove(id), { runs: 2, same: 2 })
        yield* withFiles((proved) =>
          Effect.gen(function*() {
            const flat = {
              nodes: draft.nodes.filter(({ name }) => name !== "Loop"),
              connections: joined(["Hook", "Rows"], ["Rows", "Price"], ["Price", "Keep"], ["Keep", "Sum"])
            }
            const { groups, verdict = "" } = yield* proved(id, flat)
            assert.deepStrictEqual(groups.map(({ node }) => node), ["Price"])
            assert.match(verdict, /^0 same; 2 cannot be compared after 'Price': it ran in a loop then/)
          })
        )
        assert.lengthOf(sink.lines(), sent)
      }),
    120_000
  )

  it.effect(
    "proof: an interrupted one leaves no copy; the command exits with 0 and 2, and reports for CI",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const { draft, id } = yield* recorded(provable.orders, sink.url, 6)
        const sent = sink.lines().length
        const running = yield* Effect.forkChild(prove(id))
        yield* copiesLeft.pipe(
          Effect.filterOrFail((names) => names.length > 0),
          Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 200 }),
          scenarios.live
        )
        yield* Fiber.interrupt(running)
        assert.deepStrictEqual(yield* copiesLeft, [])

        const { apiKey, url } = yield* RealN8n
        yield* Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
          const env = { N8N_URL: url.href, N8N_API_KEY: Redacted.value(apiKey) }
          const same = yield* cli.runIn(folder, env, "prove", id, "--last", "3", "--json")
          assert.strictEqual(same.code, 0, same.output)
          assert.deepInclude(JSON.parse(same.stdout), { runs: 3, same: 3, groups: [] })
          const [change] = provable.orders.changes
          assert.isDefined(change)
          const changed = { id, name: "Changed", settings, ...provable.changed(draft, change) }
          yield* fs.writeFileString(`${folder}/changed.json`, JSON.stringify(changed))
          const differs = yield* cli.runIn(folder, env, "prove", "changed.json", "--last", "3", "--junit", "out.xml")
          assert.strictEqual(differs.code, 2, differs.output)
          assert.match(differs.stdout, /^≠ 0 same; 3 lose `email` at 'Map contact'/)
          const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "" })
          const { testsuites } = parser.parse(yield* fs.readFileString(`${folder}/out.xml`))
          assert.deepInclude(testsuites, { tests: "3", failures: "3", errors: "0" })
          const log = yield* cli.runIn(folder, env, "prove", "changed.json", "--last", "3", "--format", "github")
          assert.strictEqual(log.code, 2, log.output)
          assert.match(log.stdout, /^::error file=changed\.json,line=1,col=1,title=difference::'Map contact': email /)
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
        assert.lengthOf(sink.lines(), sent)
        assert.deepStrictEqual(yield* copiesLeft, [])
      }),
    120_000
  )

  it.effect(
    "cases: five in one copy; sent is what the server received; against another version",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const nodes = (limit: number): ReadonlyArray<Obj> => [
          node("Hook", "webhook", 2, {
            path: crypto.randomUUID(),
            httpMethod: "POST",
            responseMode: "responseNode",
            options: {}
          }, { webhookId: crypto.randomUUID() }),
          code(
            "Total",
            `const { n } = $input.first().json.body\nif (n === 3) throw new Error('no three')\nreturn [{ json: { total: n > ${limit} ? 100 : n } }]`
          ),
          node("Send", "httpRequest", 4.2, {
            method: "POST",
            url: `=${sink.url}/totals/{{ $json.total }}`,
            sendBody: true,
            specifyBody: "json",
            jsonBody: "={{ JSON.stringify({ total: $json.total }) }}",
            options: {}
          }),
          set("Answer", "{ done: true }"),
          node("Respond", "respondToWebhook", 1.1, {
            respondWith: "json",
            responseBody: "={{ $json }}",
            options: { responseCode: 201, responseHeaders: { entries: [{ name: "X-Order", value: "7" }] } }
          })
        ]
        const links = chain("Hook", "Total", "Send", "Answer", "Respond")
        const id = yield* made("cases", nodes(5), links)
        const other = yield* made("cases of another version", nodes(4), links)
        const bodies = [1, 2, 3, 4, 5]
        const cases = bodies.map((n) => ({ name: `n=${n}`, testData: { n } }))
        const { created, result } = yield* counted(test(id, { cases, show: { nodes: ["Total"], fields: ["total"] } }))
        assert.strictEqual(created, 1)
        assert.deepStrictEqual(sink.bodies(), [1, 2, 4, 5].map((total) => ({ total })))
        assert.deepStrictEqual(result.logs, [
          "n=1: success",
          "n=2: success",
          "n=3: error",
          "n=4: success",
          "n=5: success"
        ])
        assert.strictEqual(result.status, "error")
        const [first, , failed] = result.cases ?? []
        assert.deepInclude(obj(failed?.["failure"]), { node: "Total" })
        assert.deepStrictEqual<unknown>(obj(first?.["data"])?.["items"], [{ json: { total: 1 } }])
        const [sent] = arr(first?.["sent"])
        assert.deepInclude(
          obj(sent),
          { node: "Send", to: `POST ${sink.url}/totals/1`, items: 1 },
          JSON.stringify(first)
        )
        assert.deepInclude(JSON.stringify(obj(sent)?.["values"]), "total")
        const response = obj(first?.["response"])
        assert.strictEqual(response?.["status"], 201)
        assert.strictEqual(obj(response?.["headers"])?.["x-order"], "7")
        assert.match(String(obj(response?.["headers"])?.["content-type"]), /json/)

        const compared = yield* counted(test(id, { cases, against: other }))
        assert.strictEqual(compared.created, 2)
        assert.deepInclude(compared.result, { same: 4 }, JSON.stringify(compared.result))
        const differ = arr(compared.result.differ).map(obj)
        assert.deepStrictEqual(differ.map((each) => each?.["case"]), ["n=5"])
        assert.match(String(arr(differ[0]?.["changes"])[0]), /^'Total'\.total: /)
        assert.deepStrictEqual(yield* copiesLeft, [])
      }),
    120_000
  )
}
