/** Guard that checks every write to n8n against the operator's rules. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Errors from "../../base/Errors.ts"
import { type Obj, obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Visible from "../../base/Visible.ts"
import { findAll, NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import * as ToolVariant from "../../catalogue/types/ToolVariant.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import {
  type Fault,
  IsTestCopy,
  type ReadWorkflow,
  type Service,
  type Write,
  WriteGuard
} from "../../n8n/WriteGuard.ts"
import type { Rule } from "../../workflow/check/Rules.ts"
import * as Schedules from "../../workflow/Schedules.ts"

const day = 86_400

const range = (values: ReadonlyArray<number>, size: number) =>
  values.length > 0 ? values : Array.from({ length: size }, (_, index) => index)

const startsOf = ({ fields }: Schedules.Timing & { readonly _tag: "Cron" }) =>
  range(fields.hours, 24).flatMap((hour) =>
    range(fields.minutes, 60).flatMap((minute) =>
      range(fields.seconds, 60).map((second) => (hour * 60 + minute) * 60 + second)
    )
  )

/** Schedule rules of a node; those of 1.x leave the least time between starts. `isPolling` is undefined if unknown. */
const rulesOf = (node: Obj, isPolling: boolean | undefined): ReadonlyArray<Schedules.Timing> => {
  const schedule = Schedules.ofNode(node, { isV1: true })
  if (schedule !== undefined) return schedule
  const seemsPolling = Workflow.parametersOf(node)["pollTimes"] !== undefined && /trigger$/i.test(Workflow.typeOf(node))
  return isPolling ?? seemsPolling ? Schedules.ofPolling(node) : []
}

/** Whether only n8n can evaluate a rule, such as an expression. */
const isOpen = ({ _tag }: Schedules.Timing): boolean => _tag === "Open"

const gapIn = (starts: ReadonlyArray<number>) => {
  const sorted = [...new Set(starts)].toSorted((a, b) => a - b)
  return sorted.reduce(
    (least, start, index) => Math.min(least, (sorted[index + 1] ?? (sorted[0] ?? 0) + day) - start),
    Infinity
  )
}

/** Shortest time between two starts by any of the rules, in seconds; starts at the same second count once. */
const shortestGap = (rules: ReadonlyArray<Schedules.Timing>): number => {
  const isFixed = (timing: Schedules.Timing & { readonly _tag: "Cron" }) => timing.isMinuteRandom !== true
  const crons = rules.filter((timing) => timing._tag === "Cron")
  return Math.min(
    gapIn(crons.filter(isFixed).flatMap(startsOf)),
    // Of a random minute, only the time between starts is known.
    ...crons.filter((timing) => !isFixed(timing)).map((timing) => gapIn(startsOf(timing))),
    ...rules.flatMap((timing) => timing._tag === "Every" ? [timing.seconds] : [])
  )
}

