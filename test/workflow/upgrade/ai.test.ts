import { assert, describe, it } from "@effect/vitest"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import { joined, node } from "../../support/workflows.ts"
import { titled, upgrade } from "./upgrades.ts"

const langchain = (name: string, type: string, version: number, parameters: Obj = {}, more: Obj = {}) =>
  node(name, `@n8n/n8n-nodes-langchain.${type}`, version, parameters, more)

const chat = langchain("会話", "chatTrigger", 1.5)

/** Type, version, parameters; the version it reaches and its parameters; and what is left, in part. */
type Row = readonly [
  type: string,
  version: number,
  before: Obj,
  reached: number,
  after?: Obj | undefined,
  left?: RegExp
]

const rows: ReadonlyArray<Row> = [
  ["lmChatOpenAi", 1, { model: "gpt-4o" }, 1.3, {
    model: { __rl: true, mode: "id", value: "gpt-4o" },
    responsesApiEnabled: false
  }],
  ["lmChatOpenAi", 1.2, { model: { __rl: true, mode: "list", value: "gpt-4o" }, options: { timeout: 1 } }, 1.3, {
    model: { __rl: true, mode: "list", value: "gpt-4o" },
    options: { timeout: 1 },
    responsesApiEnabled: false
  }],
  ["lmChatOpenAi", 1, { options: { baseURL: "http://x" } }, 1, undefined, /credential/],
  ["lmChatAnthropic", 1.3, { options: { thinking: true, thinkingBudget: 2000 } }, 1.6, {
    model: {},
    options: { thinkingBudget: 2000, thinkingMode: "manual" }
  }],
  ["lmChatAnthropic", 1.4, { options: { thinking: "={{ $json.x }}" } }, 1.4, undefined, /expression/],
  ["lmChatAnthropic", 1.4, { options: "={{ $json }}" }, 1.6],
  ["embeddingsOpenAi", 1, {}, 1.2, { model: "text-embedding-ada-002" }],
  ["chainLlm", 1, {}, 1.9, { promptType: "define", text: "={{ $json.input }}", batching: { batchSize: 1 } }],
  ["chainLlm", 1.5, { prompt: "x", text: "={{ $json.a }}", promptType: "define" }, 1.9, {
    prompt: "x",
    text: "={{ $json.a }}",
    promptType: "define",
    batching: { batchSize: 1 }
  }],
  ["chainSummarization", 2, {}, 2.1, { options: { batching: { batchSize: 1 } } }],
  ["chainSummarization", 1, {}, 1, {}, /options/],
  ["chainRetrievalQa", 1, { query: "q" }, 1.4, { promptType: "define", text: "q" }, /response\.text/],
  ["informationExtractor", 1, { text: "t" }, 1.2, { text: "t", options: { batching: { batchSize: 1 } } }],
  ["informationExtractor", 1.1, { schemaType: "fromJson" }, 1.1, { schemaType: "fromJson" }, /required/],
  ["textClassifier", 1, { options: { multiClass: true } }, 1.1, {
    options: { multiClass: true, batching: { batchSize: 1 } }
  }],
  ["textClassifier", 1, { options: "={{ {} }}" }, 1, { options: "={{ {} }}" }, /expression/],
  ["documentDefaultDataLoader", 1, {}, 1.1, { textSplittingMode: "custom" }],
  ["memoryBufferWindow", 1, {}, 1.4, { sessionIdType: "customKey", sessionKey: "chat_history" }],
  ["memoryBufferWindow", 1, { sessionKey: "={{ $json.id }}" }, 1.1, { sessionKey: "={{ $json.id }}" }, /empty/],
  ["memoryBufferWindow", 1.2, { contextWindowLength: 9 }, 1.4, {
    contextWindowLength: 9,
    sessionIdType: "customKey",
    sessionKey: "={{ String($json.sessionId ?? '') || $(\"会話\").first().json.sessionId }}"
  }],
  ["memoryPostgresChat", 1, {}, 1, {}, /number of them/],
  ["agent", 1.7, { text: "t", promptType: "define" }, 3.1, {
    text: "t",
    promptType: "define",
    options: { systemMessage: "You are a helpful assistant", autoSaveHighlightedData: false }
  }],
  ["agent", 1.9, {}, 3.1, { options: { autoSaveHighlightedData: false } }],
  ["agent", 1.5, { agent: "conversationalAgent" }, 1.5, undefined, /conversationalAgent/],
  ["agent", 1.7, { options: { returnIntermediateSteps: true } }, 1.7, undefined, /intermediateSteps/],
  ["outputParserStructured", 1.1, { jsonSchema: "{}" }, 1.2, { inputSchema: "{}", schemaType: "manual" }, /output/],
  ["toolCode", 1, { name: "X", jsCode: "return 1" }, 1.3, { jsCode: "return 1" }],
  ["toolCode", 1.1, { name: "other", jsCode: "return 1" }, 1.1, undefined, /'other'/],
  ["toolWorkflow", 1.1, { name: "t", workflowId: "7" }, 2, {
    name: "t",
    workflowId: { __rl: true, mode: "id", value: "7" }
  }, /list/],
  ["toolWorkflow", 1.2, { fields: { values: [{ name: "a", stringValue: "b" }] } }, 1.3, undefined, /extra fields/],
  ["vectorStoreInMemory", 1, { memoryKey: "k" }, 1.3, {
    memoryKey: { __rl: true, mode: "id", value: "={{ $workflow.id }}__k" }
  }],
  ["vectorStoreQdrant", 1, { mode: "insert", options: { x: "={{ $json.a }}" } }, 1, undefined, /first item/],
  ["vectorStoreQdrant", 1, { mode: "retrieve-as-tool", toolName: "kb" }, 1.2, undefined, /'kb'/],
  ["openAi", 1.8, { resource: "image", model: "dall-e-2", prompt: "p", options: { n: 2 } }, 2.3, {
    resource: "image",
    modelId: { __rl: true, mode: "id", value: "dall-e-2" },
    prompt: "p",
    options: { n: 2 }
  }],
  ["openAi", 1.3, { resource: "audio", input: "i" }, 2.3],
  ["openAi", 1.8, {}, 1.8, {}, /Responses API/],
  ["openAi", 1, { resource: "assistant" }, 1, undefined, /assistants/]
]

