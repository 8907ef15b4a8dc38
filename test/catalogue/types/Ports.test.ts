import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Obj } from "../../../src/base/Json.ts"
import { complete } from "../../../src/catalogue/parameters/Parameters.ts"
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

describe("ports that a type always has", () => {
  it("are counted by type, with their names", () => {
    same(short(of(`${base}if`, 2.2).outputs), ["main[0] true", "main[1] false"])
    same(short(of(`${base}splitInBatches`, 3).outputs), ["main[0] done", "main[1] loop"])
    same(short(of(`${base}compareDatasets`, 2.3).inputs), ["main[0] Input A", "main[1] Input B"])
    same(of(`${base}set`, 3.4), { inputs: [{ type: "main", index: 0 }], outputs: [{ type: "main", index: 0 }] })
    same(of(`${base}manualTrigger`, 1).inputs, [])
    same(short(of(`${ai}toolCalculator`, 1).outputs), ["ai_tool[0]"])
    same(of(`${ai}chainRetrievalQa`, 1.6).inputs?.[2], {
      type: "ai_retriever",
      index: 0,
      name: "Retriever",
      required: true,
      maxConnections: 1
    })
  })

  it("have one for errors behind them where the node says so", () => {
    same(short(of(`${base}httpRequest`, 4.2, {}, "continueErrorOutput").outputs), ["main[0]", "main[1] error"])
    same(short(of(`${base}if`, 2.2, {}, "continueErrorOutput").outputs), [
      "main[0] true",
      "main[1] false",
      "main[2] error"
    ])
    same(short(of(`${base}httpRequest`, 4.2, {}, "continueRegularOutput").outputs), ["main[0]"])
  })
})

describe("ports that depend on parameters", () => {
  const rule = (outputKey: string) => ({ outputKey, renameOutput: true })
  const model = { type: "ai_languageModel", index: 0, name: "Chat Model", required: true, maxConnections: 1 }

  it("of a Switch: one for each rule, and the fallback", () => {
    const rules = { values: [rule("yes"), rule("no")] }
    same(short(of(`${base}switch`, 3.2, { rules }).outputs), ["main[0] yes", "main[1] no"])
    same(short(of(`${base}switch`, 3.2, { rules, options: { fallbackOutput: "extra" } }).outputs), [
      "main[0] yes",
      "main[1] no",
      "main[2] Fallback"
    ])
    same(of(`${base}switch`, 3.2, { mode: "expression", numberOutputs: 7 }).outputs?.length, 7)
  })

  it("of a Merge, of a webhook with several methods", () => {
    same(of(`${base}merge`, 3.2, { numberInputs: 5 }).inputs?.length, 5)
    const methods = { multipleMethods: true, httpMethod: ["GET", "POST", "PUT"] }
    same(short(of(`${base}webhook`, 2, methods).outputs), ["main[0] GET", "main[1] POST", "main[2] PUT"])
  })

  it("of an agent: model, memory, tools, and a parser where it has one", () => {
    const { inputs } = of(`${ai}agent`, 2)
    same(short(inputs), ["main[0]", "ai_languageModel[0] Chat Model", "ai_memory[0] Memory", "ai_tool[0] Tool"])
    const { never, ...rest } = inputs?.[1] ?? { type: "", index: 0 }
    same(rest, model)
    assert.include(never ?? [], `${ai}lmCohere`)
    same(short(of(`${ai}agent`, 2.2, { hasOutputParser: true, needsFallback: true }).inputs), [
      "main[0]",
      "ai_languageModel[0] Chat Model",
      "ai_languageModel[1] Fallback Model",
      "ai_memory[0] Memory",
      "ai_tool[0] Tool",
      "ai_outputParser[0] Output Parser"
    ])
    assert.include(of(`${ai}agent`, 1.5, { agent: "conversationalAgent" }).inputs?.[1]?.only ?? [], `${ai}lmChatOpenAi`)
  })

  it("of a vector store: a tool, a store, or a step", () => {
    const store = (mode: string) => {
      const { inputs, outputs } = of(`${ai}vectorStoreInMemory`, 1.1, { mode })
      return [short(inputs), short(outputs)]
    }
    same(store("retrieve-as-tool"), [["ai_embedding[0] Embedding"], ["ai_tool[0] Tool"]])
    same(store("retrieve"), [["ai_embedding[0] Embedding"], ["ai_vectorStore[0] Vector Store"]])
    same(store("insert"), [["ai_embedding[0] Embedding", "main[0]", "ai_document[0] Document"], ["main[0]"]])
  })

  it("of LangChain Code are as they are set", () => {
    same(short(of(`${ai}code`, 1, { inputs: { input: [{ type: "ai_tool" }] } }).inputs), ["ai_tool[0] Tool"])
    same(of(`${ai}code`, 1).inputs, undefined)
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
    { code: "process.env" },
    { code: "require('fs')" },
    { code: "this.constructor.constructor('return process')()" },
    { code: "(() => { for (;;); })()" },
    { code: "throw new Error()" },
    { code: "} } syntax" },
    { code: "undefined" },
    { code: "() => 1" }
  ])("comes to nothing: $code", ({ code }) => {
    same(evaluate(`={{ ${code} }}`, scope), undefined)
  })

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
  it("are unknown where an expression decides, or the parameter is malformed, and none where there are none", () => {
    const outputs = (version: number, given: Obj) => of(`${base}switch`, version, given).outputs
    same(outputs(3.2, { mode: "expression", numberOutputs: "={{ 3 }}" }), undefined)
    same(outputs(2, { mode: "expression", outputsAmount: "={{ 3 }}" }), undefined)
    same(outputs(3.2, { mode: "={{ 'rules' }}" }), undefined)
    same(outputs(3.2, { rules: { conditions: [] } }), undefined)
    same(outputs(3.2, { rules: { values: { "0": {} } } }), undefined)
    same(outputs(3.2, { rules: "={{ $json.rules }}" }), undefined)
    same(outputs(3.2, { rules: {} }), [])
    same(outputs(3.2, { mode: "expression", numberOutputs: 2, output: "={{ 1 }}" })?.length, 2)
    same(of(`${base}merge`, 3.2, { numberInputs: "abc" }).inputs, undefined)
    const conditions = { conditions: [{ leftValue: "={{ $json.a }}" }] }
    same(outputs(3.2, { rules: { values: [{ conditions }] } })?.length, 1)
  })

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
