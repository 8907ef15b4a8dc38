/** The workflows of the scenarios, as bodies for POST /workflows: node versions that both releases have. */
import type { Obj } from "../../../src/base/Json.ts"
import { joined, type Link, node } from "../../support/workflows.ts"

/** A node as n8n's public API takes it. */
export type Node = Obj & { readonly name: string }

/** A workflow before it has a webhook path of its own. */
export interface Draft {
  readonly nodes: ReadonlyArray<Node>
  readonly links: ReadonlyArray<Link>
  readonly settings?: Readonly<Record<string, unknown>>
  /** The trigger's type, when it is not a webhook. */
  readonly trigger?: string
}

/** What a draft may need to know of the instance that it will run on. */
export interface Place {
  readonly url: URL
  /** The credential of the AI models: of a server that answers, or for `aiFail` of none. */
  readonly openAi: { readonly id: string; readonly name: string }
}

/** Where nothing listens. */
export const closedUrl = "http://127.0.0.1:1/"

/** The trigger's name in every scenario. */
export const trigger = "Webhook"

/** Names that break whoever quotes or splits carelessly; both are nodes of `wide250`. */
export const japaneseName = "注文を集計する"
export const quotedName = `Say "hi" \\ it's {{ $json.ok }}`

/** Credential-like values that the `secrets` scenario carries, to be looked for in what the server answers. */
export const canaries = {
  header: "Bearer canary-header-3f1c9a",
  cookie: "session=canary-cookie-77d0e2",
  authorization: "Bearer canary-field-b1946a",
  password: "canary-password-c92d1e",
  apiKey: "sk-canary0123456789abcdefghijklmnopqrstuvwxyzABCDEF"
}

const langchain = "@n8n/n8n-nodes-langchain."

const code = (name: string, jsCode: string, more?: Obj) => node(name, "code", 2, { jsCode }, more)

const wait = (amount: number, unit: "seconds" | "minutes") =>
  node("Wait", "wait", 1.1, { amount, unit }, { webhookId: crypto.randomUUID() })

const items = (name: string, count: number) =>
  code(name, `return Array.from({ length: ${count} }, (_, i) => ({ json: { i, even: i % 2 === 0 } }))`)

const noOp = (name: string, more?: Obj) => node(name, "noOp", 1, {}, more)

const set = (name: string, fields: Readonly<Record<string, string>>, more?: Obj) =>
  node(name, "set", 3.4, {
    mode: "manual",
    includeOtherFields: true,
    options: {},
    assignments: {
      assignments: Object.entries(fields).map(([key, value]) => ({ id: key, name: key, type: "string", value }))
    }
  }, more)

const ifEven = (name: string) =>
  node(name, "if", 2.2, {
    options: {},
    conditions: {
      combinator: "and",
      options: { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 2 },
      conditions: [{
        id: "even",
        leftValue: "={{ $json.even }}",
        rightValue: "",
        operator: { type: "boolean", operation: "true", singleValue: true }
      }]
    }
  })

const splitInBatches = (name: string, batchSize: number) => node(name, "splitInBatches", 3, { batchSize, options: {} })

const httpGet = (name: string, url: string) =>
  node(name, "httpRequest", 4.2, {
    url,
    sendHeaders: true,
    headerParameters: { parameters: [{ name: "Authorization", value: canaries.header }] },
    options: { timeout: 2000 }
  })

/** Links one after the other, beginning at the trigger. */
const inLine = (nodes: ReadonlyArray<Node>): ReadonlyArray<Link> =>
  nodes.map(({ name }, index) => [nodes[index - 1]?.name ?? trigger, name])

const line = (...nodes: ReadonlyArray<Node>): Draft => ({ nodes, links: inLine(nodes) })

/** Split In Batches: output 0 is done, output 1 the loop. */
const looping = (count: number, batchSize: number): Draft => ({
  nodes: [
    items("Make Items", count),
    splitInBatches("Loop Over Items", batchSize),
    code("Inside", "return $input.all().map(({ json }) => ({ json: { i: json.i * 10 } }))"),
    code("Done", "return [{ json: { n: $input.all().length } }]")
  ],
  links: [
    [trigger, "Make Items"],
    ["Make Items", "Loop Over Items"],
    ["Loop Over Items", "Done"],
    ["Loop Over Items", "Inside", "main", 1],
    ["Inside", "Loop Over Items"]
  ]
})

