import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { createRequire } from "node:module"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as Evaluate from "../../../src/catalogue/types/Evaluate.ts"
import * as NodeDetails from "../../../src/catalogue/types/NodeDetails.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"

const evaluate = await Effect.runPromise(Evaluate.make)

const details = (type: string, ask: NodeDetails.Ask = {}) =>
  Result.getOrThrow(NodeDetails.details(nodeTypes.get(type), ask, evaluate))

const lacking = (type: string, ask: NodeDetails.Ask) =>
  Result.getOrThrow(Result.flip(NodeDetails.details(nodeTypes.get(type), ask, evaluate)))

interface Helpers {
  readonly getNodeParameters: (...args: ReadonlyArray<unknown>) => object | null
  readonly getNodeParametersIssues: (properties: unknown, node: unknown, description: unknown) => object | null
}
/** n8n's own judge. */
const { NodeHelpers } = createRequire(import.meta.url)("n8n-workflow") as { readonly NodeHelpers: Helpers }

/** Every version by itself, and the newest with every other operation of each resource. */
const asks = (nodeType: NodeType.NodeType): ReadonlyArray<NodeDetails.Ask> => {
  const { operations = {} } = Result.getOrThrow(NodeDetails.details(nodeType, {}, evaluate))
  return [
    ...NodeType.versions(nodeType).map((version) => ({ version })),
    ...Object.entries(operations).flatMap(([resource, each]) =>
      each.filter((_, index) => index % 2 === 0).map((operation) => ({ resource, operation }))
    )
  ]
}

describe("node details", () => {
  it("stay below 1,500 tokens, with an example that n8n takes, for every type, version and resource", () => {
    let count = 0
    const refused: Array<unknown> = []
    for (const nodeType of nodeTypes.all.values()) {
      for (const ask of asks(nodeType)) {
        const found = details(nodeType.type, ask)
        const text = JSON.stringify(found)
        // A token is hardly ever less than three characters here; to count them all takes a minute.
        if (text.length > 3_500) assert.isAtMost(countTokens(text), 1_500, `${nodeType.type} ${JSON.stringify(ask)}`)
        const description = NodeType.at(nodeType, found.version)
        const { example } = found
        const parameters = NodeHelpers.getNodeParameters(
          description?.properties,
          example?.parameters,
          true,
          false,
          example,
          description
        )
        const issues = NodeHelpers.getNodeParametersIssues(
          description?.properties,
          { ...example, parameters },
          description
        )
        if (issues !== null) refused.push({ type: nodeType.type, ask, issues, parameters: example?.parameters })
        count++
      }
    }
    assert.isAbove(count, 2_000)
    assert.deepStrictEqual(refused, [])
  })

  it("tell what applies to a resource and operation, the required first", () => {
    const { example, operations, parameters } = details("n8n-nodes-base.slack", {
      resource: "channel",
      operation: "invite"
    })
    assert.isUndefined(operations)
    assert.deepStrictEqual(Object.keys(parameters).slice(0, 2).toSorted(), ["channelId", "userIds"])
    assert.deepInclude(parameters["channelId"], {
      type: "resourceLocator",
      required: true,
      modes: ["list", "id", "url"]
    })
    assert.notProperty(parameters, "messageType")
    const given = obj(example?.parameters)
    assert.deepInclude(given, { resource: "channel", operation: "invite" })
    assert.deepInclude(given?.["channelId"] as Obj, { __rl: true, mode: "id" })
  })

  it("find the resource of an operation", () => {
    assert.deepInclude(obj(details("n8n-nodes-base.slack", { operation: "getPermalink" }).example?.parameters), {
      resource: "message",
      operation: "getPermalink"
    })
  })

  it("list resources and operations where none is given", () => {
    const { operations, parameters } = details("n8n-nodes-base.slack")
    assert.includeMembers([...operations?.["message"] ?? []], ["post", "update", "delete"])
    assert.notProperty(parameters, "operation")
    assert.property(details("n8n-nodes-base.postgres").parameters, "operation")
  })

  it("tell what other settings would bring", () => {
    const { otherwise, parameters } = details("n8n-nodes-base.httpRequest")
    assert.notProperty(parameters, "jsonBody")
    assert.strictEqual(
      otherwise?.["jsonBody"],
      "sendBody is true, contentType is \"json\", specifyBody is \"json\""
    )
    // For agents only.
    assert.notProperty(otherwise, "optimizeResponse")
  })

  it("tell ports, credentials, versions, the tool and the documentation", () => {
    const { credentials, docs, outputs, tool, versions } = details("n8n-nodes-base.slack")
    assert.deepStrictEqual(outputs, ["main"])
    assert.strictEqual(tool, "n8n-nodes-base.slackTool")
    assert.include(versions, 2.2)
    assert.deepInclude(credentials ?? [], {
      type: "slackApi",
      required: true,
      when: "authentication is \"accessToken\""
    })
    assert.match(docs ?? "", /^https:\/\/docs\.n8n\.io\//)
    assert.deepStrictEqual(details("n8n-nodes-base.if").outputs, ["main[0] true", "main[1] false"])
    assert.include(details("@n8n/n8n-nodes-langchain.agent").inputs ?? [], "ai_languageModel Chat Model (required)")
    assert.isTrue(details("n8n-nodes-base.scheduleTrigger").trigger)
  })

  it("differ by version", () => {
    const old = details("n8n-nodes-base.if", { version: 1 })
    assert.strictEqual(old.parameters["conditions"]?.type, "fixedCollection")
    assert.strictEqual(details("n8n-nodes-base.if").parameters["conditions"]?.type, "filter")
    assert.deepInclude(lacking("n8n-nodes-base.if", { version: 9 }), { field: "version", value: "9" })
    const inner = details("n8n-nodes-base.if").parameters["options"]?.fields
    assert.deepStrictEqual(Object.keys(obj(inner) ?? {}), ["ignoreCase"])
  })

  it("tell single parameters whole, inner ones too, whatever they depend on", () => {
    const { example, parameters } = details("n8n-nodes-base.httpRequest", {
      parameters: ["jsonBody", "options.pagination", "options.pagination.pagination.nextURL", "options.timeout"]
    })
    assert.isUndefined(example)
    assert.strictEqual(
      parameters["jsonBody"]?.when,
      "sendBody is true, contentType is \"json\", specifyBody is \"json\""
    )
    assert.property(obj(parameters["options.pagination"]?.fields)?.["pagination"], "requestInterval")
    assert.strictEqual(parameters["options.pagination.pagination.nextURL"]?.type, "string")
    assert.strictEqual(parameters["options.timeout"]?.default, 10_000)
    const { parameters: slack } = details("n8n-nodes-base.slack", { parameters: ["messageType"] })
    assert.match(String(obj(slack["messageType"]?.options)?.["block"]), /^Blocks: Combine text/)
  })

  it("name what there is instead of what there is not", () => {
    assert.deepInclude(lacking("n8n-nodes-base.slack", { resource: "chanel" }), { field: "resource", value: "chanel" })
    const { candidates } = lacking("n8n-nodes-base.slack", { resource: "user", operation: "post" })
    assert.include(candidates, "getPresence")
    assert.notInclude(candidates, "post")
    assert.include(lacking("n8n-nodes-base.slack", { operation: "psot" }).candidates, "post")
    assert.deepStrictEqual(lacking("n8n-nodes-base.noOp", { resource: "x" }).candidates, [])
    assert.include(lacking("n8n-nodes-base.set", { parameters: ["asignments"] }).candidates, "assignments")
  })
})
