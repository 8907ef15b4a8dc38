import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { createRequire } from "node:module"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as NodeDetails from "../../../src/catalogue/types/NodeDetails.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as ParameterView from "../../../src/catalogue/types/ParameterView.ts"
import * as Ports from "../../../src/catalogue/types/Ports.ts"
import * as ToolVariant from "../../../src/catalogue/types/ToolVariant.ts"
import { answered } from "../../support/nodeDetails.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"

const evaluate = await Effect.runPromise(Ports.evaluator)

const background = { release: "2.41.1", releases: { lacking: {}, removed: {} } }

const described = (nodeType: NodeType.NodeType, ask: NodeDetails.Ask) =>
  Result.getOrThrow(NodeDetails.details(nodeType, ask, evaluate, background))

const whole = ({ at, steps }: NodeDetails.Described) => at(steps)

const details = (type: string, ask: NodeDetails.Ask = {}) => whole(described(nodeTypes.get(type), ask))

const lacking = (type: string, ask: NodeDetails.Ask) =>
  Result.getOrThrow(Result.flip(NodeDetails.details(nodeTypes.get(type), ask, evaluate, background)))

interface Helpers {
  readonly getNodeParameters: (...args: ReadonlyArray<unknown>) => object | null
  readonly getNodeParametersIssues: (properties: unknown, node: unknown, description: unknown) => object | null
}
/** n8n's own judge. */
const { NodeHelpers } = createRequire(import.meta.url)("n8n-workflow") as { readonly NodeHelpers: Helpers }

/** n8n gives up on a regular expression after a tenth of a second, which a busy machine may take: it is asked again. */
const issuesOf = (...args: Parameters<Helpers["getNodeParametersIssues"]>): object | null => {
  try {
    return NodeHelpers.getNodeParametersIssues(...args)
  } catch {
    return NodeHelpers.getNodeParametersIssues(...args)
  }
}

/** Every version by itself, and the newest with every other operation of each resource. */
const asks = (nodeType: NodeType.NodeType): ReadonlyArray<NodeDetails.Ask> => {
  const { operations = {} } = whole(described(nodeType, {}))
  return [
    ...NodeType.versions(nodeType).map((version) => ({ version })),
    ...Object.entries(operations).flatMap(([resource, each]) =>
      each.filter((_, index) => index % 2 === 0).map((operation) => ({ resource, operation }))
    )
  ]
}

/** Thousands of answers are too many for one test. */
const parts = Array.from({ length: 20 }, (_, part) => part)
const partOf = <A>(all: ReadonlyArray<A>, part: number) => all.filter((_, index) => index % parts.length === part)

