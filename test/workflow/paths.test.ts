/** One grammar of paths: each path in an answer is accepted by edits, and leads to the value that it names. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Difference from "../../src/base/Difference.ts"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as JsonPath from "../../src/base/JsonPath.ts"
import * as Turn from "../../src/base/Turn.ts"
import * as Demo from "../../src/demo/Demo.ts"
import * as Inspection from "../../src/fleet/inspection/Inspection.ts"
import * as Expressions from "../../src/workflow/check/Expressions.ts"
import { ruled } from "../../src/workflow/check/WorkflowProblems.ts"
import * as WorkflowDiff from "../../src/workflow/diff/WorkflowDiff.ts"
import * as LiteralSecrets from "../../src/workflow/LiteralSecrets.ts"
import * as Uses from "../../src/workflow/Uses.ts"
import { Key } from "../support/arbitrary.ts"
import * as fixtures from "../support/scenarios/recorded.ts"
import { lookups } from "./check/lookups.ts"
import { attempt, base, edit, flow, hook, node, nodeOf, refusal } from "./edit/edits.ts"

/** Keys that a path must quote or could confuse with its own signs. */
const oddKeys = [
  ..."order no|a.b|a[0]|[]|[+]|0|12|| |it's|say \"hi\"|__proto__|constructor|parameters|nodes|notes".split("|"),
  ..."顧客|注文 番号|📦|x-request-id|$json|a\nb".split("|")
]

const OddKey = Schema.Union([Schema.Literals(oddKeys), Key])

const mark = "⟦new⟧"

/** A workflow whose nodes have something for every kind of answer at odd keys, of a known and of an unknown type. */
const odd = (keys: ReadonlyArray<string>): Obj => {
  const inside = keys.reduceRight<unknown>(
    (value, key, depth) => depth % 2 === 0 ? { [key]: value } : { [key]: [1, value] },
    {
      url: "http://old.example/x",
      expression: "={{ $('Gone').item.json.id }}",
      broken: "={{ 1 + }}",
      password: "Bearer sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"
    }
  )
  return flow([
    hook,
    node("Own", "n8n-nodes-own.thing", 1, obj(inside) ?? {}, { notes: "about http://old.example" }),
    node("Known", `${base}httpRequest`, 4.2, { url: "={{ $('Gone').item.json.url }}", options: obj(inside) ?? {} })
  ], { Hook: { main: [[{ node: "Own", type: "main", index: 0 }, { node: "Known", type: "main", index: 0 }]] } })
}

const corpus: ReadonlyArray<Obj> = [
  ...fixtures.names.map((name) => ({ ...fixtures.workflow(name) })),
  ...Demo.seed.workflows.map((workflow) => ({ ...workflow }))
]

interface Answer {
  readonly kind: string
  readonly node: string
  readonly path: string
  /** Steps from the workflow, if the answer's source knows them. */
  readonly steps?: JsonPath.Path
}

const inNodes = (workflow: Obj) =>
  arr(workflow["nodes"]).map((each, index) => ({ node: obj(each) ?? {}, name: String(obj(each)?.["name"]), index }))

const changed = (value: unknown): unknown => JsonPath.mapStrings(value, (text) => `${text}~`)

/** All paths in answers about the values in the nodes of a workflow. */
const answers = (workflow: Obj): ReadonlyArray<Answer> => [
  ...Turn.finish(ruled(workflow, lookups)).map(({ node, path }) => ({ kind: "problem", node: node ?? "", path })),
  ...LiteralSecrets.places(workflow).map(({ at, node, path }) => ({
    kind: "secret",
    node: node ?? "",
    path,
    steps: JsonPath.parse(at) ?? []
  })),
  ...["http", "={{", "a"].flatMap((text) =>
    Uses.finder(text, { secrets: true })({ ...workflow, nodes: arr(workflow["nodes"]) })
      .map(({ node, path }) => ({ kind: "use", node: node ?? "", path }))
  ),
  ...inNodes(workflow).flatMap(({ index, name, node }) => [
    ...Expressions.texts(node["parameters"]).map(({ path, text }) => ({
      kind: "expression",
      node: name,
      path,
      steps: JsonPath.strings({ nodes: { [index]: { parameters: node["parameters"] } } })
        .find(([steps, each]) => each === text && JsonPath.print(steps.slice(2)) === path)?.[0] ?? []
    })),
    ...WorkflowDiff.make(workflow, {
      ...workflow,
      nodes: arr(workflow["nodes"]).with(index, { ...node, parameters: changed(node["parameters"]) })
    }).nodes.flatMap(({ value }) => value === undefined ? [] : Difference.fields(value))
      .map(({ path }) => ({ kind: "difference", node: name, path }))
  ])
]

