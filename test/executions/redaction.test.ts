/** No answer about an execution shows what the redaction of a whole item, or of a node's whole parameters, hides. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { redact } from "../../src/base/Redact.ts"
import * as NodeCatalogue from "../../src/catalogue/NodeCatalogue.ts"
import * as Sending from "../../src/catalogue/parameters/Sending.ts"
import type { Node } from "../../src/n8n/model/Workflow.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { compareItems } from "../../src/tools/executions/compareItems.ts"
import { getExecutionByNode } from "../../src/tools/executions/getExecutionByNode.ts"
import { searchExecution } from "../../src/tools/executions/searchExecution.ts"
import * as TestCase from "../../src/trials/cases/TestCase.ts"
import * as RunComparison from "../../src/trials/proof/RunComparison.ts"
import { sentDifferences, triggerDifferences, unseenDifferences } from "../../src/trials/proof/sentDifferences.ts"
import * as Sent from "../../src/trials/Sent.ts"
import * as Graph from "../../src/workflow/Graph.ts"
import { rounds } from "../support/seed.ts"
import { main, node } from "../support/workflows.ts"
import { document, from, fromApi, holding, run } from "./runData.ts"

const canary = "tw33tybird"
/** No piece of the canary with this length may be shown. */
const piece = 5

const Key = Schema.Literals(["password", "apiKey", "X-Api-Key", "client_secret", "authorization", "access token"])

/** Forms of a secret: under a secret key, in a pair, in a text, in a URL, as a key, nested. */
const forms = (key: string, secret: string): ReadonlyArray<Schema.Json> => [
  secret,
  [secret, [secret]],
  { name: key, value: secret },
  { headers: [{ name: key, value: secret }, ["authorization", secret]] },
  { body: JSON.stringify({ [key]: secret, no: 1 }) },
  { message: `failed: GET https://user:${secret}@x.example/y?${encodeURIComponent(key)}=${secret}&b=c` },
  { text: `curl -H 'Authorization: Bearer ${secret}' https://x.example` },
  { [`ghp_${secret}${"a1B2c3D4e5".repeat(3)}`]: 1 },
  { deep: [{ list: [{ [key]: { value: secret } }] }] }
]

/** Parameters of an HTTP Request, with literal secrets, and expressions that read secret and other values. */
const parametersOf = (key: string, field: string, secret: string) => ({
  method: "=POST",
  url: `=https://x.example/{{ $json.no }}?${encodeURIComponent(key)}=${secret}&x={{ $json[${JSON.stringify(field)}] }}`,
  sendHeaders: true,
  headerParameters: {
    parameters: [
      { name: key, value: secret },
      { name: "X-A", value: `={{ $json[${JSON.stringify(field)}] }}` },
      { name: "X-B", value: `={{ String($json[${JSON.stringify(field)}]).slice(0, 6) }}` },
      { name: "X-C", value: `={{ JSON.stringify($json).split('').join('') }}` },
      { name: "X-D", value: `={{ Object.values($json).map((value) => 'v' + value).join() }}` },
      {
        name: "X-E",
        value: `={{ Object.keys($json).concat(Object.keys($json[${JSON.stringify(field)}])).join(' ') }}`
      },
      { name: "X-F", value: `=Bearer ${secret}{{ $json.no }}` }
    ]
  },
  sendBody: true,
  specifyBody: "json",
  jsonBody: "={{ $json }}",
  options: { note: `={{ { inner: $json[${JSON.stringify(field)}], all: $input.all() } }}` }
})

const recorded = (key: string, form: number, secret: string): N8nApi.Execution => {
  const field = form < 2 ? key : "plain"
  const json = (no: number, more: object = {}) => ({
    json: { no, city: `c${no}`, [field]: forms(key, secret)[form], ...more },
    pairedItem: { item: no }
  })
  const parameters = parametersOf(key, field, secret)
  return document({
    Load: [run(0, { main: [[json(0), json(1)]] })],
    Send: [run(1, { main: [[json(0, { sent: 1 }), json(1, { sent: 2 })]] }, { source: [from("Load")] })],
    End: [
      run(2, { main: [[json(0, { [field]: forms(key, `${secret}x3`)[form] }), json(1, { [field]: null })]] }, {
        source: [from("Send")]
      })
    ]
  }, {
    nodes: [node("Load", "noOp"), node("Send", "httpRequest", 4.2, parameters), node("End", "noOp")],
    connections: { Load: main("Send"), Send: main("End") }
  })
}