describe("node details", () => {
  it.each(parts)("stay below 1,500 tokens, with an example that n8n takes, for every type (part %i)", (part) => {
    let count = 0
    const refused: Array<unknown> = []
    const tools = [...nodeTypes.all.values()].flatMap((base) => ToolVariant.variant(`${base.type}Tool`, base) ?? [])
    assert.isAbove(tools.length, 200)
    for (const nodeType of partOf([...nodeTypes.all.values(), ...tools], part)) {
      for (const ask of nodeType.type.endsWith("Tool") ? [{}] : asks(nodeType)) {
        const answer = answered(described(nodeType, ask))
        const text = JSON.stringify(answer)
        // A token is hardly ever less than three characters here; to count them all takes a minute.
        if (text.length > 3_500) assert.isAtMost(countTokens(text), 1_500, `${nodeType.type} ${JSON.stringify(ask)}`)
        const description = NodeType.at(nodeType, answer.version)
        const { example } = answer
        const properties = description?.properties
        const given = example?.parameters
        const parameters = NodeHelpers.getNodeParameters(properties, given, true, false, example, description)
        const issues = issuesOf(properties, { ...example, parameters }, description)
        if (issues !== null) refused.push({ type: nodeType.type, ask, issues, parameters: example?.parameters })
        count++
      }
    }
    assert.isAbove(count, 2_000 / parts.length)
    assert.deepStrictEqual(refused, [])
  })

  it("list the parameters of a resource and operation, the required ones first", () => {
    const ask = { resource: "channel", operation: "invite" }
    const { example, operations, parameters } = details("n8n-nodes-base.slack", ask)
    assert.isUndefined(operations)
    assert.deepStrictEqual(Object.keys(parameters).slice(0, 2).toSorted(), ["channelId", "userIds"])
    const modes = ["list", "id", "url"]
    assert.deepInclude(parameters["channelId"], { type: "resourceLocator", required: true, modes })
    assert.notProperty(parameters, "messageType")
    const parameterValues = obj(example?.parameters)
    assert.deepInclude(parameterValues, ask)
    assert.deepInclude(parameterValues?.["channelId"] as Obj, { __rl: true, mode: "id" })
  })

  it("find the resource of an operation", () => {
    const chosen = { resource: "message", operation: "getPermalink" }
    assert.deepInclude(details("n8n-nodes-base.slack", { operation: "getPermalink" }).example?.parameters, chosen)
  })

  it("list resources and operations when neither is given", () => {
    const { operations, parameters } = details("n8n-nodes-base.slack")
    assert.includeMembers([...operations?.["message"] ?? []], ["post", "update", "delete"])
    assert.notProperty(parameters, "operation")
    assert.property(details("n8n-nodes-base.postgres").parameters, "operation")
  })

  it("describe what other settings would add", () => {
    const { otherwise, parameters } = details("n8n-nodes-base.httpRequest")
    assert.property(parameters, "jsonBody")
    assert.notProperty(parameters, "bodyParameters")
    const when = `sendBody is true, contentType is "json", specifyBody is "keypair"`
    assert.strictEqual(otherwise?.["bodyParameters"], when)
    // For agents only.
    assert.notProperty(otherwise, "optimizeResponse")
  })

  it("show common use", () => {
    const example = (type: string) => details(type).example?.parameters
    assert.deepInclude(example("n8n-nodes-base.httpRequest"), {
      method: "POST",
      sendBody: true,
      specifyBody: "json",
      jsonBody: "={{ JSON.stringify({ id: $json.id, name: $json.name }) }}"
    })
    const operator = { type: "string", operation: "equals" }
    const filter = (version: number) => ({
      options: { caseSensitive: true, leftValue: "", typeValidation: "strict", version },
      conditions: [{ id: "1", leftValue: "={{ $json.status }}", rightValue: "active", operator }],
      combinator: "and"
    })
    assert.deepStrictEqual(example("n8n-nodes-base.if"), { conditions: filter(3) })
    // The version of a filter is that of the node's version.
    const older = details("n8n-nodes-base.if", { version: 2.2 }).example?.parameters
    assert.deepInclude(older, { conditions: filter(2) })
    const value = "={{ ($json.price ?? 0) * ($json.quantity ?? 1) }}"
    assert.deepStrictEqual(example("n8n-nodes-base.set"), {
      mode: "manual",
      assignments: { assignments: [{ id: "1", name: "total", type: "number", value }] }
    })
    assert.deepStrictEqual(example("n8n-nodes-base.scheduleTrigger"), {
      rule: { interval: [{ field: "weeks", weeksInterval: 1, triggerAtDay: [1, 2, 3, 4, 5], triggerAtHour: 9 }] }
    })
    const schema = obj(example("@n8n/n8n-nodes-langchain.outputParserStructured"))
    assert.strictEqual(schema?.["schemaType"], "manual")
    assert.deepInclude(JSON.parse(String(schema?.["inputSchema"])), { type: "object" })
    const locator = { __rl: true, mode: "id", value: "896347036838936576" }
    assert.deepStrictEqual(example("n8n-nodes-base.discord"), {
      resource: "message",
      operation: "send",
      authentication: "botToken",
      guildId: locator,
      channelId: locator,
      sendTo: "channel",
      content: "My message"
    })
  })

  it("describe what adds a port, and the error output", () => {
    const { inputs = [], outputs = [] } = details("@n8n/n8n-nodes-langchain.agent")
    assert.include(inputs, "ai_outputParser Output Parser when hasOutputParser is true")
    assert.include(outputs, "main[1] error when the node has onError: \"continueErrorOutput\": {…input, error}")
    const fallback = `main[1] Fallback when options.fallbackOutput is "extra"`
    assert.include(details("n8n-nodes-base.switch").outputs ?? [], fallback)
    assert.include(details("n8n-nodes-base.merge").inputs ?? [], "main[2] Input 3 when numberInputs is 3")
    const store = details("@n8n/n8n-nodes-langchain.vectorStorePinecone")
    assert.include(store.outputs ?? [], "ai_tool Tool instead when mode is \"retrieve-as-tool\"")
    assert.deepStrictEqual(details("n8n-nodes-base.scheduleTrigger").outputs, ["main"])
  })

  it("describe how an agent's tool is called, and fill its values by $fromAI", () => {
    const type = "n8n-nodes-base.slackTool"
    const slack = ToolVariant.variant(type, nodeTypes.get("n8n-nodes-base.slack"))
    assert.isDefined(slack)
    const { example, notes, outputs } = whole(described(slack, {}))
    assert.deepStrictEqual(outputs, ["ai_tool"])
    assert.match(String(notes), /its name.*\$fromAI/)
    assert.match(String(obj(example?.parameters)?.["text"]), /^=\{\{ \$fromAI\('text', '.+', 'string'\) \}\}$/)
  })

  it.each<[type: string, path: RegExp]>([
    ["httpRequest", /"url":"=https:\/\/api\.example\.com\/orders\/\{\{ \$fromAI\(.*"jsonBody":"=.*\$fromAI\(/],
    ["googleSheets", /"lookupValue":"=\{\{ \$fromAI\(/],
    ["airtop", /\$fromAI\(/]
  ])("show what the agent's model fills in, though n8n requires nothing: %s", (name, path) => {
    const tool = ToolVariant.variant(`n8n-nodes-base.${name}Tool`, nodeTypes.get(`n8n-nodes-base.${name}`))
    assert.isDefined(tool)
    const { example } = whole(described(tool, {}))
    assert.match(JSON.stringify(example?.parameters), path)
  })

  it("show the keys inside objects, and the operators of a filter", () => {
    const { parameters } = details("n8n-nodes-base.if")
    assert.match(parameters["conditions"]?.shape ?? "", /conditions: \[\{id, leftValue, rightValue, operator/)
    assert.match(parameters["conditions"]?.operators?.["number"] ?? "", /\bgte\b/)
    assert.strictEqual(details("n8n-nodes-base.slack").parameters["channelId"]?.shape, "{__rl: true, mode, value}")
  })

  it.each(parts)("stay below 1,500 tokens for any request by name (part %i)", (part) => {
    let count = 0
    for (const nodeType of partOf([...nodeTypes.all.values()], part)) {
      const description = NodeType.at(nodeType, NodeType.defaultVersion(nodeType))
      const version = NodeType.defaultVersion(nodeType)
      const shown = ParameterView.ofVersion(description?.properties ?? [], { version, isTool: false })
      const names = [...new Set(shown.map(({ name }) => name))]
      for (const parameters of [names, ...names.map((name) => [name])]) {
        if (parameters.length === 0) continue
        const answer = answered(described(nodeType, { parameters }))
        const text = JSON.stringify(answer)
        if (text.length > 3_500) assert.isAtMost(countTokens(text), 1_500, `${nodeType.type} ${parameters.join()}`)
        // What does not fit is named or counted.
        const left = answer.more?.at(-1)?.match(/^… \[\+(\d+) more\]$/)?.[1]
        const named = (answer.more?.length ?? 0) - (left === undefined ? 0 : 1)
        assert.isAtLeast(Object.keys(answer.parameters).length + named + Number(left ?? 0), parameters.length)
        count++
      }
    }
    assert.isAtLeast(count, 4_000 / parts.length)
  })

  it("narrow parameters of one name to the resource and operation", () => {
    const type = "n8n-nodes-base.slack"
    const { parameters } = details(type, { parameters: ["channelId"], resource: "channel", operation: "invite" })
    assert.deepStrictEqual(Object.keys(parameters), ["channelId"])
    assert.isAbove(Object.keys(details(type, { parameters: ["channelId"] }).parameters).length, 1)
  })

  it("list ports, credentials, versions, the tool and the documentation", () => {
    const { credentials, docs, outputs, tool, versions } = details("n8n-nodes-base.slack")
    assert.strictEqual(outputs?.[0], "main")
    assert.strictEqual(tool, "n8n-nodes-base.slackTool")
    assert.include(versions, 2.2)
    const when = "authentication is \"accessToken\""
    assert.deepInclude(credentials ?? [], { type: "slackApi", required: true, when })
    assert.match(docs ?? "", /^https:\/\/docs\.n8n\.io\//)
    assert.deepStrictEqual(details("n8n-nodes-base.if").outputs?.slice(0, 2), ["main[0] true", "main[1] false"])
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

  it("describe single parameters completely, inner ones too, whatever they depend on", () => {
    const { example, parameters } = details("n8n-nodes-base.httpRequest", {
      parameters: ["jsonBody", "options.pagination", "options.pagination.pagination.nextURL", "options.timeout"]
    })
    assert.isUndefined(example)
    assert.strictEqual(parameters["jsonBody"]?.when, `sendBody is true, contentType is "json", specifyBody is "json"`)
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
