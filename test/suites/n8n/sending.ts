/** Replays against a real n8n of nodes that send in every way that code can: a counting server gets nothing again. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { escapes } from "../../support/scenarios/escapes.ts"
import { senders } from "../../support/scenarios/senders.ts"
import { node } from "../../support/workflows.ts"
import { code, connected, happened, type Link, made, set, test, webhook } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const onError = { onError: "continueRegularOutput", continueOnFail: true }

/** Forms of the older nodes, which have their own sandbox. */
const older = senders.filter((each) => /^(?:await|const|var)[^]{0,40}helpers/.test(each)).slice(0, 12)

const at = (url: string, form: string) => JSON.stringify(`${url}/send?form=${form}`)

/** Nodes that send, each in its own way. */
const sending = (url: string): ReadonlyArray<Obj & { readonly name: string }> => [
  ...senders.map((statements, index) =>
    code(`Code ${index}`, `const url = ${at(url, `code-${index}`)}\n${statements}\nreturn [{ json: {} }]`, onError)
  ),
  ...escapes(url).map(({ code: statements }, index) => code(`Escape ${index}`, statements, onError)),
  ...older.flatMap((statements, index) => [
    node(`Function ${index}`, "function", 1, {
      functionCode: `const url = ${at(url, `function-${index}`)}\n${statements}\nreturn items`
    }, onError),
    node(`Function item ${index}`, "functionItem", 1, {
      functionCode: `const url = ${at(url, `item-${index}`)}\n${statements}\nreturn item`
    }, onError)
  ]),
  node("Sort", "sort", 1, {
    type: "code",
    code: `helpers.httpRequest({ url: ${at(url, "sort")} }); return 0`
  }, onError),
  node("HTTP", "httpRequest", 4.2, { url: `${url}/send?form=http` }, onError),
  node("Merge", "merge", 3.2, { mode: "combineBySql", query: `SELECT * FROM CSV("${url}/send?form=sql")` }, onError)
]

/** Expressions are evaluated in a replay; n8n lets none of them send. */
const expressions = (url: string) =>
  [
    `fetch(${at(url, "e0")})`,
    `this.helpers.httpRequest({ url: ${at(url, "e1")} })`,
    `$helpers.httpRequest({ url: ${at(url, "e2")} })`,
    `(() => 0).constructor("return fetch")()(${at(url, "e3")})`,
    `new XMLHttpRequest().open("GET", ${at(url, "e4")})`,
    `[]["constr" + "uctor"]["constr" + "uctor"]("return process")()`
  ].map((expression, index) => ({ ...set(`Expression ${index}`, `{ a: ${expression} }`), ...onError }))