const inWords = (seconds: number): string => {
  const [amount, unit] = seconds % 60 === 0 ? [seconds / 60, "minute"] : [seconds, "second"]
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`
}

const Names = Schema.Array(Schema.String.check(Schema.isMinLength(1)))

/** Rules of an operator. An absent rule allows everything. */
export const Rules = Schema.Struct({
  /** Node types that no workflow may contain, with their tool variants: `n8n-nodes-base.ssh`, or `ssh` of any package. */
  bannedNodes: Schema.optionalKey(Names),
  /** Minimum number of minutes between two starts of a workflow by schedules and polling triggers. */
  minScheduleMinutes: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),
  /** Tags of workflows that must not be changed. */
  protectedTags: Schema.optionalKey(Names),
  /** Requires an error workflow in the settings of every workflow that is not one itself. */
  requireErrorWorkflow: Schema.optionalKey(Schema.Boolean)
})
export type Rules = typeof Rules.Type

const labelOf = (node: Obj) => Visible.label(Workflow.nameOf(node) || "?")

const lower = (text: string) => text.toLowerCase()

const ban = (type: string, banned: ReadonlyArray<string>) => {
  const names = new Set([type, ToolVariant.baseOf(type) ?? type].flatMap((name) => [
    lower(name),
    lower(NodeType.shortName(name))
  ]))
  return banned.find((entry) => names.has(lower(entry)))
}

const maxDepth = 5

/** Whether a workflow that n8n has not checked is a list of nodes with types. */
const isReadable = (workflow: Obj | undefined): workflow is Obj => {
  const nodes = workflow?.["nodes"]
  return Array.isArray(nodes) && nodes.every((node) => typeof obj(node)?.["type"] === "string")
}

/** JSON of the workflow inside a node, or the reason why it is unknown. */
const nested = (node: Obj): Obj | string | undefined => {
  if (!/(executeWorkflow|executeWorkflowTool|toolWorkflow|retrieverWorkflow)$/.test(Workflow.typeOf(node))) {
    return undefined
  }
  const { source = "database", workflowJson } = Workflow.parametersOf(node)
  if (source === "database") return undefined
  if (source !== "parameter") {
    return `it runs a workflow from ${source === "url" ? "a URL" : `'${Visible.label(String(source))}'`}`
  }
  try {
    const inner = obj(JSON.parse(str(workflowJson) ?? ""))
    return isReadable(inner) ? inner : "the workflow in it has no list of nodes"
  } catch {
    return "the workflow in it is an expression or not JSON"
  }
}

const bannedIn = (
  nodes: ReadonlyArray<Obj>,
  { bannedNodes = [] }: Rules,
  place: JsonPath.Path = ["nodes"],
  depth = 0
): ReadonlyArray<Fault> => {
  if (bannedNodes.length === 0) return []
  return nodes.flatMap((node, index) => {
    const pathOf = (...steps: JsonPath.Path) => JsonPath.print([...place, index, ...steps])
    const entry = ban(Workflow.typeOf(node), bannedNodes)
    const inner = depth < maxDepth ? nested(node) : "its workflows are nested too deeply"
    return [
      ...(entry === undefined
        ? []
        : [{ message: `bannedNodes: '${entry}' is banned, and '${labelOf(node)}' is one`, path: pathOf("type") }]),
      ...(inner === undefined
        ? []
        : typeof inner === "string"
        ? [{ message: `bannedNodes: '${labelOf(node)}' cannot be checked: ${inner}`, path: pathOf("parameters") }]
        : bannedIn(
          Workflow.nodes(inner),
          { bannedNodes },
          [...place, index, "parameters", "workflowJson", "nodes"],
          depth + 1
        ))
    ]
  })
}

/** Whether a node type polls; `undefined` for an unknown type. */
type IsPolling = (type: string) => boolean | undefined

const scheduled = (
  workflow: Obj,
  { minScheduleMinutes }: Rules,
  isPolling: IsPolling
): ReadonlyArray<Fault> => {
  if (minScheduleMinutes === undefined) return []
  const nodes = Workflow.nodes(workflow)
  const byNode = Workflow.enabledNodes(workflow).flatMap((node) => {
    const rules = rulesOf(node, isPolling(Workflow.typeOf(node)))
    return rules.length === 0 ? [] : [{ node, rules }]
  })
  const unknown = byNode.find(({ rules }) => rules.some(isOpen))
  const at = (node: Obj | undefined) =>
    JsonPath.print(["nodes", nodes.findIndex((each) => each["name"] === node?.["name"]), "parameters"])
  if (unknown !== undefined) {
    return [{
      message: `minScheduleMinutes: ${minScheduleMinutes}, and when '${
        labelOf(unknown.node)
      }' starts the workflow cannot be checked: use fixed times instead of an expression`,
      path: at(unknown.node)
    }]
  }
  const gap = shortestGap(byNode.flatMap(({ rules }) => rules))
  if (gap >= minScheduleMinutes * 60) return []
  const names = byNode.map(({ node }) => `'${labelOf(node)}'`).join(" and ")
  return [{
    message: `minScheduleMinutes: ${minScheduleMinutes}, and ${names} would start the workflow again after ${
      inWords(gap)
    }`,
    path: at(byNode[0]?.node)
  }]
}

