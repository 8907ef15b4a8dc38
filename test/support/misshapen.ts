/** Workflows in shapes that models and other tools write, and what they mean. */
import type { Obj } from "../../src/base/Json.ts"
import { main, node, to } from "./workflows.ts"

/** Parameters of one node, and the repaired ones; `undefined` where more than one thing can be meant. */
export interface MisshapenNode {
  readonly name: string
  readonly type: string
  readonly version: number
  readonly parameters: Obj
  /** Place of the problem below `parameters`. */
  readonly at: string
  readonly meant: Obj | undefined
  /** Number of items that leave by each output on a real n8n, after the repair; absent if it is not run there. */
  readonly leaves?: ReadonlyArray<number>
}

const assignment = { id: "1", name: "a", value: "b", type: "string" }
const condition = { id: "c", leftValue: "a", rightValue: "b", operator: { type: "string", operation: "equals" } }
const options = { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 2 }
const filter = { options, combinator: "and", conditions: [condition] }
const rule = { conditions: filter }

/** A condition that is false: what an If, a Filter or a Switch lets through shows that n8n reads it. */
const of = (
  name: string,
  [type, version]: readonly [type: string, version: number],
  at: string,
  parameters: Obj,
  meant?: Obj,
  leaves?: ReadonlyArray<number>
): MisshapenNode => ({ name, type, version, at, parameters, meant, ...leaves && { leaves } })

const set = ["set", 3.4] as const
const oldSet = ["set", 2] as const
const iff = ["if", 2.2] as const
const sw = ["switch", 3.2] as const

export const misshapenNodes: ReadonlyArray<MisshapenNode> = [
  of(
    "assignments as one object",
    set,
    "assignments.assignments",
    { assignments: { assignments: assignment }, options: {} },
    { assignments: { assignments: [assignment] }, options: {} },
    [1]
  ),
  of(
    "assignments by index",
    set,
    "assignments.assignments",
    { assignments: { assignments: { 0: assignment } }, options: {} },
    { assignments: { assignments: [assignment] }, options: {} }
  ),
  of(
    "assignments as JSON",
    set,
    "assignments.assignments",
    { assignments: { assignments: JSON.stringify([assignment]) }, options: {} },
    { assignments: { assignments: [assignment] }, options: {} }
  ),
  of(
    "assignments without their holder",
    set,
    "assignments",
    { assignments: [assignment], options: {} },
    { assignments: { assignments: [assignment] }, options: {} },
    [1]
  ),
  of(
    "assignments as names with values",
    set,
    "assignments",
    { assignments: { subject: "hi", total: 5 }, options: {} },
    {
      assignments: {
        assignments: [{ name: "subject", value: "hi", type: "string" }, { name: "total", value: 5, type: "number" }]
      },
      options: {}
    },
    [1]
  ),
  of(
    "assignments as names with values, held",
    set,
    "assignments.assignments",
    { assignments: { assignments: { tags: ["a"] } }, options: {} },
    { assignments: { assignments: [{ name: "tags", value: ["a"], type: "array" }] }, options: {} },
    [1]
  ),
  of(
    "an assignment without its name",
    set,
    "assignments.assignments[0].name",
    { assignments: { assignments: [{ value: "b", type: "string" }] }, options: {} }
  ),
  of(
    "an assignment without its type",
    set,
    "assignments.assignments[0].type",
    { assignments: { assignments: [{ name: "a", value: true }] }, options: {} },
    { assignments: { assignments: [{ name: "a", value: true, type: "boolean" }] }, options: {} },
    [1]
  ),
  of(
    "an expression without its type",
    set,
    "assignments.assignments[0].type",
    { assignments: { assignments: [{ name: "a", value: "={{ 1 }}" }] }, options: {} }
  ),
  of(
    "values as one object",
    oldSet,
    "values.string",
    { values: { string: { name: "a", value: "b" } } },
    { values: { string: [{ name: "a", value: "b" }] } },
    [1]
  ),
  of(
    "values of an unknown kind",
    oldSet,
    "values.text",
    { values: { text: [{ name: "a", value: "b" }] } }
  ),
  of(
    "conditions as one object",
    iff,
    "conditions.conditions",
    { conditions: { ...filter, conditions: condition }, options: {} },
    { conditions: filter, options: {} },
    [0, 1]
  ),
  of(
    "conditions without their holder",
    iff,
    "conditions",
    { conditions: [condition], options: {} },
    { conditions: filter, options: {} },
    [0, 1]
  ),
  of("conditions as text", iff, "conditions.conditions", {
    conditions: { ...filter, conditions: "a = b" },
    options: {}
  }),
  of(
    "old conditions as one object",
    ["if", 1],
    "conditions.string",
    { conditions: { string: { value1: "a", value2: "b" } } },
    { conditions: { string: [{ value1: "a", value2: "b" }] } },
    [0, 1]
  ),
  of("a rule without its list", sw, "rules.values", { rules: { values: rule }, options: {} }, {
    rules: { values: [rule] },
    options: {}
  }, [0]),
  of("rules under another name", sw, "rules", { rules: { rules: [rule] }, options: {} }, {
    rules: { values: [rule] },
    options: {}
  }, [0]),
  of("rules without their holder", sw, "rules", { rules: [rule], options: {} }, {
    rules: { values: [rule] },
    options: {}
  }),
  of("conditions of an older Switch", sw, "rules.conditions", {
    rules: { conditions: [{ value1: "a", operation: "equal", value2: "b" }] },
    options: {}
  }),
  of("rules as text", sw, "rules", { rules: "all", options: {} }),
  of(
    "headers as names and values",
    ["httpRequest", 4.2],
    "headerParameters",
    { url: "http://127.0.0.1:9/", sendHeaders: true, headerParameters: { "X-A": "1" }, options: {} },
    {
      url: "http://127.0.0.1:9/",
      sendHeaders: true,
      headerParameters: { parameters: [{ name: "X-A", value: "1" }] },
      options: {}
    }
  ),
  of(
    "an option as a list of one",
    ["httpRequest", 4.2],
    "options.redirect",
    { url: "http://127.0.0.1:9/", options: { redirect: [{ redirect: { followRedirects: false } }] } },
    { url: "http://127.0.0.1:9/", options: { redirect: { redirect: { followRedirects: false } } } }
  ),
  of(
    "one field to aggregate",
    ["aggregate", 1],
    "fieldsToAggregate.fieldToAggregate",
    { fieldsToAggregate: { fieldToAggregate: { fieldToAggregate: "headers" } }, options: {} },
    { fieldsToAggregate: { fieldToAggregate: [{ fieldToAggregate: "headers" }] }, options: {} },
    [1]
  )
]

