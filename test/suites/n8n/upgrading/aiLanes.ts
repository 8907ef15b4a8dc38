/** Outdated AI nodes with their sub-nodes, each behind its own webhook; names are unique over all lanes. */
import type { Obj } from "../../../../src/base/Json.ts"
import { joined, node } from "../../../support/workflows.ts"

/** Sub-nodes by the type of their link to the node before. */
interface Sub {
  readonly via: string
  readonly node: Obj
  readonly subs?: ReadonlyArray<Sub>
}

export interface Lane {
  readonly id: string
  readonly root: Obj
  readonly subs?: ReadonlyArray<Sub>
  readonly items?: ReadonlyArray<Obj>
}

const langchain = (type: string, typeVersion: number, parameters: Obj = {}, more: Obj = {}): Obj => ({
  type: `@n8n/n8n-nodes-langchain.${type}`,
  typeVersion,
  parameters,
  ...more
})

const credential = (type: string) => ({ credentials: { [type]: { id: "", name: type } } })

const openAi = credential("openAiApi")

/** A lane of a node with sub-nodes. */
const lane = (id: string, type: string, version: number, parameters: Obj, ...subs: ReadonlyArray<Sub>): Lane => ({
  id,
  root: langchain(type, version, parameters),
  subs
})

const sub = (via: string, node: Obj, ...subs: ReadonlyArray<Sub>): Sub => ({ via, node, subs })

const model = (typeVersion = 1, parameters: Obj = {}) =>
  sub("ai_languageModel", langchain("lmChatOpenAi", typeVersion, parameters, openAi))

const otherModel = (type: string, version: number, parameters: Obj, credentialType: string) =>
  sub("ai_languageModel", langchain(type, version, parameters, credential(credentialType)))

const embeddings = sub("ai_embedding", langchain("embeddingsOpenAi", 1, {}, openAi))

const splitter = sub(
  "ai_textSplitter",
  langchain("textSplitterCharacterTextSplitter", 1, { separator: " ", chunkSize: 12, chunkOverlap: 4 })
)

const schema = JSON.stringify({ type: "object", properties: { answer: { type: "string" } } })

const parser = (typeVersion: number, parameters: Obj = { schemaType: "manual", inputSchema: schema }) =>
  sub("ai_outputParser", langchain("outputParserStructured", typeVersion, parameters))

const fixing = { prompt: "{error} {instructions} {completion} ANSWER:{{\"output\":{{\"answer\":\"fixed\"}}}}:END" }

const document = (type: string, parameters: Obj) => sub("ai_document", langchain(type, 1, parameters), splitter)

const memory = (typeVersion: number, parameters: Obj = {}) =>
  sub("ai_memory", langchain("memoryBufferWindow", typeVersion, parameters))

const session = { sessionIdType: "customKey", sessionKey: "=s{{ $json.b }}" }

/** The model answers with the text between `ANSWER:` and `:END` of the prompt. */
const answering = (value: unknown) => `={{ $json.b }} ANSWER:${JSON.stringify(value)}:END`

const defined = (text = "={{ $json.a }}", more: Obj = {}) => ({ promptType: "define", text, ...more })

const tool = sub(
  "ai_tool",
  langchain("toolCode", 1.1, { name: "Answer", description: "Knows", jsCode: "return `${query} is 42`" })
)

/** A workflow that is a tool. */
const called = JSON.stringify({
  nodes: [
    node("Start", "executeWorkflowTrigger"),
    node("Out", "code", 2, { jsCode: "return [{ json: { got: $input.first().json } }, { json: { second: true } }]" })
  ],
  connections: joined(["Start", "Out"])
})

/** Items of every lane. */
export const items: ReadonlyArray<Obj> = [
  { a: "What is {6} * 7?", b: "first", sessionId: "one" },
  { a: "日本語 \"quoted\" {{ braces }}\nnew line", b: "second", sessionId: 2 },
  { a: "again", b: "third", sessionId: "one" }
]

/** Messages of a chat with the node of n8n's own package. */
const messages = (...all: ReadonlyArray<Obj>) => ({ resource: "chat", prompt: { messages: all } })

