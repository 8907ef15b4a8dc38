/** Workflows in shapes that models and other tools write, and what they mean. */
import type { Obj } from "../../../src/base/Json.ts"
import { main, node, to } from "../workflows.ts"

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
  readonly leaves?: ReadonlyArray<number> | undefined
}

const assignment = { id: "1", name: "a", value: "b", type: "string" }
const condition = { id: "c", leftValue: "a", rightValue: "b", operator: { type: "string", operation: "equals" } }
const options = {}
const filter = {
  options: { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 2 },
  combinator: "and",
  // False: what an If, a Filter or a Switch lets through shows that n8n reads it.
  conditions: [condition]
}
const rule = { conditions: filter }
const pair = { name: "a", value: "b" }

/** One parameter beside empty options, as a node has it. */
const beside = (name: string) => (value: unknown): Obj => ({ [name]: value, options })

const inHolder = (outer: string, inner: string) => (value: unknown): Obj => beside(outer)({ [inner]: value })

const assignments = beside("assignments")
const inAssignments = inHolder("assignments", "assignments")
const conditions = beside("conditions")
const rules = beside("rules")
const aggregated = inHolder("fieldsToAggregate", "fieldToAggregate")
const values = (value: Obj): Obj => ({ values: value })
const request = (more: Obj): Obj => ({ url: "http://127.0.0.1:9/", options, ...more })

type Row = readonly [name: string, at: string, parameters: Obj, meant?: Obj, leaves?: ReadonlyArray<number>]

const rows = (type: string, version: number, all: ReadonlyArray<Row>): ReadonlyArray<MisshapenNode> =>
  all.map(([name, at, parameters, meant, leaves]) => ({ name, type, version, at, parameters, meant, leaves }))

const subject = { name: "subject", value: "hi", type: "string" }
const total = { name: "total", value: 5, type: "number" }
const whole = inAssignments([assignment])
const inRules = rules({ values: [rule] })

export const misshapenNodes: ReadonlyArray<MisshapenNode> = [
  ...rows("set", 3.4, [
    ["assignments as one object", "assignments.assignments", inAssignments(assignment), whole, [1]],
    ["assignments by index", "assignments.assignments", inAssignments({ 0: assignment }), whole],
    ["assignments as JSON", "assignments.assignments", inAssignments(JSON.stringify([assignment])), whole],
    ["assignments without their holder", "assignments", assignments([assignment]), whole, [1]],
    [
      "assignments as names with values",
      "assignments",
      assignments({ subject: "hi", total: 5 }),
      inAssignments([subject, total]),
      [1]
    ],
    [
      "assignments as names with values, held",
      "assignments.assignments",
      inAssignments({ tags: ["a"] }),
      inAssignments([{ name: "tags", value: ["a"], type: "array" }]),
      [1]
    ],
    [
      "an assignment without its name",
      "assignments.assignments[0].name",
      inAssignments([{ value: "b", type: "string" }])
    ],
    [
      "an assignment without its type",
      "assignments.assignments[0].type",
      inAssignments([{ name: "a", value: true }]),
      inAssignments([{ name: "a", value: true, type: "boolean" }]),
      [1]
    ],
    [
      "an expression without its type",
      "assignments.assignments[0].type",
      inAssignments([{ name: "a", value: "={{ 1 }}" }])
    ]
  ]),
  ...rows("set", 2, [
    ["values as one object", "values.string", values({ string: pair }), values({ string: [pair] }), [1]],
    ["values of an unknown kind", "values.text", values({ text: [pair] })]
  ]),
  ...rows("if", 2.2, [
    [
      "conditions as one object",
      "conditions.conditions",
      conditions({ ...filter, conditions: condition }),
      conditions(filter),
      [0, 1]
    ],
    ["conditions without their holder", "conditions", conditions([condition]), conditions(filter), [0, 1]],
    ["conditions as text", "conditions.conditions", conditions({ ...filter, conditions: "a = b" })]
  ]),
  ...rows("if", 1, [
    [
      "old conditions as one object",
      "conditions.string",
      { conditions: { string: { value1: "a", value2: "b" } } },
      { conditions: { string: [{ value1: "a", value2: "b" }] } },
      [0, 1]
    ]
  ]),
  ...rows("switch", 3.2, [
    ["a rule without its list", "rules.values", rules({ values: rule }), inRules, [0]],
    ["rules under another name", "rules", rules({ rules: [rule] }), inRules, [0]],
    ["rules without their holder", "rules", rules([rule]), inRules],
    [
      "conditions of an older Switch",
      "rules.conditions",
      rules({ conditions: [{ value1: "a", operation: "equal", value2: "b" }] })
    ],
    ["rules as text", "rules", rules("all")]
  ]),
  ...rows("httpRequest", 4.2, [
    [
      "headers as names and values",
      "headerParameters",
      request({ sendHeaders: true, headerParameters: { "X-A": "1" } }),
      request({ sendHeaders: true, headerParameters: { parameters: [{ name: "X-A", value: "1" }] } })
    ],
    [
      "an option as a list of one",
      "options.redirect",
      request({ options: { redirect: [{ redirect: { followRedirects: false } }] } }),
      request({ options: { redirect: { redirect: { followRedirects: false } } } })
    ]
  ]),
  ...rows("aggregate", 1, [
    [
      "one field to aggregate",
      "fieldsToAggregate.fieldToAggregate",
      aggregated({ fieldToAggregate: "headers" }),
      aggregated([{ fieldToAggregate: "headers" }]),
      [1]
    ]
  ])
]

/** Text where n8n reads a list: it takes each character for an item, so that nothing is written. */
export const unreadable: MisshapenNode = {
  name: "categories as an expression",
  type: "@n8n/n8n-nodes-langchain.textClassifier",
  version: 1,
  at: "categories.categories",
  parameters: { inputText: "a", categories: { categories: "={{ [{ category: 'a' }, { category: 'b' }] }}" } },
  meant: undefined
}

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
