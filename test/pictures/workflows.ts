/** Workflows to draw: recorded runs, two states of one workflow, an agent, and large ones. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import * as Services from "../../src/app/Services.ts"
import { type Obj, obj, str } from "../../src/base/Json.ts"
import * as Demo from "../../src/demo/Demo.ts"
import { Executions } from "../../src/executions/Executions.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import { catalogue } from "../support/catalogue.ts"
import { main, node } from "../support/workflows.ts"

const recorded = JSON.parse(
  readFileSync(new URL("fixtures/execution-orders.json", import.meta.url), "utf8")
) as FakeN8n.Execution & { readonly workflowData: FakeN8n.Workflow }

/** The id of a recorded run, which failed in the third round of a loop. */
export const failedId = recorded.id

/** The workflow as it ran. */
export const orders = recorded.workflowData as unknown as Obj & { readonly nodes: ReadonlyArray<Obj> }

/** An n8n with the recorded run, beside the demo's. */
export const seed: FakeN8n.Seed = {
  workflows: [...Demo.seed.workflows, recorded.workflowData],
  executions: [...Demo.seed.executions, recorded]
}

/** All that pictures need. */
export const world = Layer.mergeAll(
  FakeN8n.layer(seed),
  Layer.merge(Services.layerMemory, catalogue),
  NodeServices.layer
)

/** The run that failed. */
export const failed = Effect.flatMap(Executions, (executions) => executions.get(failedId))

const nodeNamed = (name: string): Obj => orders.nodes.find((node) => node["name"] === name) ?? {}

/** The orders mended: a node renamed and changed, one moved, one gone, two new. */
export const mended: Obj = {
  ...orders,
  nodes: [
    nodeNamed("New orders"),
    nodeNamed("Split out orders"),
    nodeNamed("Loop over orders"),
    node("Has a card?", "if", 2.2, { conditions: { combinator: "and", conditions: [] } }, {
      id: "a1",
      position: [672, 112]
    }),
    {
      ...nodeNamed("Charge card"),
      name: "Charge the card",
      position: [896, -16],
      parameters: {
        ...obj(nodeNamed("Charge card")["parameters"]),
        jsCode: "return { ...$json, charged: $json.total }"
      }
    },
    node("Ask for a card", "slack", 2.3, { resource: "message", operation: "post", text: "={{ $json.orderNo }}" }, {
      id: "a2",
      position: [896, 208]
    }),
    { ...nodeNamed("Large order?"), position: [1120, -16] },
    { ...nodeNamed("Ship"), position: [1344, 16] },
    nodeNamed("Report"),
    nodeNamed("Sticky Note")
  ],
  connections: {
    "New orders": main("Split out orders"),
    "Split out orders": main("Loop over orders"),
    "Loop over orders": main("Report", "Has a card?"),
    "Has a card?": main("Charge the card", "Ask for a card"),
    "Charge the card": main("Large order?"),
    "Large order?": main("Ship", "Ship"),
    "Ask for a card": main("Loop over orders"),
    "Ship": main("Loop over orders")
  }
}

/** An agent with a model, a memory and a tool. */
export const agent = obj(Demo.seed.workflows.find(({ name }) => name === "Support triage agent")) ?? {}

/** Ten nodes with a loop, a branch and a merge, as public templates have them: name, type, place, and where links lead. */
const lane: ReadonlyArray<
  readonly [string, string, x: number, y: number, ...ReadonlyArray<readonly [to: string, input?: number]>]
> = [
  ["Every morning", "scheduleTrigger", 0, 0, ["Fetch orders"]],
  ["Fetch orders", "httpRequest", 224, 0, ["Loop over orders"]],
  ["Loop over orders", "splitInBatches", 448, 0, ["Append to sheet"], ["Normalize"]],
  ["Normalize", "set", 672, 96, ["Paid?"]],
  ["Paid?", "if", 896, 96, ["Create the invoice with a very long name that never ends"], ["Remind customer 📧"]],
  ["Create the invoice with a very long name that never ends", "code", 1120, 0, ["Merge"]],
  ["Remind customer 📧", "gmail", 1120, 224, ["Merge", 1]],
  ["Merge", "merge", 1344, 96, ["Loop over orders"]],
  ["Append to sheet", "googleSheets", 672, -96, ["Tell #sales"]],
  ["Tell #sales", "slack", 896, -96]
]

/** A workflow of ten nodes a lane. */
export const large = (lanes: number): Obj => {
  const versions: { readonly [type: string]: number } = { if: 2.2, httpRequest: 4.2, splitInBatches: 3 }
  const all = Array.from({ length: lanes }, (_, index) => index + 1).flatMap((number) =>
    lane.map(([name, type, x, y, ...to]) => ({
      node: node(`${name} ${number}`, type, versions[type], {}, { position: [x, y + number * 560] }),
      to: to.map(([name, index = 0]) => [{ node: `${name} ${number}`, type: "main", index }])
    }))
  )
  return {
    name: `Orders, invoices and reminders (${all.length})`,
    nodes: all.map(({ node }, index) => ({ ...node, id: `node-${index}` })),
    connections: Object.fromEntries(all.map(({ node, to }) => [node.name, { main: to }]))
  }
}

