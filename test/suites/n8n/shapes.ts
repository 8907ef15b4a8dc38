/** Workflows with a chain to extract; a webhook answers with the items of the last node. */
import type { Obj } from "../../../src/base/Json.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, connected, type Link, set } from "./builders.ts"

/** A chain of a workflow. */
export interface Shape {
  readonly nodes: ReadonlyArray<Obj>
  readonly links: ReadonlyArray<Link>
  readonly extract: ReadonlyArray<string>
  readonly settings?: Obj
}

export const orders = {
  tag: "t1",
  orders: [
    { id: 1, name: "Ada", amount: 5, item: "own", "a.b": 1 },
    { id: 2, name: "Bob", amount: 1 },
    { id: 3, name: "花子", amount: 7 }
  ]
}

export const hook = (path: string) =>
  node("Hook", "webhook", 2, {
    path,
    httpMethod: "POST",
    responseMode: "lastNode",
    responseData: "allEntries"
  }, { webhookId: path })

const split = node("Split", "splitOut", 1, { fieldToSplitOut: "body.orders" })

/** Condition of an If or Filter: the amount is over 3. */
const over = (name: string, type: string, limit = 3) =>
  node(name, type, 2.2, {
    conditions: {
      options: { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 2 },
      combinator: "and",
      conditions: [{
        id: "1",
        leftValue: "={{ $json.amount }}",
        rightValue: limit,
        operator: { type: "number", operation: "gt" }
      }]
    },
    options: {}
  })

const double = set("A", "{ ...$json, a: $json.amount * 2 }")
const end = set("End", "{ ...$json, end: true }")
const line = (...nodes: ReadonlyArray<Obj>): Pick<Shape, "links" | "nodes"> => ({
  nodes: [split, ...nodes],
  links: chain("Hook", "Split", ...nodes.map(({ name }) => String(name)))
})
const group = (...extract: ReadonlyArray<string>) => ({ extract })

/** Chains that can be extracted. */
export const shapes: Readonly<Record<string, Shape>> = {
  "whole items": { ...line(double, set("B", "{ ...$json, b: $json.a + 1 }"), end), ...group("A", "B") },
  "fields of nodes outside": {
    ...line(
      set("A", "{ a: $('Split').item.json.name, tag: $('Hook').first().json.body.tag }"),
      set("B", "{ ...$json, b: $('Split').item.json['a.b'] ?? 'none', c: $('Hook').item.json.body.orders.length }"),
      end
    ),
    ...group("A", "B")
  },
  "paths of fields": {
    ...line(
      node("A", "set", 3.4, {
        assignments: {
          assignments: [
            { id: "1", name: "tag", type: "string", value: "={{ $('Hook').item.json.body.tag }}" },
            {
              id: "2",
              name: "who",
              type: "string",
              value: "=Dear {{ $('Split').item.json.name }}, {{ $json.amount }}"
            },
            { id: "3", name: "no", type: "string", value: "={{ $('Hook').item.json.headers.none.none }}" }
          ]
        },
        options: {}
      }),
      end
    ),
    ...group("A")
  },
  "matching items through a filter": {
    ...line(over("F", "filter"), set("A", "{ a: 1 }"), set("End", "{ ...$json, name: $('Split').item.json.name }")),
    ...group("F", "A")
  },
  "readers of the exit": {
    ...line(
      double,
      set("Gap", "{ gap: true }"),
      set("End", "{ x: $('A').item.json.a, first: $('A').first().json.name, count: $('A').all().length }")
    ),
    ...group("A")
  },
  "no items left": { ...line(over("F", "filter", 99), double, end), ...group("F", "A") },
  "branches that join": {
    nodes: [
      split,
      over("If", "if"),
      set("Yes", "{ ...$json, yes: 1 }"),
      set("No", "{ ...$json, no: 1 }"),
      node("Merge", "merge", 3, {}),
      end
    ],
    links: [
      ...chain("Hook", "Split", "If"),
      ["If", "Yes"],
      ["If", "No", 1],
      ["Yes", "Merge"],
      ["No", "Merge", 0, 1],
      ["Merge", "End"]
    ],
    ...group("If", "Yes", "No", "Merge")
  },
  "one branch of an If": { ...line(over("If", "if"), double, end), ...group("If", "A") },
  "code over all items": {
    ...line(
      code("A", "return $input.all().map(({ json }) => ({ json: { n: json.name } }))"),
      code(
        "B",
        "const { tag } = $('Hook').first().json.body // of $('Hook')\nreturn [{ json: { tag, n: $input.all().length } }]"
      ),
      end
    ),
    ...group("A", "B")
  },
  "binary data read inside": {
    ...line(
      node("File", "convertToFile", 1.1, { operation: "toJson", mode: "each", options: {} }),
      node("Read", "extractFromFile", 1, { operation: "fromJson", options: {} }),
      set("A", "{ ...$json, tag: $('Hook').first().json.body.tag }"),
      end
    ),
    ...group("Read", "A")
  },
  "body of a loop": {
    nodes: [
      split,
      node("Loop", "splitInBatches", 3, { options: {} }),
      double,
      set("B", "{ ...$json, tag: $('Hook').first().json.body.tag }"),
      end
    ],
    links: [
      ...chain("Hook", "Split", "Loop", "End"),
      ["Loop", "A", 1],
      ...chain("A", "B", "Loop")
    ],
    ...group("A", "B")
  },
  "error outputs": {
    nodes: [
      split,
      node("A", "code", 2, {
        mode: "runOnceForEachItem",
        jsCode: "if ($json.amount > 3) throw new Error('too much')\nreturn { json: { ok: $json.name } }"
      }, { onError: "continueErrorOutput" }),
      node("Merge", "merge", 3, {}),
      set("End", "{ ok: $json.ok, error: String($json.error).slice(0, 8) }")
    ],
    links: [
      ...chain("Hook", "Split", "A", "Merge", "End"),
      ["A", "Merge", 1, 1]
    ],
    ...group("A", "Merge")
  },
  "the end of a workflow": { ...line(double, end), ...group("A", "End") },
  "names of any kind and a time zone": {
    ...line(
      set("注文 'a' \"b\"", "{ ...$json, zone: $now.zoneName, off: $now.offset }"),
      set(
        "B",
        "{ n: $('注文 \\'a\\' \"b\"').item.json.name, zone: $json.zone, off: $json.off, t: $('Hook').first().json.body.tag }"
      ),
      end
    ),
    ...group("注文 'a' \"b\"", "B"),
    settings: { timezone: "Asia/Tokyo" }
  },
  "whole items of nodes outside": {
    ...line(
      set(
        "A",
        "{ ...$('Split').item.json, path: $('Hook').first().json.webhookUrl, all: $('Hook').first().json['body'] }"
      ),
      end
    ),
    ...group("A")
  },
  "an item where none is left": {
    ...line(
      { ...over("F", "filter", 99), alwaysOutputData: true },
      set("B", "{ b: $('Hook').first().json.body.tag }"),
      end
    ),
    ...group("F", "B")
  },
  "a disabled node": { ...line({ ...double, disabled: true }, set("B", "{ ...$json, b: 1 }"), end), ...group("A", "B") }
}

export const workflowOf = (name: string, path: string, { links, nodes, settings = {} }: Shape) => ({
  name,
  nodes: [hook(path), ...nodes].map((each, index) => ({ ...each, position: [index * 220, 0] })),
  connections: connected(links),
  settings: { executionOrder: "v1", ...settings }
})