export const lanes: ReadonlyArray<Lane> = [
  lane(
    "chain 1",
    "chainLlm",
    1,
    { prompt: "=Say {{ $json.a }}" },
    model(1, { model: "gpt-4o", options: { temperature: 0.3, maxTokens: 99, topP: 0.5 } })
  ),
  lane(
    "chain 1.3 with a parser",
    "chainLlm",
    1.3,
    { prompt: answering({ output: { answer: "forty-two" } }) },
    model(1.1),
    parser(1.1, { jsonSchema: schema })
  ),
  lane(
    "chain 1.5 with messages",
    "chainLlm",
    1.5,
    defined(undefined, {
      hasOutputParser: false,
      messages: {
        messageValues: [{ message: "=Be {{ $json.b }}" }, { type: "AIMessagePromptTemplate", message: "Ok" }]
      }
    }),
    model(1.2, { model: { __rl: true, mode: "list", value: "gpt-4o-mini" } })
  ),
  lane(
    "chain 1.4 with repaired answers",
    "chainLlm",
    1.4,
    defined(answering({ wrong: 1 }), { hasOutputParser: true }),
    model(),
    sub(
      "ai_outputParser",
      langchain("outputParserAutofixing", 1, { options: fixing }),
      model(1, { model: "gpt-4-turbo" }),
      parser(1.2)
    )
  ),
  lane(
    "agent 1.7 with a tool",
    "agent",
    1.7,
    defined(undefined, { options: { maxIterations: 4 } }),
    model(1, { model: "gpt-4o" }),
    tool,
    memory(1.2, session)
  ),
  lane(
    "agent 1.6 with a workflow as a tool",
    "agent",
    1.6,
    defined(undefined, { options: { systemMessage: "=Help {{ $json.b }}" } }),
    model(1.1),
    sub(
      "ai_tool",
      langchain("toolWorkflow", 1.1, {
        name: "ask_it",
        description: "Asks",
        source: "parameter",
        workflowJson: called
      })
    )
  ),
  lane(
    "agent 1.9 with a parser",
    "agent",
    1.9,
    defined(answering({ output: { answer: "forty-two" } }), { hasOutputParser: true }),
    model(1.2),
    tool,
    parser(1.2)
  ),
  lane(
    "agent 2.1 without tools",
    "agent",
    2.1,
    defined(undefined, { options: { systemMessage: "Be kind" } }),
    model(1.2),
    memory(1.3)
  ),
  lane(
    "agent 2 without tools, memory of version 1",
    "agent",
    2,
    defined(),
    model(),
    memory(1, { contextWindowLength: 1 })
  ),
  lane(
    "summary",
    "chainSummarization",
    2,
    {
      chunkingMode: "advanced",
      options: { summarizationMethodAndPrompts: { values: { summarizationMethod: "stuff" } } }
    },
    model(1, { options: { temperature: 0 } }),
    splitter
  ),
  lane("extraction", "informationExtractor", 1, {
    text: answering({ name: "Ada" }),
    attributes: { attributes: [{ name: "name", description: "Name", required: true }] }
  }, model()),
  lane("classes", "textClassifier", 1, {
    inputText: answering({ good: true, bad: false }),
    categories: { categories: [{ category: "good", description: "g" }, { category: "bad", description: "b" }] }
  }, model()),
  lane("sentiment", "sentimentAnalysis", 1, {
    inputText: answering({ sentiment: "Neutral", strength: 0.5, confidence: 0.5 }),
    options: { includeDetailedResults: true }
  }, model()),
  lane(
    "documents",
    "vectorStoreInMemory",
    1,
    { mode: "insert", memoryKey: "docs" },
    embeddings,
    document("documentDefaultDataLoader", { options: { metadata: { metadataValues: [{ name: "k", value: "v" }] } } })
  ),
  lane(
    "documents of old loaders",
    "vectorStoreInMemory",
    1.1,
    { mode: "insert", memoryKey: "old" },
    embeddings,
    document("documentJsonInputLoader", { pointers: "/b" })
  ),
  lane("found documents", "vectorStoreInMemory", 1.1, {
    mode: "load",
    prompt: "={{ $json.b }}",
    memoryKey: "docs",
    topK: 2
  }, embeddings),
  {
    id: "core chat",
    root: node("", "openAi", 1, {
      ...messages({ role: "system", content: "Be brief" }, { content: "={{ $json.a }}" }),
      options: { temperature: 0.2, topP: 0.9, n: 1, frequency_penalty: 0.1, presence_penalty: 0.4 }
    }, openAi)
  },
  {
    id: "core chat 1.1, whole",
    root: node("", "openAi", 1.1, {
      ...messages({ content: "={{ $json.b }}" }),
      chatModel: "gpt-4",
      simplifyOutput: false
    }, openAi)
  },
  {
    id: "image",
    root: langchain("openAi", 1.3, {
      resource: "image",
      prompt: "={{ $json.a }}",
      options: { returnImageUrls: true, style: "natural", dalleQuality: "hd" }
    }, openAi)
  },
  {
    id: "image 1.8 of model 2",
    root: langchain("openAi", 1.8, {
      resource: "image",
      model: "dall-e-2",
      prompt: "={{ $json.a }}",
      options: { n: 2, size: "256x256", binaryPropertyOutput: "file" }
    }, openAi)
  },
  { id: "speech", root: langchain("openAi", 1.4, { resource: "audio", input: "={{ $json.a }}" }, openAi) },
  lane(
    "Anthropic",
    "chainLlm",
    1.5,
    defined(),
    otherModel("lmChatAnthropic", 1.2, {
      model: "claude-3-opus-20240229",
      options: { temperature: 0.2, maxTokensToSample: 50 }
    }, "anthropicApi")
  ),
  lane(
    "Anthropic that thinks",
    "agent",
    2.2,
    defined(),
    otherModel("lmChatAnthropic", 1.3, {
      options: { thinking: true, thinkingBudget: 2000, maxTokensToSample: 3000 }
    }, "anthropicApi")
  ),
  lane(
    "Gemini",
    "chainLlm",
    1.6,
    defined(),
    otherModel("lmChatGoogleGemini", 1, { options: { temperature: 0.1 } }, "googlePalmApi")
  ),
  lane("memory", "memoryManager", 1, { simplifyOutput: false }, memory(1.3, session))
]
