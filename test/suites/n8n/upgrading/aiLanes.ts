/** Outdated AI nodes with their sub-nodes, each behind its own webhook; names are unique over all lanes. */
import type { Obj } from "../../../../src/base/Json.ts"

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

const openAi = { credentials: { openAiApi: { id: "", name: "openAi" } } }

const model = (typeVersion = 1, parameters: Obj = {}): Sub => ({
  via: "ai_languageModel",
  node: langchain("lmChatOpenAi", typeVersion, parameters, openAi)
})

const embeddings: Sub = { via: "ai_embedding", node: langchain("embeddingsOpenAi", 1, {}, openAi) }

const splitter: Sub = {
  via: "ai_textSplitter",
  node: langchain("textSplitterCharacterTextSplitter", 1, { separator: " ", chunkSize: 12, chunkOverlap: 4 })
}

const store = (parameters: Obj, typeVersion = 1) => langchain("vectorStoreInMemory", typeVersion, parameters)

const schema = JSON.stringify({ type: "object", properties: { answer: { type: "string" } } })

const parser = (typeVersion: number, parameters: Obj): Sub => ({
  via: "ai_outputParser",
  node: langchain("outputParserStructured", typeVersion, parameters)
})

/** The model answers with the text between `ANSWER:` and `:END` of the prompt. */
const answering = (value: unknown) => `={{ $json.b }} ANSWER:${JSON.stringify(value)}:END`

const tool: Sub = {
  via: "ai_tool",
  node: langchain("toolCode", 1.1, { name: "Answer", description: "Knows", jsCode: "return `${query} is 42`" })
}

const called = {
  nodes: [
    {
      name: "Start",
      type: "n8n-nodes-base.executeWorkflowTrigger",
      typeVersion: 1,
      position: [0, 0],
      parameters: {}
    },
    {
      name: "Out",
      type: "n8n-nodes-base.code",
      typeVersion: 2,
      position: [200, 0],
      parameters: { jsCode: "return [{ json: { got: $input.first().json } }, { json: { second: true } }]" }
    }
  ],
  connections: { Start: { main: [[{ node: "Out", type: "main", index: 0 }]] } }
}

const memory = (typeVersion: number, parameters: Obj = {}): Sub => ({
  via: "ai_memory",
  node: langchain("memoryBufferWindow", typeVersion, parameters)
})

/** Items of every lane. */
export const items: ReadonlyArray<Obj> = [
  { a: "What is {6} * 7?", b: "first", sessionId: "one" },
  { a: "日本語 \"quoted\" {{ braces }}\nnew line", b: "second", sessionId: 2 },
  { a: "again", b: "third", sessionId: "one" }
]