const errorWorkflowFaults = Effect.fnUntraced(function*(
  workflow: Obj,
  { requireErrorWorkflow }: Rules,
  read: (id: string) => Effect.Effect<unknown, Errors.N8nError>
) {
  if (requireErrorWorkflow !== true || Workflow.isErrorWorkflow(workflow)) return []
  const fault = (what: string): ReadonlyArray<Fault> => [
    { message: `requireErrorWorkflow: settings.errorWorkflow names ${what}`, path: "settings.errorWorkflow" }
  ]
  const id = Workflow.errorWorkflowId(workflow)
  if (id === undefined) return fault("no workflow")
  const named = `'${Visible.label(id)}'`
  const errorWorkflow = id === workflow["id"]
    ? workflow
    : obj(yield* Effect.catchTag(read(id), "NotFoundError", () => Effect.undefined))
  if (errorWorkflow === undefined) return fault(`${named}, which does not exist`)
  if (errorWorkflow["isArchived"] === true) return fault(`${named}, which is archived`)
  return Workflow.isErrorWorkflow(errorWorkflow) ? [] : fault(`${named}, which has no enabled Error Trigger`)
})

const protectedTag = (names: ReadonlyArray<string>, { protectedTags = [] }: Rules): string | undefined =>
  names.find((name) => protectedTags.some((tag) => lower(tag) === lower(name)))

const refuse = (faults: ReadonlyArray<Fault>) =>
  faults.length === 0 ? Effect.void : Errors.invalid(
    faults[0]?.path ?? "",
    `The policy forbids it. ${faults.map(({ message }) => message).join(". ")}`,
    "Nothing was written. The operator sets these rules: find a way that follows them, or ask the user to have the policy changed."
  )

