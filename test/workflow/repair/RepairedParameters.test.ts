import { assert, describe, it } from "@effect/vitest"
import type { Obj } from "../../../src/base/Json.ts"
import { suggestion } from "../../../src/base/Nearest.ts"
import * as ParameterRules from "../../../src/catalogue/parameters/ParameterRules.ts"
import { isMultiple } from "../../../src/catalogue/parameters/ParameterValues.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import { repaired } from "../../../src/workflow/repair/RepairedParameters.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import { lookups } from "../check/lookups.ts"

const same = (actual: unknown, expected: unknown, message?: string) =>
  assert.deepStrictEqual(actual, expected as never, message)

const condition = { leftValue: "a", rightValue: "b", operator: { type: "string", operation: "equals" } }
const filterOptions = { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 1 }
const conditions = (list: unknown) => ({ combinator: "and", conditions: list, options: filterOptions })
const assignment = { name: "a", value: "b", type: "string" }

/** An item of a group, with a value for its first parameter. */
const itemOf = ({ values }: NodeType.Group): Obj => {
  const text = values.find(({ default: initial, type }) => type === "string" && typeof initial === "string")
  const other = values.find(({ default: initial, type }) => type !== "notice" && initial !== undefined)
  return text !== undefined ? { [text.name]: "=x" } : other !== undefined ? { [other.name]: other.default } : {}
}

interface Malformed {
  readonly given: unknown
  /** Place of the problem below the parameter. */
  readonly at: string
  /** The value that it becomes; absent where it is unclear. */
  readonly meant?: unknown
}

/** Wrong forms of a list, and of the object around it; `of` puts the list into its place. */
const wrongLists = (item: unknown, at: string, of: (list: unknown) => unknown): ReadonlyArray<Malformed> => [
  { given: of(item), at, meant: of([item]) },
  { given: of({ 0: item, 1: item }), at, meant: of([item, item]) },
  { given: of(JSON.stringify([item])), at, meant: of([item]) },
  { given: of("some text"), at },
  { given: of(5), at }
]

/** Right values of a list-valued parameter, and wrong ones. */
const formsOf = (property: NodeType.Property): ReadonlyArray<Malformed> => {
  const { type } = property
  const [group] = NodeType.groups(property)
  const [choice] = NodeType.choices(property)
  if (type === "fixedCollection" && group !== undefined) {
    const item = itemOf(group)
    const { name } = group
    if (isMultiple(property)) return wrongLists(item, `.${name}`, (list) => ({ [name]: list }))
    return Object.keys(item).length === 0 ? [] : [
      { given: { [name]: [item] }, at: `.${name}`, meant: { [name]: item } },
      { given: { [name]: JSON.stringify(item) }, at: `.${name}`, meant: { [name]: item } },
      { given: [{ [name]: item }], at: "", meant: { [name]: item } },
      { given: { [name]: [item, item] }, at: `.${name}` }
    ]
  }
  if (type === "assignmentCollection") {
    return [
      ...wrongLists(assignment, ".assignments", (assignments) => ({ assignments })),
      { given: [assignment], at: "", meant: { assignments: [assignment] } },
      { given: assignment, at: "", meant: { assignments: [assignment] } },
      {
        given: { assignments: [{ name: "a", value: 5 }] },
        at: ".assignments[0].type",
        meant: { assignments: [{ name: "a", value: 5, type: "number" }] }
      },
      { given: { assignments: [{ name: "a", value: "={{ 5 }}" }] }, at: ".assignments[0].type" }
    ]
  }
  if (type === "filter") return wrongLists(condition, ".conditions", conditions)
  if (type === "collection") {
    return isMultiple(property) ? wrongLists({ a: 1 }, "", (list) => list) : [
      { given: [{}], at: "", meant: {} },
      { given: "some text", at: "" }
    ]
  }
  if (type === "multiOptions" && choice !== undefined) {
    return [
      { given: choice.value, at: "", meant: [choice.value] },
      { given: { 0: choice.value }, at: "", meant: [choice.value] },
      { given: JSON.stringify([choice.value]), at: "", meant: [choice.value] },
      { given: { a: choice.value }, at: "" }
    ]
  }
  return isMultiple(property) && type === "string"
    ? [{ given: "x", at: "", meant: ["x"] }, { given: { 0: "x", 1: "y" }, at: "", meant: ["x", "y"] }, {
      given: { a: "x" },
      at: ""
    }]
    : []
}

/** Parameters that show a property: the first value of each of its rules. */
const showing = ({ displayOptions }: NodeType.Property): Obj =>
  Object.fromEntries(
    Object.entries(displayOptions?.show ?? {}).flatMap(([name, [value]]) =>
      name.startsWith("@") || name.startsWith("/") || typeof value === "object" ? [] : [[name, value]]
    )
  )

interface Place {
  readonly property: NodeType.Property
  readonly path: string
  readonly parameters: (value: unknown) => Obj
}

/** Parameters at the top and in collections. */
const placesOf = ({ properties }: NodeType.Description): ReadonlyArray<Place> =>
  properties.flatMap((property) => {
    const { name } = property
    const top: Place = { property, path: name, parameters: (value) => ({ ...showing(property), [name]: value }) }
    const isInside = property.type === "collection" && !isMultiple(property)
    const members = isInside ? NodeType.members(property) : []
    // Those of one name depend on the parameters at the top.
    const unique = members.filter((member) => members.every((other) => other === member || other.name !== member.name))
    const inner = unique.map((member): Place => ({
      property: member,
      path: `${name}.${member.name}`,
      parameters: (value) => top.parameters({ ...showing(member), [member.name]: value })
    }))
    return [top, ...inner]
  })

const isWithin = (path: string, other: string) => path.startsWith(other) && /^(?:$|[.[])/.test(path.slice(other.length))

const descriptions = [...nodeTypes.all.values()].flatMap(({ descriptions, type }) =>
  descriptions.map((description) => ({ description, type, version: NodeType.versionsOf(description).at(-1) ?? 1 }))
)

describe("a value in the wrong shape", () => {
  it.each([0, 1, 2, 3])("is one problem at its place, and valid after its repair, in every type (part %i)", (part) => {
    let count = 0
    for (const { description, type, version: typeVersion } of descriptions.filter((_, index) => index % 4 === part)) {
      const problemsOf = (parameters: Obj) =>
        ParameterRules.problems(description, { typeVersion, parameters }, suggestion)
      const seen = new Set<string>()
      for (const { parameters, path, property } of placesOf(description)) {
        const forms = formsOf(property)
        // Of several with one name, those that are shown together may accept different forms.
        if (forms.length === 0 || seen.has(path)) continue
        for (const { at, given, meant } of forms) {
          const all = problemsOf(parameters(given)).filter((each) => isWithin(each.path, path))
          // It is not shown, or another of its name takes the value.
          if (all.every(({ shape }) => shape === undefined)) continue
          seen.add(path)
          count += 1
          const what = `${type} ${typeVersion} ${JSON.stringify(parameters(given))}: ${JSON.stringify(all)}`
          same(all.map((each) => each.path), [path + at], what)
          const result = repaired({ description, typeVersion, parameters: parameters(given) }, () => true, lookups)
          if (meant === undefined) {
            same([result.parameters, result.unclear.length], [parameters(given), 1], what)
          } else {
            same(result.parameters, parameters(meant), what)
            same(result.unclear, [], what)
            same(problemsOf(result.parameters).filter(({ shape }) => shape !== undefined), [], what)
          }
        }
      }
    }
    assert.isAbove(count, 1_000)
  })
})
