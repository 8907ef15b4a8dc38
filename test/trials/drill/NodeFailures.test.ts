import { assert, describe, it } from "@effect/vitest"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type { Node } from "../../../src/n8n/model/Workflow.ts"
import * as NodeFailures from "../../../src/trials/drill/NodeFailures.ts"
import recorded from "./recorded.json" with { type: "json" }

const inputs = [{ json: { id: 1, name: "a" } }, { json: { id: 2, name: "b" } }, { json: { id: 3, name: "c" } }]

interface Recording {
  readonly type: string
  readonly typeVersion: number
  readonly parameters?: unknown
  readonly n8n: string
  readonly kind: string
  readonly inputs?: number
  /** The message of the error that stopped the run, or the number of items and the first. */
  readonly stops: unknown
  readonly regular?: ReadonlyArray<unknown>
  readonly error?: ReadonlyArray<ReadonlyArray<unknown>>
}

const recordings: ReadonlyArray<Recording> = recorded

/** Recorded items; a Code node cannot return a list as JSON. */
const withFields = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withFields)
    : obj(value)?.["json"] !== undefined && Array.isArray(obj(value)?.["json"])
    ? { ...obj(value), json: {} }
    : value

/** Number of items that next nodes receive by each of two outputs, and the first, or the message of the error. */
const repeated = ({ kind, n8n, ...recording }: Recording, onError?: string) => {
  const node = { name: "N", ...recording, ...(onError === undefined ? {} : { onError }) } as Node
  const isV1 = n8n.startsWith("1.")
  const failure = NodeFailures.of(node, NodeFailures.kinds.find((each) => each === kind) ?? "500", { isV1, outputs: 1 })
  assert.isDefined(failure)
  if (failure.does === "stops") return failure.message.replaceAll("$item", "0")
  if (failure.does === "nothing") return [[0], [0]]
  // oxlint-disable-next-line no-new-func -- runs what n8n would run
  const items = new Function("$input", failure.jsCode)({ all: () => inputs.slice(0, recording.inputs ?? 3) })
  const shown = arr(items).map((item) => {
    const { pairedItem: _, ...rest } = obj(item) ?? {}
    return rest
  })
  const [first] = shown
  const seen = first === undefined ? [0] : [shown.length, first]
  return failure.output === 0 ? [seen, [0]] : [[0], seen]
}

const labelOf = ({ kind, n8n, parameters, type, typeVersion }: Recording) =>
  `${type} ${typeVersion} on ${n8n} fails with ${kind} ${JSON.stringify(parameters ?? {})}`

describe("recorded failures", () => {
  it.each(recordings.map((each) => [labelOf(each), each] as const))("%s", (_, each) => {
    if (each.stops !== null) {
      const stopped = repeated(each)
      assert.deepStrictEqual<unknown>(typeof stopped === "string" ? stopped : stopped[0], withFields(each.stops))
    }
    if (each.regular !== undefined) {
      assert.deepStrictEqual<unknown>(repeated(each, "continueRegularOutput"), withFields([each.regular, [0]]))
    }
    if (each.error !== undefined) {
      assert.deepStrictEqual<unknown>(repeated(each, "continueErrorOutput"), withFields(each.error))
    }
  })
})

describe("HTTP Request that gets []", () => {
  const after = (parameters: Obj, typeVersion = 4.2) => {
    const node: Node = { name: "N", type: "n8n-nodes-base.httpRequest", typeVersion, parameters }
    return NodeFailures.of(node, "empty", { isV1: false, outputs: 1 })
  }
  const response = (options: object) => ({ options: { response: { response: options } } })

  it("returns no items, unless its options make the answer one", () => {
    assert.strictEqual(after({})?.does, "nothing")
    assert.strictEqual(after(response({ neverError: true, responseFormat: "json" }))?.does, "nothing")
    for (const options of [{ fullResponse: true }, { responseFormat: "text" }, { responseFormat: "file" }]) {
      assert.deepInclude(after(response(options)), { does: "continues", output: 0, isUnnoticed: true })
    }
    const text = after(response({ responseFormat: "text", outputPropertyName: "page" }))
    assert.include(text?.does === "continues" ? text.jsCode : "", JSON.stringify({ page: "[]" }))
    assert.strictEqual(after({}, 1)?.does, "continues")
  })
})