/** Adds the test of what a test names as sent to a suite; the releases do not differ in it. */
export const sendingByAddress = (it: It) => {
  it.effect(
    "test_workflow: names each address that a node sent to, as often as a server received it, also in live cases",
    () =>
      Effect.gen(function*() {
        const recorder = yield* Recorder.make
        const path = `addresses-${crypto.randomUUID()}`
        const requests = [
          { method: "POST", path: "a", v: 1 },
          { method: "DELETE", path: "customers/all", v: 2 },
          { method: "PUT", path: "c", v: 3 },
          { method: "POST", path: "a", v: 4 }
        ]
        const rows = code("Rows", "return $input.first().json.body.requests.map((json) => ({ json }))")
        const send = (name: string) =>
          node(name, "httpRequest", 4.2, {
            method: "={{ $json.method }}",
            url: `=${recorder.url}/${name}/{{ $json.path }}`,
            sendBody: true,
            specifyBody: "json",
            jsonBody: "={{ { v: $json.v } }}",
            options: {}
          })
        const nodes = [
          webhook(path),
          rows,
          send("Do"),
          node("Loop", "splitInBatches", 3, { batchSize: 1, options: {} }),
          send("Each")
        ]
        const links: ReadonlyArray<Link> = [
          ["Orders", "Rows"],
          ["Rows", "Do"],
          ["Rows", "Loop"],
          ["Loop", "Each", 1],
          ["Each", "Loop"]
        ]
        const id = yield* made("addresses", nodes, [], { connections: connected(links) })
        yield* scenarios.publish(id)
        const received = (from: number) => recorder.lines().slice(from).toSorted()
        const named = (sent: unknown) =>
          arr(sent).map(obj).flatMap((row) =>
            Array.from({ length: Number(row?.["items"]) }, () => String(row?.["to"]).replace(recorder.url, ""))
          ).toSorted()
        const live = yield* test(id, { mode: "live", testData: { requests } })
        assert.lengthOf(received(0), 8)
        assert.deepStrictEqual(named(live.sent), received(0))
        const [twice] = arr(live.sent).map(obj)
        assert.deepInclude(twice, { node: "Do", to: `POST ${recorder.url}/Do/a`, items: 2 })
        assert.deepStrictEqual(twice?.["values"], [{ jsonBody: { v: 1 } }, { jsonBody: { v: 4 } }])

        // A replay would have sent the same, and sends nothing.
        const replayed = yield* test(id, { replay: live.executionId })
        assert.lengthOf(received(0), 8)
        assert.deepStrictEqual(named(replayed.sent), received(0))
        assert.isTrue(arr(replayed.sent).every((row) => obj(row)?.["pinned"] === true))

        const cases = [requests.slice(0, 1), requests.slice(1, 3), requests].map((some) => ({
          testData: { requests: some }
        }))
        const compared = yield* test(id, { mode: "live", cases, against: live.executionId })
        assert.lengthOf(compared.logs, 3)
        assert.deepStrictEqual(compared.differ?.map((each) => each["case"]), ["1", "2"])
        assert.strictEqual(compared.same, 1)
        // The case that is as before is not among them.
        const own = compared.cases?.flatMap(({ sent }) => named(sent)) ?? []
        assert.deepStrictEqual([...own, ...recorder.lines().slice(0, 8)].toSorted(), received(8))
      }),
    120_000
  )
}

/** Adds the tests of what a replay sends to a suite; the releases do not differ in it. */
export const sendingNothing = (it: It) => {
  it.effect(
    "replay: nothing is sent by any code, and every node that could send is named",
    () =>
      Effect.gen(function*() {
        const recorder = yield* Recorder.make
        const path = `sending-${crypto.randomUUID()}`
        const senders = sending(recorder.url)
        const harmless = [
          ...expressions(recorder.url),
          code("Computes", "return items.map(({ json }) => ({ json: { keys: Object.keys(json).length } }))")
        ]
        const nodes = [...senders, ...harmless]
        const links: ReadonlyArray<Link> = nodes.map(({ name }) => ["Orders", name])
        const id = yield* made("sends", [webhook(path), ...nodes], [], { connections: connected(links) })
        yield* scenarios.publish(id)
        const { executionId } = yield* happened(id, path, { n: 1 })
        const sent = recorder.lines().length
        const forms = new Set(recorder.lines().map((line) => /form=([\w-]+)/.exec(line)?.[1] ?? ""))
        assert.includeMembers([...forms], ["code-0", "code-1", "code-2", "code-3", "code-4", "http"])
        assert.isAtLeast(forms.size, 30)

        const again = yield* test(id, { replay: executionId })
        assert.deepStrictEqual(recorder.lines().slice(sent), [])
        const held = new Set([...again.pinned ?? [], ...again.notRun ?? []])
        assert.deepStrictEqual(senders.flatMap(({ name }) => held.has(name) ? [] : [name]), [])
        assert.includeMembers([...again.ran ?? []], ["Computes"])
        yield* tools.testWorkflow.call({ workflowId: id, mode: "auto", cases: [{ replay: executionId }] })
        yield* tools.workflowProve.call({ workflowId: id, executions: [executionId] })
        yield* tools.workflowProve.call({ workflowId: id, executions: [executionId], drill: true })
        yield* tools.retryExecution.call({ ids: [executionId], from: "start", dryRun: true })
        assert.deepStrictEqual(recorder.lines().slice(sent), [])
      }),
    400_000
  )
}