const assertHidden = (answer: unknown, label: string) => {
  const text = JSON.stringify(answer).toLowerCase()
  for (let at = 0; at + piece <= canary.length; at++) {
    assert.notInclude(text, canary.slice(at, at + piece), label)
  }
}

const Case = Arbitrary.schema(
  Schema.Struct({ key: Key, form: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8 })) })
)

describe("redaction of a whole", () => {
  it.effect.prop(
    "holds in every answer about an execution",
    { one: Case },
    ({ one: { form, key } }) =>
      Effect.gen(function*() {
        const field = form < 2 ? key : "plain"
        const [then, now] = [recorded(key, form, canary), recorded(key, form, `${canary}x2`)]
        const [record, replay] = [fromApi(then), fromApi(now)]
        const whole = { no: 0, [field]: forms(key, canary)[form] }
        assertHidden(redact(whole), "the premise")
        const hides = (label: string) => (answer: unknown) =>
          assertHidden(answer, `${label} of form ${form} under ${key}`)

        for (const nodeName of ["Load", "Send", "End"]) {
          for (
            const more of [{}, { fields: [`["${field}"]`, `["${field}"].name`, `["${field}"].value`, "no"] }, {
              where: "no === 1"
            }]
          ) {
            const answer = yield* Effect.result(getExecutionByNode.run({ id: "77", nodeName, ...more }))
            hides("get_execution_by_node")(answer)
          }
        }
        for (
          const more of [{ text: "c1" }, { where: "no >= 0", fields: [`["${field}"].value`, "no"] }, { text: canary }, {
            text: key
          }]
        ) {
          // The message of an answer repeats the text that was asked for.
          const { data: answer } = yield* searchExecution.run({ id: "77", ...more })
          hides("search_execution")(answer)
        }
        for (
          const more of [{}, { key: "no" }, { key: `["${field}"]` }, { fields: [`["${field}"]`, `["${field}"].value`] }]
        ) {
          hides("compare_items")(yield* Effect.result(compareItems.run({ id: "77", from: "Load", to: "End", ...more })))
        }

        const sender = (execution: typeof record) => execution.workflow?.nodes[1] as Node
        const type = yield* NodeCatalogue.NodeCatalogue.use(({ get }) => get(sender(record).type))
        const [sendRun] = record.runs.get("Send") ?? []
        assert.isDefined(sendRun)
        const sent = yield* Sent.of(record, {
          node: sender(record),
          run: sendRun,
          sending: Sending.of(type, sender(record)),
          limit: 5,
          redacts: true
        })
        hides("sent")(sent)
        assert.isAbove(sent.length, 1)

        const side = (execution: typeof record) => ({
          execution,
          nodes: execution.workflow?.nodes ?? [],
          graph: Graph.make(execution.workflow?.connections)
        })
        const options = {
          record: side(record),
          replay: side(replay),
          nameThen: (name: string) => name,
          pinned: new Set(["Send"]),
          ignore: [],
          isSame: false,
          redacts: true
        }
        const compared = yield* RunComparison.compare({
          ...options,
          record,
          replay,
          nodes: ["Load", "End"],
          pinned: new Set()
        })
        const differences = [
          ...compared.differences,
          ...yield* sentDifferences(options),
          ...(yield* unseenDifferences(options)).differences,
          ...yield* triggerDifferences(options)
        ]
        assert.isNotEmpty(differences, "secrets that differ are found")
        hides("proof")(differences)

        const clean = TestCase.redaction(true)
        const expect = { nodes: { End: { items: [{ no: 7, [field]: "x" }, { no: 1, [field]: { value: "y" } }] } } }
        hides("case")(TestCase.differences(expect, record, clean))
        hides("case updated")([TestCase.updated({ expect }, record, clean), TestCase.updated({}, record, clean)])
      }).pipe(Effect.provide(holding(recorded(key, form, canary)))),
    { arbitrary: { runs: rounds(25) } }
  )
})