const decoded = (part: string | undefined) => {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Writes whose effect on workflows cannot be determined in advance. */
const opaqueWrites = [
  /^\/n8n-packages\/import/,
  /^\/source-control\/pull/,
  /^\/promotions\/connections\/[^/]+\/(apply|promote)/,
  /^\/projects\/[^/]+$/,
  /^\/projects\/[^/]+\/folders\/[^/]+$/
]

const pathOf = (id: string) => `/workflows/${encodeURIComponent(id)}`

const toPublish = Effect.fnUntraced(function*(workflow: Obj, { body, path, read }: Write) {
  const versionId = str(obj(body)?.["versionId"])
  if (versionId === undefined || versionId === workflow["versionId"]) return workflow
  const base = path.replace(/\/[^/]*$/, "")
  const version = obj(yield* read(`${base}/versions/${encodeURIComponent(versionId)}`))
  return { ...workflow, nodes: version?.["nodes"], connections: version?.["connections"] }
})

const faultsOf = ({ check, id }: Rule, workflow: Obj): ReadonlyArray<Fault> =>
  check(workflow).flatMap(({ message, path, severity }) =>
    severity === "error" ? [{ message: `${id}: ${message.replace(/\.$/, "")}`, path }] : []
  )

const make = (rules: Rules, own: ReadonlyArray<Rule>, catalogue: typeof NodeCatalogue.Service): Service => {
  const pollingAmong = (workflow: Obj) =>
    rules.minScheduleMinutes === undefined ? Effect.succeed(() => false) : findAll(Workflow.typesOf(workflow)).pipe(
      Effect.provideService(NodeCatalogue, catalogue),
      Effect.map((find) => (type: string) => find(type)?.descriptions.some(({ polling }) => polling === true))
    )

  const contentFaults = Effect.fnUntraced(function*(workflow: Obj, read: ReadWorkflow) {
    return [
      ...bannedIn(Workflow.nodes(workflow), rules),
      ...scheduled(workflow, rules, yield* pollingAmong(workflow)),
      ...yield* errorWorkflowFaults(workflow, rules, read),
      ...own.flatMap((rule) => faultsOf(rule, workflow))
    ]
  })

  const checkContent = (workflow: Obj, { read }: Write) =>
    IsTestCopy.use((isCopy) =>
      isCopy ? Effect.void : Effect.flatMap(contentFaults(workflow, (id) => read(pathOf(id))), refuse)
    )

  const checkProtection = (id: string, workflow: Obj) => {
    const tag = protectedTag(Workflow.tagNames(workflow), rules)
    return tag === undefined ? Effect.void : refuse([{
      message: `protectedTags: workflow '${id}' has the tag '${tag}' and must not be changed`,
      path: "tags"
    }])
  }

  const checkNodes = (workflow: Obj) => refuse(bannedIn(Workflow.nodes(workflow), rules))

  /** Checks what a retry from the failed node runs: the stored workflow, or the one of the execution. */
  const checkRetry = Effect.fnUntraced(function*({ body, read }: Write, id: string) {
    if (rules.bannedNodes === undefined) return
    const isLatest = obj(body)?.["loadWorkflow"] === true
    const query = isLatest ? {} : { includeData: "true" }
    const execution = obj(yield* read(`/executions/${encodeURIComponent(id)}`, query))
    const workflow = obj(
      isLatest ? yield* read(pathOf(String(execution?.["workflowId"]))) : execution?.["workflowData"]
    )
    yield* isReadable(workflow) ? checkNodes(workflow) : refuse([{
      message: `bannedNodes: the workflow of execution '${Visible.label(id)}' cannot be checked`,
      path: ""
    }])
  }, Effect.catchTag("NotFoundError", () => Effect.void))

  const checkWorkflow = Effect.fnUntraced(function*(write: Write, id: string, action: string | undefined) {
    const current = yield* write.read(pathOf(id)).pipe(
      Effect.map((workflow) => obj(workflow) ?? {}),
      // n8n reports the missing workflow itself.
      Effect.catchTag("NotFoundError", () => Effect.undefined)
    )
    if (current === undefined) return
    if (action === "test-runs") return yield* checkNodes(current)
    yield* checkProtection(id, current)
    if (action === undefined && write.method === "PUT") {
      const body = obj(write.body) ?? {}
      const settings = { ...obj(current["settings"]), ...obj(body["settings"]) }
      return yield* checkContent({ ...current, ...body, settings }, write)
    }
    if (action === "publish" || action === "activate") yield* checkContent(yield* toPublish(current, write), write)
  })

  const checkTag = Effect.fnUntraced(function*({ read }: Write, id: string) {
    const tag = yield* Effect.catchTag(read(`/tags/${encodeURIComponent(id)}`), "NotFoundError", () => Effect.undefined)
    const name = protectedTag([Workflow.nameOf(tag)], rules)
    if (name !== undefined) {
      yield* refuse([{ message: `protectedTags: the tag '${name}' must not be renamed or deleted`, path: "tags" }])
    }
  })

  return {
    check: Effect.fn("Policy.check")(function*(write) {
      const parts = write.path.split("/").map(decoded)
      const [, resource, id, action, part] = parts.map((part, index) => index === 2 ? part : part?.toLowerCase())
      const path = parts.join("/").toLowerCase()
      // What ends or cancels a test run runs nothing.
      if (resource === "workflows" && action === "test-runs" && part) return
      if (resource === "workflows") {
        return id === undefined
          ? yield* checkContent(obj(write.body) ?? {}, write)
          : yield* checkWorkflow(write, id, action)
      }
      if (resource === "executions" && id !== undefined && action === "retry") return yield* checkRetry(write, id)
      if (resource === "tags" && id !== undefined) return yield* checkTag(write, id)
      if (
        (resource !== "projects" || write.method === "DELETE") && opaqueWrites.some((each) => each.test(path))
      ) {
        const names = [...Object.keys(rules), ...own.map(({ id }) => id)].join(", ")
        const message = `${names}: the workflows that ${write.method} ${write.path} changes cannot be checked`
        yield* refuse([{ message, path: "" }])
      }
    }),
    checkTest: (nodes) => checkNodes({ nodes }),
    faults: contentFaults
  }
}

/**
 * Guard for these rules and the errors of the application's own: every write of this package passes it, by a tool,
 * `WorkflowStore` or `N8nClient`. If a lookup fails, nothing is written.
 *
 * **Example** (No shell on our n8n)
 *
 * ```ts
 * import { Policy, Services, tools } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const services = Layer.merge(FakeN8n.layer(), Services.layerMemory)
 * const guarded = Layer.provideMerge(Policy.layer({ bannedNodes: ["executeCommand"] }), services)
 *
 * const node = { name: "Shell", type: "n8n-nodes-base.executeCommand", parameters: { command: "id" } }
 *
 * export const test = tools.createWorkflow.call({ name: "Shell", nodes: [node], connections: {} }).pipe(
 *   Effect.flip,
 *   Effect.map(({ message }) => message),
 *   Effect.provide(guarded)
 * )
 * ```
 */
export const layer = (rules: Rules, own: ReadonlyArray<Rule> = []): Layer.Layer<never, never, NodeCatalogue> =>
  Layer.effect(WriteGuard, Effect.map(NodeCatalogue, (catalogue) => make(rules, own, catalogue)))
