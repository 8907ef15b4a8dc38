import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Obj } from "../../../src/base/Json.ts"
import { complete } from "../../../src/catalogue/parameters/ParameterRules.ts"
import { at } from "../../../src/catalogue/types/NodeType.ts"
import * as Ports from "../../../src/catalogue/types/Ports.ts"
import { get, versions } from "../../support/nodeTypes.ts"

const evaluate = await Effect.runPromise(Ports.evaluator)

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)

const of = (type: string, version: number, given: Obj = {}, onError?: string) => {
  const description = at(get(type), version)
  if (description === undefined) throw new Error(`${type} has no version ${version}`)
  const parameters = complete(description, { typeVersion: version, parameters: given })
  const node = { parameters, own: given, version, onError }
  return {
    inputs: Ports.inputs(description, node, evaluate),
    outputs: Ports.outputs(description, node, evaluate)
  }
}
const short = (ports: ReadonlyArray<Ports.Port> | undefined) =>
  ports?.map(({ index, name, type }) => `${type}[${index}]${name === undefined ? "" : ` ${name}`}`)

const base = "n8n-nodes-base."
const ai = "@n8n/n8n-nodes-langchain."

const rule = (outputKey: string) => ({ outputKey, renameOutput: true })
const rules = { values: [rule("yes"), rule("no")] }
const [model, memory, tool] = ["ai_languageModel[0] Chat Model", "ai_memory[0] Memory", "ai_tool[0] Tool"]
const one = ["main[0]"]

describe("ports", () => {
  it.each<
    [
      type: string,
      parameters: Obj,
      inputs: ReadonlyArray<string | undefined> | undefined,
      outputs: ReadonlyArray<string> | undefined,
      onError?: string
    ]
  >([
    [`${base}set 3.4`, {}, one, one],
    [`${base}manualTrigger 1`, {}, [], one],
    [`${base}merge 3.2`, { numberInputs: 3 }, ["main[0] Input 1", "main[1] Input 2", "main[2] Input 3"], one],
    [`${base}httpRequest 4.2`, {}, one, ["main[0]", "main[1] error"], "continueErrorOutput"],
    [`${base}if 2.2`, {}, one, ["main[0] true", "main[1] false", "main[2] error"], "continueErrorOutput"],
    [`${base}httpRequest 4.2`, {}, one, one, "continueRegularOutput"],
    [
      `${base}switch 3.2`,
      { rules, options: { fallbackOutput: "extra" } },
      one,
      ["main[0] yes", "main[1] no", "main[2] Fallback"]
    ],
    [
      `${base}webhook 2`,
      { multipleMethods: true, httpMethod: ["GET", "POST", "PUT"] },
      [],
      ["main[0] GET", "main[1] POST", "main[2] PUT"]
    ],
    [`${ai}toolCalculator 1`, {}, [], ["ai_tool[0]"]],
    [`${ai}agent 2`, {}, ["main[0]", model, memory, tool], one],
    [
      `${ai}agent 2.2`,
      { hasOutputParser: true, needsFallback: true },
      ["main[0]", model, "ai_languageModel[1] Fallback Model", memory, tool, "ai_outputParser[0] Output Parser"],
      one
    ],
    [`${ai}vectorStoreInMemory 1.1`, { mode: "retrieve-as-tool" }, ["ai_embedding[0] Embedding"], ["ai_tool[0] Tool"]],
    [
      `${ai}vectorStoreInMemory 1.1`,
      { mode: "retrieve" },
      ["ai_embedding[0] Embedding"],
      ["ai_vectorStore[0] Vector Store"]
    ],
    [
      `${ai}vectorStoreInMemory 1.1`,
      { mode: "insert" },
      ["ai_embedding[0] Embedding", "main[0]", "ai_document[0] Document"],
      one
    ],
    // As they are set.
    [`${ai}code 1`, { inputs: { input: [{ type: "ai_tool" }] } }, ["ai_tool[0] Tool"], undefined],
    [`${ai}code 1`, {}, undefined, undefined]
  ])("of %s with %j", (named, parameters, inputs, outputs, onError) => {
    const [type = "", version] = named.split(" ")
    const ports = of(type, Number(version), parameters, onError)
    same([short(ports.inputs), short(ports.outputs)], [inputs, outputs])
  })

  it("have what they need and take", () => {
    same(of(`${base}set`, 3.4).inputs, [{ type: "main", index: 0 }])
    const needed = { index: 0, required: true, maxConnections: 1 }
    same(of(`${ai}chainRetrievalQa`, 1.6).inputs?.[2], { ...needed, type: "ai_retriever", name: "Retriever" })
    const { never, ...rest } = of(`${ai}agent`, 2).inputs?.[1] ?? { type: "", index: 0 }
    same(rest, { ...needed, type: "ai_languageModel", name: "Chat Model" })
    assert.include(never ?? [], `${ai}lmCohere`)
    assert.include(of(`${ai}agent`, 1.5, { agent: "conversationalAgent" }).inputs?.[1]?.only ?? [], `${ai}lmChatOpenAi`)
  })

  it("are known for every type and version with its defaults, except LangChain Code, which has none", () => {
    const untold = versions.flatMap(([nodeType, description, version]) => {
      if (typeof description.inputs !== "string" && typeof description.outputs !== "string") return []
      const { inputs, outputs } = of(nodeType.type, version)
      return inputs === undefined || outputs === undefined ? [nodeType.type] : []
    })
    same(untold, [`${ai}code`])
  })
})

