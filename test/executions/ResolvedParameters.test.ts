import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Tool from "../../src/answer/Tool.ts"
import { getExecutionByNode } from "../../src/tools/executions/getExecutionByNode.ts"
import { ask, document, failed, from, holding, node, run } from "./runData.ts"

const orders = Array.from({ length: 4 }, (_, no) => ({
  no,
  amount: no / 2,
  customer: { name: `N${no}` },
  apiKey: `canary-${no}`,
  ...(no === 2 ? {} : { email: `u${no}@x.example` })
}))

const plain = orders.map((json) => ({ json }))

const linked = (jsons: ReadonlyArray<object>, first = 0, more: object = {}) =>
  jsons.map((json, index) => ({ json, pairedItem: { item: first + index, ...more } }))

const sourceOverwrite = { previousNode: "Load", previousNodeOutput: 0, previousNodeRun: 0 }

/** A loop of two batches over four orders, an If before it, and a node whose parameters are asked for. */
const execution = (parameters: object, more: { readonly asked?: object; readonly askedRun?: object } = {}) =>
  document({
    Hook: [run(0, { main: [[{ json: { body: { shop: "Kyoto" } } }]] })],
    Load: [run(1, { main: [plain] }, { source: [from("Hook")] })],
    Loop: [
      run(2, { main: [[], linked(orders.slice(0, 2))] }, { source: [from("Load")] }),
      run(4, { main: [[], linked(orders.slice(2), 2, { sourceOverwrite })] }, { source: [from("Asked")] })
    ],
    Asked: [
      run(3, { main: [linked(orders.slice(0, 2))] }, { source: [from("Loop", 1)] }),
      run(5, { main: [linked(orders.slice(2).map((order) => ({ ...order, sent: order.no })))] }, {
        source: [from("Loop", 1, 1)],
        ...more.askedRun
      })
    ],
    Later: [run(6, { main: [[{ json: { later: true } }]] }, { source: [from("Asked", 0, 1)] })]
  }, {
    nodes: [
      node("Hook", "n8n-nodes-base.noOp"),
      node("Load", "n8n-nodes-base.noOp"),
      node("Loop", "n8n-nodes-base.noOp"),
      node("Asked", "n8n-nodes-base.set", { parameters, ...more.asked }),
      node("Later", "n8n-nodes-base.noOp"),
      node("Never", "n8n-nodes-base.noOp")
    ],
    connections: {
      Hook: { main: [[{ node: "Load", type: "main", index: 0 }]] },
      Load: { main: [[{ node: "Loop", type: "main", index: 0 }]] },
      Loop: { main: [[], [{ node: "Asked", type: "main", index: 0 }]] },
      Asked: { main: [[{ node: "Loop", type: "main", index: 0 }, { node: "Later", type: "main", index: 0 }]] }
    }
  })

const look = (one: ReturnType<typeof document>, args: object = {}) =>
  ask(getExecutionByNode, { id: "77", nodeName: "Asked", itemOffset: 0, itemLimit: 1, ...args }).pipe(
    Effect.map(({ data }) => data),
    Effect.provide(holding(one))
  )

/** Values of expressions at the first item of the first run. */
const valuesOf = Effect.fnUntraced(function*(expressions: { readonly [name: string]: string }, args: object = {}) {
  const { parameters, unresolved = [] } = yield* look(execution(expressions), { runIndex: 0, ...args })
  return { values: parameters as { readonly [name: string]: unknown }, unresolved }
})