export const lanes: ReadonlyArray<Lane> = [
  {
    id: "chain 1",
    root: langchain("chainLlm", 1, { prompt: "=Say {{ $json.a }}" }),
    subs: [model(1, { model: "gpt-4o", options: { temperature: 0.3, maxTokens: 99, topP: 0.5 } })]
  },
  {
    id: "chain 1.3 with a parser",
    root: langchain("chainLlm", 1.3, { prompt: answering({ output: { answer: "forty-two" } }) }),
    subs: [model(1.1), parser(1.1, { jsonSchema: schema })]
  },
  {
    id: "chain 1.5 with messages",
    root: langchain("chainLlm", 1.5, {
      promptType: "define",
      text: "={{ $json.a }}",
      hasOutputParser: false,
      messages: {
        messageValues: [{ message: "=Be {{ $json.b }}" }, { type: "AIMessagePromptTemplate", message: "Ok" }]
      }
    }),
    subs: [model(1.2, { model: { __rl: true, mode: "list", value: "gpt-4o-mini" } })]
  },
  {
    id: "chain 1.4 with repaired answers",
    root: langchain("chainLlm", 1.4, { promptType: "define", text: answering({ wrong: 1 }), hasOutputParser: true }),
    subs: [model(), {
      via: "ai_outputParser",
      node: langchain("outputParserAutofixing", 1, {
        options: { prompt: "{error} {instructions} {completion} ANSWER:{{\"output\":{{\"answer\":\"fixed\"}}}}:END" }
      }),
      subs: [model(1, { model: "gpt-4-turbo" }), parser(1.2, { schemaType: "manual", inputSchema: schema })]
    }]
  },
  {
    id: "agent 1.7 with a tool",
    root: langchain("agent", 1.7, { promptType: "define", text: "={{ $json.a }}", options: { maxIterations: 4 } }),
    subs: [
      model(1, { model: "gpt-4o" }),
      tool,
      memory(1.2, { sessionIdType: "customKey", sessionKey: "=s{{ $json.b }}" })
    ]
  },
  {
    id: "agent 1.6 with a workflow as a tool",
    root: langchain("agent", 1.6, {
      promptType: "define",
      text: "={{ $json.a }}",
      options: { systemMessage: "=Help {{ $json.b }}" }
    }),
    subs: [model(1.1), {
      via: "ai_tool",
      node: langchain("toolWorkflow", 1.1, {
        name: "ask_it",
        description: "Asks",
        source: "parameter",
        workflowJson: JSON.stringify(called)
      })
    }]
  },
  {
    id: "agent 1.9 with a parser",
    root: langchain("agent", 1.9, {
      promptType: "define",
      text: answering({ output: { answer: "forty-two" } }),
      hasOutputParser: true
    }),
    subs: [model(1.2), tool, parser(1.2, { schemaType: "manual", inputSchema: schema })]
  },
  {
    id: "agent 2.1 without tools",
    root: langchain("agent", 2.1, {
      promptType: "define",
      text: "={{ $json.a }}",
      options: { systemMessage: "Be kind" }
    }),
    subs: [model(1.2), memory(1.3)]
  },
  {
    id: "agent 2 without tools, memory of version 1",
    root: langchain("agent", 2, { promptType: "define", text: "={{ $json.a }}" }),
    subs: [model(), memory(1, { contextWindowLength: 1 })]
  },
  {
    id: "summary",
    root: langchain("chainSummarization", 2, {
      chunkingMode: "advanced",
      options: { summarizationMethodAndPrompts: { values: { summarizationMethod: "stuff" } } }
    }),
    subs: [model(1, { options: { temperature: 0 } }), splitter]
  },
  {
    id: "extraction",
    root: langchain("informationExtractor", 1, {
      text: answering({ name: "Ada" }),
      attributes: { attributes: [{ name: "name", description: "Name", required: true }] }
    }),
    subs: [model()]
  },
  {
    id: "classes",
    root: langchain("textClassifier", 1, {
      inputText: answering({ good: true, bad: false }),
      categories: { categories: [{ category: "good", description: "g" }, { category: "bad", description: "b" }] }
    }),
    subs: [model()]
  },
  {
    id: "sentiment",
    root: langchain("sentimentAnalysis", 1, {
      inputText: answering({ sentiment: "Neutral", strength: 0.5, confidence: 0.5 }),
      options: { includeDetailedResults: true }
    }),
    subs: [model()]
  },
  {
    id: "documents",
    root: store({ mode: "insert", memoryKey: "docs" }),
    subs: [embeddings, {
      via: "ai_document",
      node: langchain("documentDefaultDataLoader", 1, {
        options: { metadata: { metadataValues: [{ name: "k", value: "v" }] } }
      }),
      subs: [splitter]
    }]
  },
  {
    id: "documents of old loaders",
    root: store({ mode: "insert", memoryKey: "old" }, 1.1),
    subs: [embeddings, {
      via: "ai_document",
      node: langchain("documentJsonInputLoader", 1, { pointers: "/b" }),
      subs: [splitter]
    }]
  },
  {
    id: "found documents",
    root: store({ mode: "load", prompt: "={{ $json.b }}", memoryKey: "docs", topK: 2 }, 1.1),
    subs: [embeddings]
  },
  {
    id: "core chat",
    root: {
      type: "n8n-nodes-base.openAi",
      typeVersion: 1,
      parameters: {
        resource: "chat",
        prompt: { messages: [{ role: "system", content: "Be brief" }, { content: "={{ $json.a }}" }] },
        options: { temperature: 0.2, topP: 0.9, n: 1, frequency_penalty: 0.1, presence_penalty: 0.4 }
      },
      ...openAi
    }
  },
  {
    id: "core chat 1.1, whole",
    root: {
      type: "n8n-nodes-base.openAi",
      typeVersion: 1.1,
      parameters: {
        resource: "chat",
        chatModel: "gpt-4",
        prompt: { messages: [{ content: "={{ $json.b }}" }] },
        simplifyOutput: false
      },
      ...openAi
    }
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
  {
    id: "Anthropic",
    root: langchain("chainLlm", 1.5, { promptType: "define", text: "={{ $json.a }}" }),
    subs: [{
      via: "ai_languageModel",
      node: langchain("lmChatAnthropic", 1.2, {
        model: "claude-3-opus-20240229",
        options: { temperature: 0.2, maxTokensToSample: 50 }
      }, {
        credentials: { anthropicApi: { id: "", name: "anthropic" } }
      })
    }]
  },
  {
    id: "Anthropic that thinks",
    root: langchain("agent", 2.2, { promptType: "define", text: "={{ $json.a }}" }),
    subs: [{
      via: "ai_languageModel",
      node: langchain("lmChatAnthropic", 1.3, {
        options: { thinking: true, thinkingBudget: 2000, maxTokensToSample: 3000 }
      }, {
        credentials: { anthropicApi: { id: "", name: "anthropic" } }
      })
    }]
  },
  {
    id: "Gemini",
    root: langchain("chainLlm", 1.6, { promptType: "define", text: "={{ $json.a }}" }),
    subs: [{
      via: "ai_languageModel",
      node: langchain("lmChatGoogleGemini", 1, { options: { temperature: 0.1 } }, {
        credentials: { googlePalmApi: { id: "", name: "gemini" } }
      })
    }]
  },
  {
    id: "memory",
    root: langchain("memoryManager", 1, { simplifyOutput: false }),
    subs: [memory(1.3, { sessionIdType: "customKey", sessionKey: "=s{{ $json.b }}" })]
  }
]