describe("AI nodes", () => {
  it.each(titled(rows))("$name", ({ row: [type, version, before, reached, after = before, left] }) => {
    const outcome = upgrade([langchain("X", type, version, before), chat])
    const { model, ...parameters } = outcome.parameters
    const { model: wanted, ...others } = after
    assert.deepStrictEqual([outcome.node["typeVersion"], parameters], [reached, others])
    if (Object.keys(obj(wanted) ?? {}).length > 0 || typeof wanted === "string") assert.deepStrictEqual(model, wanted)
    const [undecided] = outcome.left
    assert.match(`${undecided?.why} ${undecided?.decision}`, left ?? /^undefined undefined$/)
  })

  it("that are linked decide together", () => {
    const nodes = [
      langchain("Agent", "agent", 1.7, { options: { systemMessage: "=s" } }),
      langchain("Tool", "toolCode", 1.1, { name: "Tool" }),
      langchain("Chain", "chainLlm", 1.3, { prompt: "p" }),
      langchain("Parser", "outputParserStructured", 1.2, { inputSchema: "{}", schemaType: "manual" }),
      langchain("Fixing", "outputParserAutofixing", 1, { options: { prompt: "{error}" } }),
      langchain("Model", "lmChatOpenAi", 1, { options: { responseFormat: "json_object" } }),
      langchain("Free", "chainLlm", 1.5, { promptType: "define", text: "t" })
    ]
    const { after, left, removed } = upgrade(
      nodes,
      joined(
        ["Tool", "Agent", "ai_tool"],
        ["Parser", "Fixing", "ai_outputParser"],
        ["Fixing", "Chain", "ai_outputParser"],
        ["Model", "Free", "ai_languageModel"],
        ["Chain", "Agent"]
      )
    )
    const versions = arr(after["nodes"]).map((each) => `${obj(each)?.["name"]} ${obj(each)?.["typeVersion"]}`)
    assert.strictEqual(versions.join(", "), "Agent 2.2, Tool 1.3, Chain 1.9, Fixing 1.2, Model 1.3, Free 1.5")
    assert.deepStrictEqual(left.map(({ node }) => node), ["Agent", "Fixing", "Free"])
    assert.deepStrictEqual(removed, [{ node: "Parser", into: "Fixing", why: "its schema" }])
    const fixing = obj(arr(after["nodes"]).find((each) => obj(each)?.["name"] === "Fixing"))
    const [schema, prompt] = [{ inputSchema: "{}", schemaType: "manual" }, {
      customizeRetryPrompt: true,
      prompt: "{error}"
    }]
    assert.deepStrictEqual(fixing?.["parameters"], { ...schema, autoFix: true, ...prompt })
    assert.deepStrictEqual(Object.keys(obj(after["connections"]) ?? {}), ["Tool", "Fixing", "Model", "Chain"])
  })

  it("that are deprecated become their successors", () => {
    const messages = { messages: [{ role: "system", content: "s" }, { content: "={{ $json.a }}" }] }
    const { after, left } = upgrade([
      node("Core", "openAi", 1.1, { resource: "chat", chatModel: "gpt-4", prompt: messages, options: { topP: 0.5 } }),
      node("Most", "openAi", 1, { resource: "chat", prompt: messages, options: { maxTokens: 5 } }),
      langchain("Manual", "manualChatTrigger", 1.1),
      langchain("Old", "manualChatTrigger", 1),
      langchain("Json", "documentJsonInputLoader", 1, { pointers: "/a" })
    ])
    assert.deepStrictEqual(
      arr(after["nodes"]).map((each) => {
        const { name, parameters, type, typeVersion } = obj(each) ?? {}
        return [name, String(type).replace(/.*\./, ""), typeVersion, parameters]
      }).filter(([name]) => name !== "Most" && name !== "Old"),
      [
        ["Core", "openAi", 1.8, {
          modelId: { __rl: true, mode: "id", value: "gpt-4" },
          messages: { values: [{ role: "system", content: "s" }, { role: "user", content: "={{ $json.a }}" }] },
          simplify: true,
          options: { topP: 0.5 }
        }],
        ["Manual", "chatTrigger", 1.5, { options: {} }],
        ["Json", "documentDefaultDataLoader", 1.1, {
          dataType: "json",
          textSplittingMode: "custom",
          options: { pointers: "/a" }
        }]
      ]
    )
    assert.deepStrictEqual(left.map(({ node }) => node), ["Core", "Most", "Old"])
  })
})
