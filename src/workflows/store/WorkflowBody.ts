/** What is sent to n8n for a change: repaired, merged into what is there, without what this n8n refuses. */
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import * as Errors from "../../base/Errors.ts"
import { equals, type Obj, obj } from "../../base/Json.ts"
import { suggestion } from "../../base/Nearest.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as NodeLookups from "../NodeLookups.ts"
import * as Placeholders from "../Placeholders.ts"
import * as Refusal from "../repair/Refusal.ts"
import * as WorkflowInput from "../repair/WorkflowInput.ts"

/** So often a body is sent again without the keys that n8n refuses; it names one place at a time. */
const maxRounds = 30

/** n8n refused the request for what is in it. */
export const badRequest = (error: Errors.N8nError): error is Errors.ApiError =>
  error._tag === "ApiError" && error.statusCode === 400

const problem = ({ candidates, message, name, path }: WorkflowInput.Problem) =>
  new Errors.ValidationError({
    reason: message,
    field: path,
    hint: name === undefined || candidates === undefined
      ? "Nothing was written. Put it right and call again."
      : `Nothing was written. ${suggestion(name, candidates)}`
  })

/** Checks and repairs what a caller or a file gives, before anything is sent; `before` is what n8n has of it. */
export const prepare = Effect.fnUntraced(function*(
  input: unknown,
  source: "caller" | "file",
  before: ReadonlyArray<Workflow.Node> = [],
  isExisting = false
) {
  const stored = new Set(before.flatMap(({ id }) => id ?? []))
  const types = WorkflowInput.typesToLookUp(input, stored)
  // Without a catalogue nothing is known of them.
  const lookups = types.length === 0 ?
    undefined :
    yield* N8nClient.use((n8n) =>
      types.some(({ needsVersion }) => needsVersion) ? n8n.release : Effect.succeed(undefined)
    ).pipe(
      Effect.flatMap((release) => NodeLookups.make(types.map(({ type }) => type), release)),
      Effect.orElseSucceed(() => undefined)
    )
  const prepared = WorkflowInput.prepare(input, {
    source,
    newId: randomUUID,
    versionOf: lookups?.newest,
    hasWebhook: (type) => lookups?.find(type)?.descriptions.some(({ webhooks = [] }) => webhooks.length > 0) === true,
    stored,
    isExisting
  })
  return yield* Effect.mapError(Effect.fromResult(prepared), problem)
})

/** Sends a body; when n8n refuses keys of it, sends it without them and names them. */
export const withoutRefused = (
  body: Obj,
  send: (body: Obj) => Effect.Effect<Workflow.Workflow, Errors.N8nError>,
  dropped: ReadonlyArray<ReadonlyArray<Refusal.Path>> = []
): Effect.Effect<{ workflow: Workflow.Workflow; warnings: ReadonlyArray<string> }, Errors.N8nError> =>
  send(body).pipe(
    Effect.map((workflow) => ({ workflow, warnings: leftOut(dropped.flat()) })),
    Effect.catchIf(badRequest, (error) => {
      const refused = Refusal.toDrop(error.errorDetails ?? "", body)
      return refused.length === 0 || dropped.length >= maxRounds
        ? Effect.fail(error)
        : withoutRefused(refused.reduce(Refusal.drop, body), send, [...dropped, refused])
    })
  )

/** `n8n does not take settings.maxExecutions, color of 60 nodes: left out`. */
const leftOut = (paths: ReadonlyArray<Refusal.Path>): ReadonlyArray<string> => {
  if (paths.length === 0) return []
  const byKey = Map.groupBy(
    paths,
    (path) => path[0] === "nodes" ? `${path.slice(2).join(".")} of nodes` : path.join(".")
  )
  const named = [...byKey].map(([key, all]) =>
    all.length === 1 ? key : key.replace(/ of nodes$/, ` of ${all.length} nodes`)
  )
  return [`n8n does not take ${named.join(", ")}: left out`]
}

/**
 * The body for a change, and what had to be repaired in it. What the change does not name is sent as it is, faults
 * included: they are not the caller's.
 */
export const merge = Effect.fnUntraced(function*(before: Workflow.Workflow, changes: Obj, source: "caller" | "file") {
  const patch = yield* Placeholders.restore(changes, before)
  const { connections, nodes } = patch
  const base = { name: before.name, nodes: [], connections: {} }
  const settings = { ...Workflow.settingsToName(before), ...obj(patch["settings"]) }
  if (nodes === undefined && connections === undefined) {
    const { warnings, workflow } = yield* prepare({ ...base, ...patch, settings }, source)
    return { warnings, body: { ...workflow, nodes: before.nodes, connections: before.connections } as Obj }
  }
  if (nodes === undefined) {
    const asNow = before.nodes.map((node) => ({ typeVersion: 1, position: [0, 0], ...node }))
    const { warnings, workflow } = yield* prepare({ ...base, ...patch, settings, nodes: asNow }, source, before.nodes)
    return { warnings, body: { ...workflow, nodes: before.nodes } as Obj }
  }
  const { warnings, workflow } = yield* prepare(
    {
      ...base,
      connections: before.connections,
      // n8n refuses a group that names a node which is gone.
      ...(Array.isArray(before["nodeGroups"]) && before["nodeGroups"].length > 0
        ? { nodeGroups: before["nodeGroups"] }
        : {}),
      ...patch,
      settings,
      nodes: Array.isArray(nodes) ? WorkflowInput.inherit(nodes, before.nodes) : nodes
    },
    // Links that the caller did not write may lead to a node that the caller took away.
    connections === undefined ? "file" : source,
    before.nodes,
    source === "caller"
  )
  return { warnings, body: workflow as Obj }
})

/** Whether a part has its value already; settings are merged, so those that are not named do not matter. */
export const isThere = (wanted: unknown, there: unknown, isMerged: boolean) =>
  isMerged
    ? Object.entries(obj(wanted) ?? {}).every(([key, value]) => equals(value, obj(there)?.[key]))
    : equals(wanted, there)

/** n8n drops links of nodes that are named like a method of JavaScript's objects, such as `toString`, without a word. */
export const notKept = (body: Obj, { connections }: Workflow.Workflow): ReadonlyArray<string> => {
  const lost = Object.keys(obj(body["connections"]) ?? {}).filter((source) => !Object.hasOwn(connections, source))
  return lost.length === 0 ? [] : [`n8n did not keep the connections of ${lost.map((name) => `'${name}'`).join(", ")}`]
}