const openAiModel = (name: string, { openAi }: Place, options: Readonly<Record<string, unknown>> = {}) =>
  node(name, `${langchain}lmChatOpenAi`, 1.2, {
    model: { __rl: true, mode: "list", value: "gpt-4o-mini" },
    options
  }, { credentials: { openAiApi: openAi } })

const ai = (agentVersion: number) => (place: Place): Draft => ({
  nodes: [
    node("Basic LLM Chain", `${langchain}chainLlm`, 1.7, {
      promptType: "define",
      text: "What is the answer?",
      hasOutputParser: true
    }),
    openAiModel("Chain Model", place),
    node("Structured Output Parser", `${langchain}outputParserStructured`, 1.3, {
      jsonSchemaExample: `{"answer":"text"}`
    }),
    node("AI Agent", `${langchain}agent`, agentVersion, {
      promptType: "define",
      text: "What is six times seven?",
      options: {}
    }),
    openAiModel("Agent Model", place),
    node("Simple Memory", `${langchain}memoryBufferWindow`, 1.3, {
      sessionIdType: "customKey",
      sessionKey: "scenario"
    }),
    node("Calculator", `${langchain}toolCalculator`, 1, {})
  ],
  links: [
    [trigger, "Basic LLM Chain"],
    ["Chain Model", "Basic LLM Chain", "ai_languageModel"],
    ["Structured Output Parser", "Basic LLM Chain", "ai_outputParser"],
    ["Basic LLM Chain", "AI Agent"],
    ["Agent Model", "AI Agent", "ai_languageModel"],
    ["Simple Memory", "AI Agent", "ai_memory"],
    ["Calculator", "AI Agent", "ai_tool"]
  ]
})

const big12 = line(
  code(
    "Step 1",
    `return Array.from({ length: 100 }, (_, i) => ({
  json: { id: i, sku: "SKU-" + i, title: "Item number " + i, text: "lorem ipsum dolor sit amet ".repeat(4), tags: ["a", "b"], price: { net: i, gross: i * 1.2 } }
}))`
  ),
  ...Array.from({ length: 10 }, (_, index) => set(`Step ${index + 2}`, { [`f${index + 2}`]: "={{ $json.id }}" }))
)

const wideNames = Array.from(
  { length: 249 },
  (_, index) => index === 100 ? japaneseName : index === 101 ? quotedName : `Step ${String(index + 1).padStart(3, "0")}`
)

const wide250 = line(
  ...wideNames.map((name, index) => {
    const more = { id: `n${index + 1}` }
    return index % 5 === 0 ? set(name, { last: String(index + 1) }, more) : noOp(name, more)
  })
)

