/** Workflows whose answers fill the budget of an answer. */
import * as Demo from "../../../src/demo/Demo.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"

/** A workflow with a text in each node. */
const workflow = (id: string, nodeCount: number, text: (node: number) => string): N8nApi.Workflow => {
  const [like] = Demo.seed.workflows
  const nodes = Array.from({ length: nodeCount }, (_, i) => ({
    id: `node-${i}`,
    name: `Step ${i}`,
    type: "n8n-nodes-base.code",
    typeVersion: 2,
    position: [i * 220, 0] as const,
    parameters: { jsCode: text(i) }
  }))
  return {
    ...like,
    id,
    name: id,
    nodes,
    connections: {},
    activeVersion: null,
    activeVersionId: null,
    active: false
  } as N8nApi.Workflow
}

const repeated = (length: number, word: (i: number) => string) => Array.from({ length }, (_, i) => word(i)).join("")

const workflows = [
  // Slightly below the budget, so it is not cut.
  workflow("fits", 35, () => repeated(13, () => "// every order is checked before the customer hears of it\n")),
  // More characters than the budget, in lines like code.
  workflow("manyCharacters", 900, (node) => repeated(3, (i) => `const line${i} = items.at(${node + i})\n`)),
  // More tokens than the budget: fewer than two characters per token.
  workflow("manyTokens", 60, (node) => repeated(300, (i) => `${(node * 7919 + i * 104729) % 97}.${i % 7};`)),
  workflow(
    "manyTokensJapanese",
    60,
    (node) => repeated(300, (i) => String.fromCodePoint(0x4e00 + (node * 7919 + i * 104729) % 20_000))
  )
]

/** The ids of the workflows. */
export const ids = workflows.map(({ id }) => id)

/** The initial state of an n8n that holds them. */
export const seed: N8nApi.Seed = { workflows, executions: [] }
