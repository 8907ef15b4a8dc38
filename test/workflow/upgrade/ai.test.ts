import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as ai from "../../../src/workflow/upgrade/ai.ts"
import * as Upgrade from "../../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../support/catalogue.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import { random } from "../../support/random.ts"
import { joined, node, workflow } from "../../support/workflows.ts"

const langchain = (name: string, type: string, version: number, parameters: Obj = {}, more: Obj = {}) =>
  node(name, `@n8n/n8n-nodes-langchain.${type}`, version, parameters, more)

const types = [...Object.keys(ai.steps), ...Object.keys(ai.successors)]

const lookups = Effect.provide(
  NodeLookups.make([...types, ...Object.values(ai.successors).flatMap(({ to }) => to)]),
  catalogue
)

const upgrade = Effect.fnUntraced(function*(nodes: ReadonlyArray<Obj>, connections: Obj = {}) {
  const before = workflow("w", nodes, { connections })
  const known = yield* lookups
  const outcome = Upgrade.upgrade(before, undefined, known)
  // Upgrading again changes nothing.
  assert.strictEqual(Upgrade.upgrade(outcome.workflow, undefined, known).workflow, outcome.workflow)
  return outcome
})

const chat = langchain("会話", "chatTrigger", 1.5)

/** Type, version, parameters; the version it reaches and its parameters; and what is left, in part. */
type Row = readonly [type: string, version: number, before: Obj, reached: number, after: Obj, left?: RegExp]

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
  ["lmChatOpenAi", 1, { options: { baseURL: "http://x" } }, 1, { options: { baseURL: "http://x" } }, /credential/],
  ["lmChatAnthropic", 1.3, { options: { thinking: true, thinkingBudget: 2000 } }, 1.6, {
    model: {},
    options: { thinkingBudget: 2000, thinkingMode: "manual" }
  }],
  ["lmChatAnthropic", 1.4, { options: { thinking: "={{ $json.x }}" } }, 1.4, {
    options: { thinking: "={{ $json.x }}" }
  }, /expression/],
  ["lmChatAnthropic", 1.4, { options: "={{ $json }}" }, 1.6, { options: "={{ $json }}" }],
  ["embeddingsOpenAi", 1, {}, 1.2, { model: "text-embedding-ada-002" }],
  ["chainLlm", 1, {}, 1.9, {
    promptType: "define",
    text: "={{ $json.input }}",
    batching: { batchSize: 1 }
  }],
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
  ["agent", 1.5, { agent: "conversationalAgent" }, 1.5, { agent: "conversationalAgent" }, /conversationalAgent/],
  ["agent", 1.7, { options: { returnIntermediateSteps: true } }, 1.7, {
    options: { returnIntermediateSteps: true }
  }, /intermediateSteps/],
  ["outputParserStructured", 1.1, { jsonSchema: "{}" }, 1.2, { inputSchema: "{}", schemaType: "manual" }, /output/],
  ["toolCode", 1, { name: "X", jsCode: "return 1" }, 1.3, { jsCode: "return 1" }],
  ["toolCode", 1.1, { name: "other", jsCode: "return 1" }, 1.1, { name: "other", jsCode: "return 1" }, /'other'/],
  ["toolWorkflow", 1.1, { name: "t", workflowId: "7" }, 2, {
    name: "t",
    workflowId: { __rl: true, mode: "id", value: "7" }
  }, /list/],
  ["toolWorkflow", 1.2, { fields: { values: [{ name: "a", stringValue: "b" }] } }, 1.3, {
    fields: { values: [{ name: "a", stringValue: "b" }] }
  }, /extra fields/],
  ["vectorStoreInMemory", 1, { memoryKey: "k" }, 1.3, {
    memoryKey: { __rl: true, mode: "id", value: "={{ $workflow.id }}__k" }
  }],
  ["vectorStoreQdrant", 1, { mode: "insert", options: { x: "={{ $json.a }}" } }, 1, {
    mode: "insert",
    options: { x: "={{ $json.a }}" }
  }, /first item/],
  ["vectorStoreQdrant", 1, { mode: "retrieve-as-tool", toolName: "kb" }, 1.2, {
    mode: "retrieve-as-tool",
    toolName: "kb"
  }, /'kb'/],
  ["openAi", 1.8, { resource: "image", model: "dall-e-2", prompt: "p", options: { n: 2 } }, 2.3, {
    resource: "image",
    modelId: { __rl: true, mode: "id", value: "dall-e-2" },
    prompt: "p",
    options: { n: 2 }
  }],
  ["openAi", 1.3, { resource: "audio", input: "i" }, 2.3, { resource: "audio", input: "i" }],
  ["openAi", 1.8, {}, 1.8, {}, /Responses API/],
  ["openAi", 1, { resource: "assistant" }, 1, { resource: "assistant" }, /assistants/]
]

