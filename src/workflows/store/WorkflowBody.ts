/** Request bodies of changes: repaired, merged into the current state, without parts that this n8n refuses. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import { type Obj, obj, without } from "../../base/Json.ts"
import { suggestion } from "../../base/Nearest.ts"
import * as Rows from "../../base/Rows.ts"
import * as Turn from "../../base/Turn.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { hasStatus, isNewer, isV1, N8nClient } from "../../n8n/N8nClient.ts"
import * as Placeholders from "../../workflow/Placeholders.ts"
import * as References from "../../workflow/References.ts"
import * as RefusedKeys from "../../workflow/repair/RefusedKeys.ts"
import * as WorkflowInput from "../../workflow/repair/WorkflowInput.ts"
import * as NodeLookups from "../NodeLookups.ts"
import type { Patch } from "./Outcome.ts"

/** Maximum number of times that a body is sent again without keys that n8n refuses; n8n names one place at a time. */
const maxRounds = 30

export const badRequest = hasStatus(400)

const problem = ({ candidates, message, name, path }: WorkflowInput.Problem) =>
  Errors.invalid(
    path,
    message,
    name === undefined || candidates === undefined
      ? "Nothing was written: correct it first."
      : `Nothing was written. ${suggestion(name, candidates)}`
  )

/** Checks and repairs a workflow before anything is sent; `before` has n8n's current nodes, none for a new workflow. */
export const prepare = Effect.fnUntraced(function*(
  input: unknown,
  source: WorkflowInput.Options["source"],
  before?: ReadonlyArray<Workflow.Node>,
  isExisting = false
) {
  const types = WorkflowInput.typesToLookUp(input)
  // Without a catalogue, types are unknown.
  const lookups = types.length === 0 ?
    undefined :
    yield* N8nClient.use((n8n) =>
      types.some(({ needsVersion }) => needsVersion) ? n8n.release : Effect.succeed(undefined)
    ).pipe(
      Effect.flatMap((release) => NodeLookups.make(types.map(({ type }) => type), release)),
      Effect.orElseSucceed(() => undefined)
    )
  yield* Turn.pause
  const prepared = WorkflowInput.prepare(input, {
    source,
    newId: () => crypto.randomUUID(),
    versionOf: lookups?.newest,
    lookups,
    stored: new Set(before?.flatMap(({ id }) => id ?? [])),
    isNew: before === undefined,
    isExisting
  })
  yield* Turn.pause
  return yield* Effect.mapError(Effect.fromResult(prepared), problem)
})

/** Sends a body; if n8n refuses some of its keys, sends it without them and names them in warnings. */
export const withoutRefused = (
  body: Obj,
  send: (body: Obj) => Effect.Effect<Workflow.Workflow, Errors.N8nError>,
  dropped: ReadonlyArray<ReadonlyArray<RefusedKeys.Path>> = []
): Effect.Effect<{ workflow: Workflow.Workflow; warnings: ReadonlyArray<string> }, Errors.N8nError> =>
  send(References.withNullIds(body)).pipe(
    Effect.map((workflow) => ({ workflow, warnings: leftOut(dropped.flat()) })),
    Effect.catchIf(badRequest, (error) => {
      const refused = RefusedKeys.toDrop(error.reason.details, body)
      return refused.length === 0 || dropped.length >= maxRounds
        ? Effect.fail(error)
        : withoutRefused(RefusedKeys.drop(body, refused), send, [...dropped, refused])
    })
  )

/** Parts of a workflow that the API of n8n 1 does not take. */
export const notInV1: ReadonlySet<string> = new Set(["description", "nodeGroups", "pinData"])

/** Parts that this n8n takes, as far as its release tells, and warnings of the others, which a write leaves out. */
export const taken = (patch: Patch, release: string | undefined) => {
  const refused = isV1(release) ? Object.keys(patch).filter((key) => notInV1.has(key)) : []
  const values = obj(patch.settings)
  const { faults, keys, unknown } = RefusedKeys.refusedSettings(isNewer(release) ? {} : values ?? {})
  const parts: Patch = without({ ...patch }, (_, key) => refused.includes(key))
  const paths = [...refused.map((key): RefusedKeys.Path => [key]), ...unknown]
  return {
    parts: keys.size === 0 ? parts : { ...parts, settings: without(values ?? {}, (_, key) => keys.has(key)) },
    warnings: [...leftOut(paths), ...faults]
  }
}

/** `n8n does not support settings.maxExecutions, color of 60 nodes: left out`. */
const leftOut = (paths: ReadonlyArray<RefusedKeys.Path>): ReadonlyArray<string> => {
  if (paths.length === 0) return []
  const byKey = Map.groupBy(
    paths,
    (path) => path[0] === "nodes" ? `${path.slice(2).join(".")} of nodes` : path.join(".")
  )
  const named = [...byKey].map(([key, all]) =>
    all.length === 1 ? key : key.replace(/ of nodes$/, ` of ${all.length} nodes`)
  )
  return [`n8n does not support ${named.join(", ")}: left out`]
}

/**
 * Body of a change, and its repairs. Unchanged parts are sent as they are, even with faults, since those are not the
 * caller's.
 */
export const merge = Effect.fnUntraced(
  function*(before: Workflow.Workflow, changes: Obj, source: WorkflowInput.Source) {
    const patch = yield* Placeholders.restore(changes, before)
    const { connections, nodes } = patch
    const base = { name: before.name, nodes: [], connections: {} }
    const settings = { ...Workflow.settingsToName(before), ...obj(patch["settings"]) }
    if (nodes === undefined && connections === undefined) {
      const { warnings, workflow } = yield* prepare({ ...base, ...patch, settings }, source, [])
      return { warnings, body: { ...workflow, nodes: before.nodes, connections: before.connections } as Obj }
    }
    if (nodes === undefined) {
      const asNow = before.nodes.map((node) => ({ typeVersion: 1, position: [0, 0], ...node }))
      const { warnings, workflow } = yield* prepare(
        { ...base, ...patch, settings, nodes: asNow },
        { nodes: "stored", connections: source },
        before.nodes
      )
      return { warnings, body: { ...workflow, nodes: before.nodes } as Obj }
    }
    const { warnings, workflow } = yield* prepare(
      {
        ...base,
        connections: before.connections,
        // n8n refuses a group that names a removed node.
        ...(Array.isArray(before["nodeGroups"]) && before["nodeGroups"].length > 0
          ? { nodeGroups: before["nodeGroups"] }
          : {}),
        ...patch,
        settings,
        nodes: Array.isArray(nodes) ? WorkflowInput.inherit(nodes, before.nodes) : nodes
      },
      // Existing connections may lead to a node that the caller removed.
      { nodes: source, connections: connections === undefined ? "stored" : source },
      before.nodes,
      source === "caller"
    )
    return { warnings, body: workflow as Obj }
  }
)

/** Warnings about connections that n8n drops silently, of nodes named like methods of objects, such as `toString`. */
export const lostConnections = (body: Obj, { connections }: Workflow.Workflow): ReadonlyArray<string> => {
  const lost = Object.keys(obj(body["connections"]) ?? {}).filter((source) => !Object.hasOwn(connections, source))
  return lost.length === 0 ? [] : [`n8n dropped the connections of ${Rows.names(lost)}`]
}