describe("text that is not an expression of n8n", () => {
  const scope = { parameters: { a: 1 }, version: 2 }

  it("sees the parameters and the version, and cannot change them", () => {
    same(evaluate("={{ [$parameter.a, $nodeVersion] }}", scope), [1, 2])
    same(evaluate("={{ (() => { $parameter.a = 9; return [$parameter.a] })() }}", scope), undefined)
    same(scope.parameters.a, 1)
  })

  it.each([
    "process.env",
    "throw new Error()",
    "this.constructor.constructor('return process')()",
    "(() => { for (;;); })()",
    "} } syntax",
    "undefined",
    "() => 1"
  ])("comes to nothing where it is not a value: %s", (code) => same(evaluate(`={{ ${code} }}`, scope), undefined))

  it("makes no ports beyond 256, and no large list to count them", () => {
    const inputs = (numberInputs: number) => of(`${base}merge`, 3.2, { numberInputs }).inputs?.length
    same([inputs(256), inputs(257), inputs(1e7), inputs(1e300)], [256, undefined, undefined, undefined])
    same(of(`${base}switch`, 3.2, { mode: "expression", numberOutputs: 1e9 }).outputs, undefined)
  })

  it("shares a budget for the nodes of one workflow", async () => {
    const [first, second] = await Effect.runPromise(Effect.all([Ports.evaluator, Ports.evaluator]))
    const large = "={{ Array.from({ length: 1e7 }) }}"
    for (let node = 0; node < 500; node++) same(first(large, scope), undefined)
    same(first("={{ [$parameter.a] }}", scope), undefined)
    same(second("={{ [$parameter.a] }}", scope), [1])
  })

  it("makes no ports of other results", () => {
    const description = { ...(at(get(`${base}set`), 3.4)) } as never
    const made = (result: unknown) =>
      Ports.inputs({ ...(description as object), inputs: "={{}}" } as never, scope, () => result)
    for (const result of [undefined, null, "main", 5, {}, [5], [{ name: "main" }]]) same(made(result), undefined)
    same(made([null, "main", { type: "main", displayName: "" }]), [
      { type: "main", index: 0 },
      { type: "main", index: 1 }
    ])
  })
})

describe("ports that cannot be computed", () => {
  it.each<[version: number, parameters: Obj, count: number | undefined]>([
    [3.2, { mode: "expression", numberOutputs: "={{ 3 }}" }, undefined],
    [2, { mode: "expression", outputsAmount: "={{ 3 }}" }, undefined],
    [3.2, { mode: "={{ 'rules' }}" }, undefined],
    [3.2, { rules: { conditions: [] } }, undefined],
    [3.2, { rules: { values: { "0": {} } } }, undefined],
    [3.2, { rules: "={{ $json.rules }}" }, undefined],
    [3.2, { rules: {} }, 0],
    [3.2, { mode: "expression", numberOutputs: 2, output: "={{ 1 }}" }, 2],
    [3.2, { rules: { values: [{ conditions: { conditions: [{ leftValue: "={{ $json.a }}" }] } }] } }, 1]
  ])(
    "of a Switch %s with %j: %s",
    (version, given, count) => same(of(`${base}switch`, version, given).outputs?.length, count)
  )

  it("are unknown where the parameter is malformed", () =>
    same(of(`${base}merge`, 3.2, { numberInputs: "abc" }).inputs, undefined))

  it("are unknown for every type whose ports depend on a parameter, where this is an expression", () => {
    let count = 0
    for (const [, description, version] of versions) {
      for (const [side, ports] of [["inputs", Ports.inputs], ["outputs", Ports.outputs]] as const) {
        const declared = description[side]
        if (typeof declared !== "string") continue
        const words = new Set(declared.split(/\W+/))
        for (const { name } of description.properties.filter((each) => words.has(each.name))) {
          const node = { parameters: { [name]: "={{ $json.x }}" }, version }
          same(ports(description, node, evaluate), undefined)
          count++
        }
      }
    }
    assert.isAtLeast(count, 40)
  })
})