/** Steps from the workflow to the value that a path names; `undefined` if it names none in a node. */
const stepsOf = (workflow: Obj, { node, path, steps }: Answer): JsonPath.Path | undefined => {
  const all = JsonPath.parse(path)
  assert.isDefined(all, path)
  const index = inNodes(workflow).findIndex(({ name }) => name === node)
  const own = steps ?? (all[0] === "nodes" ? all : ["nodes", index, ...all])
  return index >= 0 && own[2] === "parameters" && own.length > 3 ? own : undefined
}

/** Checks that an edit changes just the value that the path names. */
const leads = (workflow: Obj, answer: Answer) => {
  const steps = stepsOf(workflow, answer)
  if (steps === undefined) return 0
  const { kind, node, path } = answer
  const value = JsonPath.get(workflow, steps)
  const isText = typeof value === "string" && value !== ""
  const result = attempt(
    workflow,
    isText
      ? { op: "replace", node, path, find: value, with: value + mark, all: true }
      : { op: "set", node, path, value: mark }
  )
  assert.isTrue(Result.isSuccess(result), `${kind} ${path}: ${JSON.stringify(result)}`)
  const after = Result.getOrThrow(result).workflow
  assert.deepStrictEqual(JsonPath.get(after, steps), isText ? value + mark : mark, `${kind} ${path}`)
  assert.lengthOf(JsonPath.strings(after).filter(([, text]) => text.includes(mark)), 1)
  return 1
}

describe("paths in answers", () => {
  it.prop("lead to their values at odd keys", { keys: Schema.NonEmptyArray(OddKey) }, ({ keys }) => {
    const workflow = odd(keys.slice(0, 4))
    const all = answers(workflow)
    const kinds = new Set(all.filter((each) => leads(workflow, each) > 0).map(({ kind }) => kind))
    assert.sameMembers([...kinds], ["problem", "secret", "use", "expression", "difference"])
  })

  it("lead to their values in recorded workflows", () => {
    let count = 0
    for (const workflow of corpus) for (const answer of answers(workflow)) count += leads(workflow, answer)
    assert.isAbove(count, 150)
  })

  it.prop("are lines of the file", { keys: Schema.NonEmptyArray(OddKey) }, ({ keys }) => {
    const workflow = odd(keys.slice(0, 4))
    const text = JSON.stringify(workflow, null, 1)
    const placeOf = Inspection.placesIn(text)
    for (const [steps, value] of JsonPath.strings(workflow)) {
      const { line } = placeOf(JsonPath.print(steps))
      assert.include(text.split("\n")[line - 1] ?? "", JSON.stringify(value))
    }
  })
})

describe("a path of an edit", () => {
  const workflow = flow([hook, node("A", `${base}httpRequest`, 4.2, { url: "x", options: {} }, { notes: "old" })])
  const set = (path: string, value: unknown = "y") => ({ op: "set" as const, node: "A", path, value })

  it.each(["url", "parameters.url", "nodes[1].parameters.url", "nodes.1.parameters.url", `["url"]`])(
    "below parameters, from the node or from the workflow: %s",
    (path) => assert.strictEqual(obj(nodeOf(edit(workflow, set(path)).workflow, "A")["parameters"])?.["url"], "y")
  )

  it.each(["notes", "nodes[1].notes"])("of the node itself: %s", (path) => {
    assert.strictEqual(nodeOf(edit(workflow, set(path)).workflow, "A")["notes"], "y")
    const replace = { op: "replace" as const, node: "A", path, find: "old", with: "new" }
    assert.strictEqual(nodeOf(edit(workflow, replace).workflow, "A")["notes"], "new")
  })

  it("that is another node's names both", () => {
    const { hint, message } = refusal(workflow, set("nodes[0].parameters.path"))
    assert.strictEqual(message, "nodes[0] is 'Hook', not 'A'.")
    assert.strictEqual(hint, "'A' is nodes[1]: name one node in both node and path.")
  })

  it.each([
    ["nodes[1]", /whole node/, /options\.timeout/],
    ["nodes[9].parameters.url", /not a node, not 'A'/, /nodes\[1\]/],
    ["nodes[1].name", /does not change the name/, /rename/],
    ["nodes", /not in a node/, /Name a node/],
    ["connections.A.main[0][0]", /not in a node/, /connect/],
    ["settings.errorWorkflow", /not in a node/, /settings/],
    ["/url", /not a path/, /options\.timeout/]
  ])("that leads out of the values of a node says what to do: %s", (path, message, hint) => {
    const refused = refusal(workflow, set(path))
    assert.match(refused.message, message)
    assert.match(refused.hint, hint)
  })

  it("reaches a value that the type does not have, where it is there", () => {
    const stale = flow([node("A", `${base}set`, 3.4, { values: { string: [{ value: "http://old" }] } })])
    const replace = { op: "replace" as const, node: "A", path: "values.string[0].value", find: "old", with: "new" }
    const { values } = obj(nodeOf(edit(stale, replace).workflow, "A")["parameters"]) ?? {}
    assert.deepStrictEqual(values, { string: [{ value: "http://new" }] })
    assert.match(refusal(stale, set("valuez.x")).message, /no parameter 'valuez'/)
  })
})