/** The workflow with its nodes changed by name. */
export const withNodes = (workflow: Obj, change: (node: Obj) => Obj): Obj => ({
  ...workflow,
  nodes: (workflow["nodes"] as ReadonlyArray<Obj>).map((node) => str(node["name"]) === undefined ? node : change(node))
})

const langchain = (
  name: string,
  type: string,
  typeVersion: number,
  position: readonly [number, number],
  parameters = {}
): Obj => ({ id: name, name, type: `@n8n/n8n-nodes-langchain.${type}`, typeVersion, position, parameters })

const sticky = (name: string, position: readonly [number, number], parameters: Obj): Obj =>
  node(name, "stickyNote", 1, parameters, { id: name, position })

const under = (type: string, ...names: ReadonlyArray<string>) => ({
  [type]: [names.map((node) => ({ node, type, index: 0 }))]
})

/** A template without credentials: sub-nodes that are parents, close ports, long names and notes. */
export const knowledge: Obj = {
  name: "Answer questions about invoices from the knowledge base of the accounting department and its archive",
  nodes: [
    langchain("When chat message received", "chatTrigger", 1.1, [0, 0]),
    langchain("AI Agent", "agent", 2.2, [240, 0], { needsFallback: true, hasOutputParser: true }),
    langchain("OpenAI Chat Model", "lmChatOpenAi", 1.2, [128, 240]),
    langchain("Simple Memory", "memoryBufferWindow", 1.3, [256, 240]),
    langchain("Answer questions with a vector store of all invoices", "toolVectorStore", 1.1, [400, 240]),
    langchain("Structured Output Parser", "outputParserStructured", 1.2, [672, 240]),
    langchain("Qdrant Vector Store", "vectorStoreQdrant", 1.1, [320, 448], { mode: "retrieve" }),
    langchain("Embeddings OpenAI", "embeddingsOpenAi", 1.2, [320, 656]),
    langchain("文書を分割して保存するとても長い名前", "vectorStoreQdrant", 1.1, [896, 0], { mode: "insert" }),
    langchain("Default Data Loader", "documentDefaultDataLoader", 1, [1008, 224]),
    langchain("Recursive Character Text Splitter", "textSplitterRecursiveCharacterTextSplitter", 1, [1008, 432]),
    langchain("Embeddings", "embeddingsOpenAi", 1.2, [860, 224]),
    node("Kind of question", "switch", 3.2, {
      rules: {
        values: ["invoice overdue", "refund requested", "everything else of today"].map((outputKey) => ({
          renameOutput: true,
          outputKey,
          conditions: { combinator: "and", conditions: [] }
        }))
      }
    }, { id: "switch", position: [1300, 0] }),
    node("Merge", "merge", 3.1, { numberInputs: 4 }, { id: "merge", position: [1500, 0] }),
    node("Send", "slack", 2.3, { resource: "message", operation: "post" }, { id: "send", position: [1720, 16] }),
    sticky("Sticky Note", [0, -420], {
      width: 320,
      height: 300,
      content:
        "## A very long heading of a sticky note that does not fit on one line\r\nFirst `line`\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nThe **last** line"
    }),
    sticky("Sticky Note1", [400, -420], { content: "# Too much\n\n" + "More text than fits in the note. ".repeat(20) })
  ],
  connections: {
    "When chat message received": main("AI Agent"),
    "OpenAI Chat Model": under("ai_languageModel", "AI Agent", "Answer questions with a vector store of all invoices"),
    "Simple Memory": under("ai_memory", "AI Agent"),
    "Structured Output Parser": under("ai_outputParser", "AI Agent"),
    "Answer questions with a vector store of all invoices": under("ai_tool", "AI Agent"),
    "Qdrant Vector Store": under("ai_vectorStore", "Answer questions with a vector store of all invoices"),
    "Embeddings OpenAI": under("ai_embedding", "Qdrant Vector Store"),
    "Embeddings": under("ai_embedding", "文書を分割して保存するとても長い名前"),
    "Default Data Loader": under("ai_document", "文書を分割して保存するとても長い名前"),
    "Recursive Character Text Splitter": under("ai_textSplitter", "Default Data Loader"),
    "AI Agent": main("文書を分割して保存するとても長い名前"),
    "文書を分割して保存するとても長い名前": main("Kind of question"),
    "Kind of question": { main: [0, 1, 2].map((index) => [{ node: "Merge", type: "main", index }]) },
    "Merge": main("Send")
  }
}
