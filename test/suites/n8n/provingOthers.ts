/** Proofs against what callers and services really get from a real n8n: each change is proven, then published and called. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import type * as provable from "../../support/scenarios/provable.ts"
import { joined, node } from "../../support/workflows.ts"
import { code, copiesLeft, set } from "./builders.ts"
import { posting, prove, recorded, withFiles } from "./proving.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const name = "answers and sends"

const respond = (name: string, responseCode: number, body: string) =>
  node(name, "respondToWebhook", 1.1, {
    respondWith: "json",
    responseBody: `={{ JSON.stringify(${body}) }}`,
    options: { responseCode }
  })

const subject = (sinkUrl: string) => ({
  name,
  body: (n: number) => n === 0 ? { n } : { n, email: `${n}@shop.example` },
  draft: ({ path }: { readonly path: string }) => ({
    nodes: [
      node("Hook", "webhook", 2, { path, httpMethod: "POST", responseMode: "responseNode" }, { webhookId: path }),
      set("Read", "{ n: $json.body.n, email: $json.body.email, of: $workflow.name + ' ' + $workflow.id }"),
      node("Has email?", "if", 2.2, {
        conditions: {
          combinator: "and",
          options: { version: 2, caseSensitive: true, leftValue: "", typeValidation: "loose" },
          conditions: [{
            leftValue: "={{ $json.email }}",
            rightValue: "",
            operator: { type: "string", operation: "exists" }
          }]
        },
        looseTypeValidation: true
      }),
      posting("Send", sinkUrl),
      respond("Ok", 200, "{ n: $('Read').item.json.n }"),
      respond("Bad", 400, "{ error: 'no email', of: $json.of }")
    ],
    connections: joined(["Hook", "Read"], ["Read", "Has email?"], ["Has email?", "Send"], ["Send", "Ok"], [
      "Has email?",
      "Bad",
      "main",
      1
    ])
  })
})

type Changed = (draft: provable.Draft) => provable.Draft

const without = (name: string): Changed => ({ connections, nodes }) => ({
  nodes: nodes.filter((each) => each.name !== name),
  connections: JSON.parse(
    JSON.stringify(connections, (key, value: unknown) =>
      key === name
        ? undefined
        : Array.isArray(value)
        ? value.filter((each) => (each as Obj | null)?.["node"] !== name)
        : value)
  ) as Obj
})

const changing = (name: string, more: Obj): Changed => ({ connections, nodes }) => ({
  connections,
  nodes: nodes.map((each) => each.name === name ? { ...each, ...more } : each)
})

/** Puts a node between two others. */
const between = (from: string, to: string, added: provable.Draft["nodes"][number]): Changed => (draft) => {
  const { connections, nodes } = draft
  const text = JSON.stringify(connections[from]).replaceAll(JSON.stringify(to), JSON.stringify(added.name))
  return {
    nodes: [...nodes, added],
    connections: { ...connections, [from]: JSON.parse(text), ...joined([added.name, to]) }
  }
}

const changes: ReadonlyArray<readonly [name: string, change: Changed]> = [
  ["nothing", (draft) => draft],
  ["positions", ({ connections, nodes }) => ({ connections, nodes: nodes.toReversed() })],
  ["a removed answer", without("Bad")],
  ["a disabled answer", changing("Bad", { disabled: true })],
  [
    "a node of another type in its place",
    changing("Bad", { type: "n8n-nodes-base.noOp", typeVersion: 1, parameters: {} })
  ],
  ["an answer before the others", between("Hook", "Read", respond("Early", 202, "{ early: true }"))],
  ["another status", changing("Bad", respond("Bad", 422, "{ error: 'no email', of: $json.of }"))],
  [
    "another way to write the same answer",
    changing("Bad", respond("Bad", 400, "{ error: 'no ' + 'email', of: $json.of }"))
  ],
  ["a removed sender", without("Send")],
  ["a disabled sender", changing("Send", { disabled: true })],
  [
    "another address",
    (draft) =>
      changing("Send", posting("Send", `${draft.nodes.find(({ name }) => name === "Send")?.parameters["url"]}/other`))(
        draft
      )
  ],
  ["a sender of another type", changing("Send", { type: "n8n-nodes-base.noOp", typeVersion: 1, parameters: {} })],
  ["code that changes nothing", between("Read", "Has email?", code("Code", "return items"))],
  ["the name of another workflow in an answer", changing("Bad", respond("Bad", 400, "{ error: 'no email', of: 'x' }"))]
]

/** Adds the tests of proofs against what others get. */
export const provingOthers = (it: It) => {
  it.effect(
    "proof: says of each change what callers and services then really get",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const one = subject(sink.url)
        const { draft, id, path } = yield* recorded(one, sink.url, 3)
        const page = obj(yield* scenarios.fetchJson(`executions?workflowId=${id}`))
        const executions = arr(page?.["data"]).map((each) => String(obj(each)?.["id"]))
        const effects = Effect.gen(function*() {
          const before = sink.lines().length
          const answers = yield* Effect.forEach(
            [0, 1, 2],
            (n) => Effect.map(scenarios.callWebhook(path, { body: one.body(n) }), ({ status, text }) => [status, text])
          )
          return JSON.stringify([answers, sink.lines().slice(before)])
        })
        const first = yield* effects
        const wrong: Array<string> = []
        yield* withFiles((proved) =>
          Effect.forEach(changes, ([title, change]) =>
            Effect.gen(function*() {
              const changed = change(draft)
              const before = sink.lines().length
              const named = { ...changed, name: `Proof of ${name}` }
              const { notReplayed = [], same = 0, verdict = "" } = yield* proved(id, named, { executions })
              assert.lengthOf(sink.lines(), before, `${title} sent something`)
              yield* tools.updateWorkflow.call({ id, nodes: changed.nodes, connections: changed.connections })
              const isSame = (yield* effects) === first
              yield* tools.updateWorkflow.call({ id, nodes: draft.nodes, connections: draft.connections })
              const says = same === 3 && notReplayed.length === 0
                ? true
                : /something else|another answer/.test(verdict)
                ? false
                : /all send and answer the same/.test(verdict)
              if (says !== isSame) wrong.push(`${title}: ${isSame ? "the same" : "differs"}, but: ${verdict}`)
            }))
        )
        assert.deepStrictEqual(wrong, [])
        assert.strictEqual(yield* effects, first)
        assert.deepStrictEqual(yield* copiesLeft, [])
        assert.match((yield* prove(id, { executions })).verdict ?? "", /^3 same/)
      }),
    300_000
  )
}