describe("the values that expressions had", () => {
  it.effect("are those of the item, its origins, and the nodes before", () =>
    Effect.gen(function*() {
      const expected: Readonly<Record<string, readonly [expression: string, value: unknown]>> = {
        json: ["={{ $json.customer.name }}", "N3"],
        kind: ["={{ $json.amount + 1 }}", 2.5],
        text: ["=No {{ $json.no }} of {{ $input.all().length }}, {{ $json.email }}", "No 3 of 2, u3@x.example"],
        input: ["={{ $input.first().json.no + $input.last().json.no + $input.item.json.no }}", 8],
        paired: ["={{ $('Load').item.json.no }}", 3],
        matching: ["={{ $('Load').itemMatching(0).json.no }}", 2],
        first: ["={{ $('Hook').first().json.body.shop }}", "Kyoto"],
        all: ["={{ $('Load').all().filter(({ json }) => json.amount > 0.5).length }}", 2],
        node: ["={{ $node['Load'].json.no }}", 1],
        previous: ["={{ $prevNode.name }} {{ $prevNode.outputIndex }} {{ $prevNode.runIndex }}", "Loop 1 1"],
        run: ["={{ $runIndex }} {{ $itemIndex }} {{ $execution.id }} {{ $execution.mode }}", "1 1 77 production"],
        workflow: ["={{ $workflow.name }} {{ $workflow.id }}", "Handmade wf1"],
        executed: ["={{ $('Later').isExecuted }}", false],
        missing: ["={{ $json.nothing }}", null],
        falsy: [
          "=[{{ $json.nothing }}|{{ false }}|{{ 0 }}|{{ [1, [2, null]] }}|{{ $json.customer }}]",
          "[|false|0|1,2,|[object Object]]"
        ],
        literal: ["=no code", "no code"],
        written: ["{{ $json.no }}", "{{ $json.no }}"]
      }
      const { unresolved, values } = yield* valuesOf(Record.map(expected, ([each]) => each), {
        runIndex: 1,
        itemOffset: 1
      })
      assert.deepStrictEqual<unknown>(values, Record.map(expected, ([, value]) => value))
      assert.deepStrictEqual(unresolved, [])
    }))

  it.effect("stay as written where n8n's records do not determine them, and say why", () =>
    Effect.gen(function*() {
      const expected: Readonly<Record<string, readonly [expression: string, reason: string]>> = {
        now: ["={{ $now.toISO() }}", "n8n does not record the time"],
        date: ["={{ new Date($json.at).getHours() }}", "a date depends on n8n's clock and time zone"],
        vars: ["={{ $vars.shop }}", "'$vars' is not known here"],
        ai: ["={{ $fromAI('shop') }}", "n8n does not record the model's values"],
        active: ["={{ $workflow.active }}", "n8n does not record whether the workflow was active"],
        resume: ["={{ $execution.resumeUrl }}", "n8n does not record the URL"],
        later: ["={{ $('Later').first().json.later }}", "'Later' had not run"],
        never: ["={{ $('Never').item.json.a }}", "n8n's links do not lead to one item of 'Never'"],
        unknown: ["={{ $('Nowhere').first() }}", "there is no such node"],
        extension: ["={{ $json.email.isEmail() }}", "a string has no method 'isEmail'"],
        broken: ["={{ $json.no + }}", "Unexpected token"],
        open: ["=a {{ $json.no", "a bracket is not closed"],
        half: ["=a {{ $json.no }} {{ $today }}", "n8n does not record the time"]
      }
      const expressions = Record.map(expected, ([each]) => each)
      const { unresolved, values } = yield* valuesOf(expressions)
      assert.deepStrictEqual<unknown>(values, expressions)
      const reasons = Object.entries(expected).map(([path, [, reason]]) => ({ path, reason }))
      assert.sameDeepMembers([...unresolved], reasons)
    }))

  it.effect("are said to be all, some or none", () =>
    Effect.gen(function*() {
      const as = (parameters: object, args: object = {}) =>
        Effect.map(look(execution(parameters), args), ({ parametersAs, parametersItem, unresolved }) => [
          parametersAs,
          parametersItem,
          unresolved?.map(({ path }) => path)
        ])
      const [item, now] = ["={{ $json.no }}", "={{ $now }}"]
      assert.deepStrictEqual(yield* as({ a: item, b: { c: [item] } }), ["resolved", 0, undefined])
      assert.deepStrictEqual(yield* as({ a: item, b: { c: [now] } }), ["partly", 0, ["b.c[0]"]])
      assert.deepStrictEqual(yield* as({ a: now }), ["written", undefined, ["a"]])
      assert.deepStrictEqual(yield* as({ a: "plain" }), [undefined, undefined, undefined])
      assert.deepStrictEqual(yield* as({ a: item }, { where: "no === 3" }), ["resolved", 1, undefined])
      // A condition on the output alone chooses the item that its items came from.
      assert.deepStrictEqual(yield* as({ a: item }, { where: "sent === 3" }), ["resolved", 1, undefined])
    }))

  it.effect("are not read from the items of a Code node on n8n 1, which cannot always", () =>
    Effect.gen(function*() {
      const one = execution({ first: "={{ $('Load').first().json.no }}", own: "={{ $json.no }}" })
      const { nodes } = one["workflowData"] as { readonly nodes: ReadonlyArray<{ readonly name: string }> }
      const coded = nodes.map((each) => each.name === "Load" ? { ...each, type: "n8n-nodes-base.code" } : each)
      const of = (more: object) =>
        Effect.map(
          look({ ...one, ...more, workflowData: { ...one["workflowData"] as object, nodes: coded } }, { runIndex: 0 }),
          ({ parameters, unresolved }) => [parameters, unresolved?.map(({ path }) => path)]
        )
      assert.deepStrictEqual<unknown>(yield* of({}), [
        { first: "={{ $('Load').first().json.no }}", own: 0 },
        ["first"]
      ])
      assert.deepStrictEqual<unknown>(yield* of({ workflowVersionId: "v1" }), [{ first: 0, own: 0 }, undefined])
    }))

  it.effect("are those of the failing item, unless another one is chosen", () =>
    Effect.gen(function*() {
      const error = { message: "broken", context: { itemIndex: 1 } }
      const { data: _, ...askedRun } = failed(5, error)
      const one = execution({ no: "={{ $json.no }}" }, { askedRun: { ...askedRun, source: [from("Loop", 1, 1)] } })
      assert.deepStrictEqual<unknown>((yield* look(one)).parameters, { no: 3 })
      assert.deepStrictEqual<unknown>((yield* look(one, { where: "no === 2" })).parameters, { no: 2 })
    }))

  it.effect("are those of the first item for a node that runs once", () =>
    Effect.gen(function*() {
      const one = execution({ all: "={{ $input.all().length }}", no: "={{ $json.no }}" }, {
        asked: { executeOnce: true }
      })
      assert.deepStrictEqual<unknown>((yield* look(one)).parameters, { all: 2, no: 2 })
    }))

  it.effect("contain no secret, nor what only a secret decides", () =>
    Effect.gen(function*() {
      const expressions = {
        url: "=https://x.example/?q={{ $json.apiKey }}",
        length: "={{ $json.apiKey.length }}",
        decided: "={{ $json.apiKey === 'canary-0' ? 'yes' : 'no' }}",
        key: "={{ $json[$json.apiKey].x }}",
        other: "={{ $json.no }}"
      }
      const { unresolved, values } = yield* valuesOf(expressions)
      assert.deepStrictEqual<unknown>(values, {
        ...expressions,
        url: "https://x.example/?q=[redacted]",
        // Whatever the key is, n8n swallows the error.
        key: null,
        other: 0
      })
      assert.deepStrictEqual(unresolved.map(({ path }) => path), ["length", "decided"])
      assert.notInclude(JSON.stringify(unresolved), "canary")
      const shown = yield* valuesOf({ url: "={{ $json.apiKey }}" }).pipe(
        Effect.provideService(Tool.RedactSecrets, false)
      )
      assert.deepStrictEqual<unknown>(shown.values, { url: "canary-0" })
    }))

  it.effect("take bounded time, whatever an expression reads", () =>
    Effect.gen(function*() {
      const rows = Array.from(
        { length: 5_000 },
        (_, no) => ({ json: { no, text: "x".repeat(40) }, pairedItem: { item: no } })
      )
      const many = document({
        Rows: [run(0, { main: [rows] })],
        Asked: [run(1, { main: [rows] }, { source: [from("Rows")] })]
      }, {
        nodes: [
          node("Rows", "n8n-nodes-base.noOp"),
          node("Asked", "n8n-nodes-base.set", {
            parameters: {
              same:
                "={{ Array.from({ length: 3000 }).map(() => $json.no + $('Rows').all().length + $('Rows').item.json.no).length }}",
              each: "={{ $input.all().map((_, index) => $('Rows').itemMatching(index).json.no).length }}"
            }
          })
        ],
        connections: { Rows: { main: [[{ node: "Asked", type: "main", index: 0 }]] } }
      })
      const { parameters, unresolved } = yield* look(many)
      assert.deepInclude(parameters as object, { same: 3_000 })
      assert.deepStrictEqual(unresolved, [{ path: "each", reason: "it reads too many items" }])
    }))

  it.effect("are not concluded from items that n8n hides", () =>
    Effect.gen(function*() {
      const one = execution({ no: "={{ $json.no }}", all: "={{ $input.all().length }}" })
      const hidden = {
        ...one,
        workflowData: { ...one["workflowData"] as object, settings: { redactionPolicy: "all" } }
      }
      const data = yield* look(hidden, { where: "no === 1", fields: ["no"] })
      assert.deepInclude<unknown>(data, {
        redacted: true,
        parametersAs: "written",
        parameters: { no: "={{ $json.no }}", all: "={{ $input.all().length }}" }
      })
      assert.deepStrictEqual<unknown>(data.output, {
        output: "main[0]",
        note: "n8n hides these items (redaction).",
        items: []
      })
      assert.deepStrictEqual(data.input.sources.map(({ count }) => count), [2])
    }))
})
