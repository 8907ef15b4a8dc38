/** What node_get's answers cost in tokens, over all node types: `pnpm bench nodes`. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as NodeDetails from "../../src/catalogue/types/NodeDetails.ts"
import * as NodeType from "../../src/catalogue/types/NodeType.ts"
import * as Ports from "../../src/catalogue/types/Ports.ts"
import { answered } from "../support/nodeDetails.ts"
import * as nodeTypes from "../support/nodeTypes.ts"

const background = { release: "", releases: { lacking: {}, removed: {} } }

const namesOf = (nodeType: NodeType.NodeType) => [
  ...new Set(
    (NodeType.at(nodeType, NodeType.defaultVersion(nodeType))?.properties ?? [])
      .filter(({ type }) => !["notice", "callout", "button", "curlImport", "hidden"].includes(type))
      .map(({ name }) => name)
  )
]

/** What is asked about each type. */
const questions: { readonly [name: string]: (nodeType: NodeType.NodeType) => ReadonlyArray<NodeDetails.Ask> } = {
  "the type": () => [{}],
  "each parameter by name": (nodeType) => namesOf(nodeType).map((name) => ({ parameters: [name] })),
  "all parameters by name": (nodeType) => [{ parameters: namesOf(nodeType) }]
}

const report = Effect.gen(function*() {
  const evaluate = yield* Ports.evaluator
  for (const [name, asks] of Object.entries(questions)) {
    const answers = [...nodeTypes.all.values()].flatMap((nodeType) =>
      asks(nodeType).flatMap((ask) =>
        Result.match(NodeDetails.details(nodeType, ask, evaluate, background), {
          onFailure: () => [],
          onSuccess: (all) => [{ type: nodeType.type, ask, tokens: countTokens(JSON.stringify(answered(all))) }]
        })
      )
    ).toSorted((a, b) => a.tokens - b.tokens)
    const median = answers[Math.floor(answers.length / 2)]?.tokens
    const largest = answers.at(-1)
    yield* Console.log(
      `${name.padEnd(24)} ${answers.length} answers, median ${median}, largest ${largest?.tokens} (${largest?.type} ${
        JSON.stringify(largest?.ask).slice(0, 80)
      })`
    )
  }
})

await Effect.runPromise(report)
