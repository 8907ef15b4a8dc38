/** The workflows of the scenarios, as bodies for POST /workflows: node versions that both releases have. */

/** A node as n8n's public API takes it. */
export interface Node {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly typeVersion: number
  readonly position: readonly [x: number, y: number]
  readonly parameters: Readonly<Record<string, unknown>>
  readonly webhookId?: string
  readonly onError?: string
  readonly credentials?: Readonly<Record<string, { readonly id: string; readonly name: string }>>
}

/** A link between two nodes, by name; output and input 0 of `main` unless told. */
export interface Link {
  readonly from: string
  readonly to: string
  readonly output?: number
  readonly input?: number
  readonly type?: string
}

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

const base = "n8n-nodes-base."
const langchain = "@n8n/n8n-nodes-langchain."

const node = (
  name: string,
  type: string,
  typeVersion: number,
  parameters: Readonly<Record<string, unknown>>,
  extra: Partial<Node> = {}
): Node => ({
  id: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
  name,
  type,
  typeVersion,
  position: [0, 0],
  parameters,
  ...extra
})

const code = (name: string, jsCode: string, extra?: Partial<Node>) => node(name, `${base}code`, 2, { jsCode }, extra)

const items = (name: string, count: number) =>
  code(name, `return Array.from({ length: ${count} }, (_, i) => ({ json: { i, even: i % 2 === 0 } }))`)

const noOp = (name: string, extra?: Partial<Node>) => node(name, `${base}noOp`, 1, {}, extra)

const set = (name: string, fields: Readonly<Record<string, string>>, extra?: Partial<Node>) =>
  node(name, `${base}set`, 3.4, {
    mode: "manual",
    includeOtherFields: true,
    options: {},
    assignments: {
      assignments: Object.entries(fields).map(([key, value]) => ({ id: key, name: key, type: "string", value }))
    }
  }, extra)

const ifEven = (name: string) =>
  node(name, `${base}if`, 2.2, {
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

const splitInBatches = (name: string, batchSize: number) =>
  node(name, `${base}splitInBatches`, 3, { batchSize, options: {} })

const httpGet = (name: string, url: string) =>
  node(name, `${base}httpRequest`, 4.2, {
    url,
    sendHeaders: true,
    headerParameters: { parameters: [{ name: "Authorization", value: canaries.header }] },
    options: { timeout: 2000 }
  })

const wait = (amount: number, unit: "seconds" | "minutes") =>
  node("Wait", `${base}wait`, 1.1, { amount, unit }, { webhookId: crypto.randomUUID() })

/** Links one after the other, beginning at the trigger. */
const inLine = (nodes: ReadonlyArray<Node>): ReadonlyArray<Link> =>
  nodes.map(({ name }, index) => ({ from: nodes[index - 1]?.name ?? trigger, to: name }))

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
    { from: trigger, to: "Make Items" },
    { from: "Make Items", to: "Loop Over Items" },
    { from: "Loop Over Items", to: "Done" },
    { from: "Loop Over Items", output: 1, to: "Inside" },
    { from: "Inside", to: "Loop Over Items" }
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
    { from: trigger, to: "Basic LLM Chain" },
    { from: "Chain Model", to: "Basic LLM Chain", type: "ai_languageModel" },
    { from: "Structured Output Parser", to: "Basic LLM Chain", type: "ai_outputParser" },
    { from: "Basic LLM Chain", to: "AI Agent" },
    { from: "Agent Model", to: "AI Agent", type: "ai_languageModel" },
    { from: "Simple Memory", to: "AI Agent", type: "ai_memory" },
    { from: "Calculator", to: "AI Agent", type: "ai_tool" }
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
    const extra = { id: `n${index + 1}` }
    return index % 5 === 0 ? set(name, { last: String(index + 1) }, extra) : noOp(name, extra)
  })
)

/** Every workflow of the suite, by the name of its scenario. */
export const drafts = {
  /** Ten items part into five and five. */
  branch: (): Draft => ({
    nodes: [items("Ten Items", 10), ifEven("Is Even"), noOp("Evens"), noOp("Odds")],
    links: [
      { from: trigger, to: "Ten Items" },
      { from: "Ten Items", to: "Is Even" },
      { from: "Is Even", to: "Evens" },
      { from: "Is Even", output: 1, to: "Odds" }
    ]
  }),
  /** Twelve items in batches of four: the body runs 3 times, the loop node 4 times. */
  loop: () => looping(12, 4),
  /** The body runs 40 times, the loop node 41 times. */
  loop40: () => looping(40, 1),
  /** A Code node throws. */
  fail: () => line(items("Two Items", 2), code("Break", `throw new Error("the box is empty")`), noOp("Never")),
  /** An HTTP Request is answered with 404. */
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
      { from: trigger, to: "Risky" },
      { from: "Risky", to: "Fine" },
      { from: "Risky", output: 1, to: "Handler" }
    ]
  }),
  /** Two branches into one Merge: two items from A, two from B. */
  merge: (): Draft => ({
    nodes: [
      code("A", `return [{ json: { id: 1, a: "x" } }, { json: { id: 2, a: "y" } }]`),
      code("B", `return [{ json: { id: 1, b: "p" } }, { json: { id: 2, b: "q" } }]`),
      node("Merge", `${base}merge`, 3, { mode: "combine", combineBy: "combineByPosition", options: {} })
    ],
    links: [
      { from: trigger, to: "A" },
      { from: trigger, to: "B" },
      { from: "A", to: "Merge" },
      { from: "B", to: "Merge", input: 1 }
    ]
  }),
  /** An item with a file. */
  binary: () => line(node("Convert to File", `${base}convertToFile`, 1.1, { operation: "toJson", options: {} })),
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
      { from: trigger, to: "Basic LLM Chain" },
      { from: "Chain Model", to: "Basic LLM Chain", type: "ai_languageModel" }
    ]
  }),
  /** All items are even: what follows the second output never runs. */
  notReached: (): Draft => ({
    nodes: [code("Even Items", "return [{ json: { even: true } }]"), ifEven("Is Even"), noOp("Ran"), noOp("Never Ran")],
    links: [
      { from: trigger, to: "Even Items" },
      { from: "Even Items", to: "Is Even" },
      { from: "Is Even", to: "Ran" },
      { from: "Is Even", output: 1, to: "Never Ran" }
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
  manual: (): Draft => ({ ...line(items("Two Items", 2)), trigger: `${base}manualTrigger` }),
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
    ? node(trigger, `${base}webhook`, 2, parameters, { webhookId: path })
    : node(trigger, draft.trigger, 1, {})
  const connections: Record<string, Record<string, Array<Array<{ node: string; type: string; index: number }>>>> = {}
  for (const { from, input = 0, output = 0, to, type = "main" } of links) {
    const outputs = (connections[from] ??= {})[type] ??= []
    while (outputs.length <= output) outputs.push([])
    outputs[output]?.push({ node: to, type, index: input })
  }
  return {
    name,
    nodes: [entry, ...nodes].map((each, index) => Object.assign({}, each, { position: [index * 200, 0] })),
    connections,
    settings: { executionOrder: "v1", ...settings }
  }
}