/** Text where n8n reads a list: it takes each character for an item, so that nothing is written. */
export const unreadable: MisshapenNode = of(
  "categories as an expression",
  ["@n8n/n8n-nodes-langchain.textClassifier", 1],
  "categories.categories",
  { inputText: "a", categories: { categories: "={{ [{ category: 'a' }, { category: 'b' }] }}" } }
)

/** Connections of an If under keys that n8n does not follow, all of which mean `Yes` for true and `No` for false. */
export const misshapenOutputs: Readonly<Record<string, Obj>> = {
  numbers: { 0: [[to("Yes", "0")]], 1: [[to("No", "1")]] },
  "numbers of flat lists": { 0: [to("Yes")], 1: [to("No")] },
  names: { true: [[to("Yes")]], false: [[to("No")]] },
  "numbers below main": { main: { 0: [[to("Yes")]], 1: [to("No")] } },
  "numbers as outputs": { 0: [[to("Yes")]], 1: [[], [to("No")]] },
  "types of numbers": { main: [[to("Yes", "0")], [to("No", "1")]] },
  "a type in capitals": { Main: [[to("Yes")], [to("No")]] },
  ports: { "main[0]": [[to("Yes")]], "main[1]": [[to("No")]] }
}

/** Connections of an If in the shape that n8n follows. */
export const outputs = { main: [[to("Yes")], [to("No")]] }

/** An If whose condition is false. */
export const branches = (start: Obj, connections: Obj) => ({
  nodes: [
    start,
    node("Check", "if", 2.2, { conditions: filter, options: {} }),
    node("Yes", "noOp"),
    node("No", "noOp")
  ],
  connections: { [String(start["name"])]: main("Check"), Check: connections }
})