/** Every workflow of the suite, by the name of its scenario. */
export const drafts = {
  /** Ten items part into five and five. */
  branch: (): Draft => ({
    nodes: [items("Ten Items", 10), ifEven("Is Even"), noOp("Evens"), noOp("Odds")],
    links: [
      [trigger, "Ten Items"],
      ["Ten Items", "Is Even"],
      ["Is Even", "Evens"],
      ["Is Even", "Odds", "main", 1]
    ]
  }),
  /** Twelve items in batches of four: the body runs 3 times, the loop node 4 times. */
  loop: () => looping(12, 4),
  /** The body runs 40 times, the loop node 41 times. */
  loop40: () => looping(40, 1),
  /** A Code node throws. */
  fail: () => line(items("Two Items", 2), code("Break", `throw new Error("the box is empty")`), noOp("Never")),
  /** 3,000 orders: `Price` spoils one, `Ship` drops another, `Book` fails of the spoilt one and does not say which. */
  orders: () =>
    line(
      code(
        "Orders",
        `return Array.from({ length: 3000 }, (_, i) => ({ json: { orderNo: "SO-" + i, net: i + 0.25, customer: { id: "cus_" + i % 50 } } }))`
      ),
      code(
        "Price",
        `return $input.all().map(({ json }, item) => ({ json: { ...json, net: json.orderNo === "SO-2345" ? -1 : json.net }, pairedItem: { item } }))`
      ),
      code(
        "Ship",
        `return $input.all().flatMap(({ json }, item) => json.orderNo === "SO-77" ? [] : [{ json: { ...json, shipped: true }, pairedItem: { item } }])`
      ),
      code("Book", `for (const { json } of $input.all()) if (json.net < 0) throw new Error("net must not be negative")`)
    ),

  /** An HTTP Request is answered with 404. */
  httpFail: ({ url }: Place) => line(httpGet("HTTP Request", new URL("webhook/nobody-is-here", url).href)),
  /** An HTTP Request to a port on which nothing listens. */
  httpRefused: () => line(httpGet("HTTP Request", `${closedUrl}none`)),
  /** A failing node with an error output; the execution succeeds. */
  errorOutput: (): Draft => ({
    nodes: [
      code("Risky", `throw new Error("soft failure")`, { onError: "continueErrorOutput" }),
      noOp("Fine"),
      noOp("Handler")
    ],
    links: [
      [trigger, "Risky"],
      ["Risky", "Fine"],
      ["Risky", "Handler", "main", 1]
    ]
  }),
  /** Two branches into one Merge: two items from A, two from B. */
  merge: (): Draft => ({
    nodes: [
      code("A", `return [{ json: { id: 1, a: "x" } }, { json: { id: 2, a: "y" } }]`),
      code("B", `return [{ json: { id: 1, b: "p" } }, { json: { id: 2, b: "q" } }]`),
      node("Merge", "merge", 3, { mode: "combine", combineBy: "combineByPosition", options: {} })
    ],
    links: [
      [trigger, "A"],
      [trigger, "B"],
      ["A", "Merge"],
      ["B", "Merge", "main", 0, 1]
    ]
  }),
  /** An item with a file. */
  binary: () => line(node("Convert to File", "convertToFile", 1.1, { operation: "toJson", options: {} })),
  /** Stands at a Wait node for more than an hour: status waiting. */
  waiting: () => line(wait(70, "minutes"), noOp("After")),
  /** Stands at a Wait node for a minute, in memory: status running. */
  running: () => line(wait(60, "seconds"), noOp("After")),
  /** 12 nodes; the eleven after the trigger put out 100 items each. */
  big12: () => big12,
  /** 250 nodes in one line, one with a Japanese name and one with quotes and a backslash. */
  wide250: () => wide250,
  /** An LLM chain with an output parser, then an agent (version 3) with memory and a tool. */
  ai: ai(3),
  /** The same with an agent of version 2.2, which calls its tool itself. */
  aiAgent2: ai(2.2),
  /** The chain's model cannot be reached: a sub-node fails, and its root with it. */
  aiFail: (place: Place): Draft => ({
    nodes: [
      node("Basic LLM Chain", `${langchain}chainLlm`, 1.7, { promptType: "define", text: "What is the answer?" }),
      openAiModel("Chain Model", place, { maxRetries: 0 })
    ],
    links: [
      [trigger, "Basic LLM Chain"],
      ["Chain Model", "Basic LLM Chain", "ai_languageModel"]
    ]
  }),
  /** All items are even: what follows the second output never runs. */
  notReached: (): Draft => ({
    nodes: [code("Even Items", "return [{ json: { even: true } }]"), ifEven("Is Even"), noOp("Ran"), noOp("Never Ran")],
    links: [
      [trigger, "Even Items"],
      ["Even Items", "Is Even"],
      ["Is Even", "Ran"],
      ["Is Even", "Never Ran", "main", 1]
    ]
  }),
  /** Credential-like fields in items and parameters; its webhook is called with credentials too. */
  secrets: () =>
    line(
      set("Set Secrets", {
        authorization: canaries.authorization,
        password: canaries.password,
        apiKey: canaries.apiKey,
        maxTokens: "128",
        note: "not a secret"
      })
    ),
  /** Only a person at the editor can start it. */
  manual: (): Draft => ({ ...line(items("Two Items", 2)), trigger: `manualTrigger` }),
  /** Succeeds, and its settings keep nothing of a success. */
  notSaved: (): Draft => ({
    ...line(noOp("Only Step")),
    settings: { saveDataSuccessExecution: "none", saveDataErrorExecution: "none", saveManualExecutions: false }
  })
}

/** A workflow of the suite. */
export type Name = keyof typeof drafts

/** The body for POST /workflows: the draft behind its trigger, a webhook on `path` unless told. */
export const body = (name: string, path: string, draft: Draft) => {
  const { links, nodes, settings } = draft
  const parameters = { path, httpMethod: "POST", responseMode: "onReceived", options: {} }
  const entry = draft.trigger === undefined
    ? node(trigger, "webhook", 2, parameters, { webhookId: path })
    : node(trigger, draft.trigger, 1, {})
  return {
    name,
    nodes: [entry, ...nodes].map((each, index) => Object.assign({}, each, { position: [index * 200, 0] })),
    connections: joined(...links),
    settings: { executionOrder: "v1", ...settings }
  }
}
