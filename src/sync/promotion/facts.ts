/** Reads both n8ns before anything is planned. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Errors from "../../base/Errors.ts"
import { suggestion } from "../../base/Nearest.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnlicensed, isUnsupported, isV1, writesDrafts } from "../../n8n/N8nClient.ts"
import type { WorkflowFolder } from "../../workflows/files/WorkflowFiles.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as NodeParameters from "../../workflows/NodeParameters.ts"
import type * as content from "../content.ts"
import * as references from "../references.ts"
import type { PromoteOptions } from "./options.ts"
import { live, ofClient, ofFolder, type Source } from "./source.ts"

const concurrency = 8

export const refuse = (reason: string, hint: string) => Errors.invalid("only", reason, hint)

/** The one thing with this id, else with this name. */
export const named = <A extends references.NamedRef>(
  refs: ReadonlyArray<A>,
  idOrName: string
): A | "none" | "several" => {
  const byId = refs.find(({ id }) => id === idOrName)
  const byName = refs.filter(({ name }) => name === idOrName)
  return byId ?? (byName.length > 1 ? "several" : byName[0] ?? "none")
}

export interface Credential extends references.NamedRef {
  readonly type: string
}

const credentialsIn = (workflows: ReadonlyArray<Workflow.Listed>): ReadonlyArray<Credential> => {
  const all = workflows.flatMap(Workflow.credentialsOf).filter(({ name }) => name !== "")
  return [...new Map(all.map((each) => [`${each.type} ${each.id}`, each])).values()]
}

export interface Known<A> {
  readonly refs: ReadonlyArray<A>
  /** Whether n8n lists them, so that no others exist. */
  readonly isComplete: boolean
}

/** Collects a list of n8n's; falls back to `known` if this n8n does not list them. */
const listed = <A>(stream: Stream.Stream<A, Errors.RequestError>, known: ReadonlyArray<A>) =>
  Stream.runCollect(stream).pipe(
    Effect.map((refs): Known<A> => ({ refs: [...refs], isComplete: true })),
    Effect.catchIf(
      (error) => isUnsupported(error) || isUnlicensed(error),
      () => Effect.succeed({ refs: known, isComplete: false })
    )
  )

const usesOf = (workflow: Workflow.Workflow, placesOf: (node: unknown) => ReadonlyArray<NodeParameters.Place>) => {
  const all: Array<references.Reference> = []
  references.map({ nodes: workflow.nodes, settings: workflow.settings }, placesOf, (reference) => {
    all.push(reference)
    return undefined
  })
  return all
}

const nothing = { refs: [], isComplete: true }

/** Finds workflows by id or name, and in a folder by file. */
const choose = (all: Source["refs"], { place }: Source, names: ReadonlyArray<string>) =>
  Effect.forEach(names, (idOrName) => {
    const workflow = all.find(({ file }) => file === idOrName) ?? named(all, idOrName)
    if (typeof workflow !== "string") return Effect.succeed(workflow.id)
    return refuse(
      workflow === "several"
        ? `Several workflows are named '${idOrName}'`
        : `There is no workflow '${idOrName}' on ${place}`,
      `Use ids, or names exactly as there. ${suggestion(idOrName, all.map(({ name }) => name))}`
    )
  })

export const read = Effect.fnUntraced(function*(
  { except = [], extras = [], from, only, to }: PromoteOptions<unknown>,
  folder: WorkflowFolder,
  userPath: string
) {
  const release = yield* to.release
  const scope: content.Scope = { extras, isV1: isV1(release), writesDrafts: writesDrafts(release) }
  const [source, targets] = yield* Effect.all([
    from === "folder" ? ofFolder(folder, userPath, scope) : ofClient(from),
    live(to)
  ], { concurrency: 2 })
  const all = [...source.refs, ...source.faults.map(({ file }) => ({ id: file, name: file }))]
  const chosen = new Set(only === undefined ? all.map(({ id }) => id) : yield* choose(all, source, only))
  for (const id of yield* choose(all, source, except)) chosen.delete(id)
  const faults = source.faults.filter(({ file }) => chosen.delete(file))
  const workflows = yield* Effect.forEach([...chosen], source.get, { concurrency })
  const placesOf = yield* NodeParameters.places({ nodes: workflows.flatMap(({ nodes }) => nodes) })
  const lookups = yield* NodeLookups.make(workflows.flatMap(({ nodes }) => nodes.map(({ type }) => type)), release)
  const uses = new Map(workflows.map((workflow) => [workflow.id, usesOf(workflow, placesOf)]))
  const isUsed = (kind: references.Reference["kind"]) => [...uses.values()].flat().some((use) => use.kind === kind)
  return {
    release,
    scope,
    source,
    faults,
    targets,
    chosen,
    workflows,
    placesOf,
    lookups,
    uses,
    credentials: isUsed("credential") ? yield* listed(to.streamCredentials, credentialsIn(targets)) : nothing,
    tables: isUsed("table")
      ? {
        source: source.tables ? yield* listed(source.tables, []) : nothing,
        target: yield* listed(to.streamDataTables, [])
      }
      : { source: nothing, target: nothing }
  }
})

export type Facts = Effect.Success<ReturnType<typeof read>>
