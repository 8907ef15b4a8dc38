/** `rename` and n8n's own `renameNode`, on the same workflows. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { type Obj, obj } from "../../../src/base/Json.ts"
import { base, edit, flow, node, nodeOf } from "./edits.ts"

const require = createRequire(realpathSync("node_modules/n8n-workflow/package.json"))
const { Workflow } = require("n8n-workflow") as {
  Workflow: new(options: Obj) => {
    readonly nodes: { readonly [name: string]: { readonly parameters: Obj } }
    readonly renameNode: (from: string, to: string) => void
  }
}

const [form, html, code, set] = [`${base}form`, `${base}html`, `${base}code`, `${base}set`]

/** The parameters of a node that names others, after `A b` has become `Z z`. */
const renamed = (type: string, parameters: Obj) => {
  const nodes = () => [node("A b", set, 3), node("B", set, 3), node("User", type, 1, structuredClone(parameters))]
  const theirs = new Workflow({
    nodes: nodes(),
    connections: {},
    active: false,
    nodeTypes: { getByNameAndVersion: () => undefined }
  })
  theirs.renameNode("A b", "Z z")
  const { changes, workflow } = edit(flow(nodes()), { op: "rename", node: "A b", to: "Z z" })
  return {
    changes,
    ours: nodeOf(workflow, "User")["parameters"],
    // n8n adds keys without a value.
    theirs: JSON.parse(JSON.stringify(obj(theirs.nodes["User"])?.["parameters"])) as unknown
  }
}

const Piece = Schema.Literals([
  "$('A b').item.json.x",
  "$(\"A b\").first()",
  "$node[\"A b\"].json",
  "$node['B'].json",
  "$('B').all()",
  "$item(0).$node[\"A b\"].json.x",
  "$items(\"A b\", 0)",
  " + ",
  "{{ ",
  " }}",
  "{",
  "}",
  "}}",
  "(",
  ")",
  ", ",
  "\n",
  "<p>",
  "日本",
  "\\"
])
const Text = Schema.Array(Piece).check(Schema.isMinLength(1), Schema.isMaxLength(9))

describe("rename changes everything that n8n's editor renames", () => {
  it.prop(
    "in everything that is evaluated, valid or not",
    { pieces: Text, type: Schema.Literals([set, html, form, code]) },
    ({ pieces, type }) => {
      const text = pieces.join(" ")
      const { ours, theirs } = renamed(type, {
        value: `=${text}`,
        literal: "$('A b')",
        list: { values: [{ value: `=${text}` }] },
        ...(type === code ? { jsCode: text } : {}),
        // n8n changes what is outside of brackets, too, which no node evaluates.
        ...(type === html ? { html: `{{ ${text}` } : {}),
        ...(type === form ? { formFields: { values: [{ fieldType: "html", html: `{{ ${text}` }] } } : {})
      })
      assert.deepStrictEqual(ours, theirs)
    }
  )
})

it.each<[name: string, type: string, before: Obj, after: Obj]>([
  ["a query", `${base}postgres`, { query: "SELECT {{ $('A b').item }}" }, { query: "SELECT {{ $('Z z').item }}" }],
  ["a Function node", `${base}function`, { functionCode: "$items('A b')" }, { functionCode: "$items('Z z')" }],
  ["backticks", set, { value: "={{ $(`A b`).item.json.a }}" }, { value: "={{ $(`Z z`).item.json.a }}" }],
  ["spaces", set, { value: "={{ $( 'A b' ).item.json.a }}" }, { value: "={{ $( 'Z z' ).item.json.a }}" }]
])("rename follows where n8n's editor does not: %s", (_, type, before, after) => {
  const { ours, theirs } = renamed(type, before)
  assert.deepStrictEqual(theirs, before)
  assert.deepStrictEqual(ours, after)
})