describe("AI nodes", () => {
  it.effect.each(rows)("%s %d, case %#", ([type, version, before, reached, after, left]) =>
    Effect.gen(function*() {
      const own = langchain("X", type, version, before)
      const outcome = yield* upgrade([own, chat])
      const [made] = arr(outcome.workflow["nodes"])
      const { model, ...parameters } = obj(obj(made)?.["parameters"]) ?? {}
      const { model: wanted, ...others } = after
      assert.strictEqual(obj(made)?.["typeVersion"], reached)
      assert.deepStrictEqual(parameters, others)
      if (Object.keys(obj(wanted) ?? {}).length > 0 || typeof wanted === "string") assert.deepStrictEqual(model, wanted)
      const [undecided] = outcome.left
      assert.match(`${undecided?.why} ${undecided?.decision}`, left ?? /^undefined undefined$/)
    }))

  it.effect("that are linked decide together", () =>
    Effect.gen(function*() {
      const nodes = [
        langchain("Agent", "agent", 1.7, { options: { systemMessage: "=s" } }),
        langchain("Tool", "toolCode", 1.1, { name: "Tool" }),
        langchain("Chain", "chainLlm", 1.3, { prompt: "p" }),
        langchain("Parser", "outputParserStructured", 1.2, { inputSchema: "{}", schemaType: "manual" }),
        langchain("Fixing", "outputParserAutofixing", 1, { options: { prompt: "{error}" } }),
        langchain("Model", "lmChatOpenAi", 1, { options: { responseFormat: "json_object" } }),
        langchain("Free", "chainLlm", 1.5, { promptType: "define", text: "t" })
      ]
      const { left, workflow: after } = yield* upgrade(
        nodes,
        joined(
          ["Tool", "Agent", "ai_tool"],
          ["Parser", "Fixing", "ai_outputParser"],
          ["Fixing", "Chain", "ai_outputParser"],
          ["Model", "Free", "ai_languageModel"],
          ["Chain", "Agent"]
        )
      )
      const versions = arr(after["nodes"]).map((each) => [obj(each)?.["name"], obj(each)?.["typeVersion"]])
      assert.deepStrictEqual(Object.fromEntries(versions), {
        Agent: 2.2,
        Tool: 1.3,
        Chain: 1.9,
        Fixing: 1.2,
        Model: 1.3,
        Free: 1.5
      })
      assert.deepStrictEqual(left.map(({ node }) => node), ["Agent", "Fixing", "Free"])
      const fixing = obj(arr(after["nodes"]).find((each) => obj(each)?.["name"] === "Fixing"))
      assert.deepStrictEqual(fixing?.["parameters"], {
        inputSchema: "{}",
        schemaType: "manual",
        autoFix: true,
        customizeRetryPrompt: true,
        prompt: "{error}"
      })
      assert.deepStrictEqual(Object.keys(obj(after["connections"]) ?? {}), ["Tool", "Fixing", "Model", "Chain"])
    }))

  it.effect("that are deprecated become their successors", () =>
    Effect.gen(function*() {
      const messages = { messages: [{ role: "system", content: "s" }, { content: "={{ $json.a }}" }] }
      const { left, workflow: after } = yield* upgrade([
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
    }))

  it.effect("never throw, whatever their parameters", () =>
    Effect.gen(function*() {
      const next = random(7)
      const values = [
        undefined,
        null,
        0,
        "",
        "=",
        "={{ $json.a }}",
        [],
        {},
        [null],
        { values: 3 },
        { __rl: true },
        true
      ]
      const pick = () => values[next(values.length)]
      const known = yield* lookups
      for (const type of types) {
        const nodeType = nodeTypes.get(type)
        const keys = [...new Set(nodeType.descriptions.flatMap(({ properties }) => properties.map(({ name }) => name)))]
        for (const version of NodeType.versions(nodeType)) {
          for (let round = 0; round < 4; round++) {
            const parameters = Object.fromEntries(keys.map((key) => [key, pick()]))
            const options = { ...obj(parameters["options"]), batching: pick(), thinking: pick(), purpose: pick() }
            const own = node("X", type, version, next(2) === 0 ? parameters : { ...parameters, options })
            const before = workflow("w", [own], { connections: joined(["X", "X", "ai_outputParser"]) })
            const { upgraded, workflow: after } = Upgrade.upgrade(before, undefined, known)
            assert.strictEqual(upgraded.length === 0, after === before)
          }
        }
      }
    }))
})
