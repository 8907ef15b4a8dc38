/** Reads both n8ns before anything is planned. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Errors from "../../base/Errors.ts"
import { suggestion } from "../../base/Nearest.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnlicensed, isUnsupported, isV1, type Service as Client, writesDrafts } from "../../n8n/N8nClient.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as NodeParameters from "../../workflows/NodeParameters.ts"
import * as Compare from "../comparison.ts"
import type * as content from "../content.ts"
import * as references from "../references.ts"
import type { PromoteOptions } from "./options.ts"

const concurrency = 8

export const refuse = (reason: string, hint: string) => Errors.invalid("only", reason, hint)

const live = (client: Client) =>
  Effect.map(Compare.listAll(client), (workflows) => workflows.filter(({ isArchived }) => isArchived !== true))

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

const choose = Effect.fnUntraced(
  function*(sources: ReadonlyArray<Workflow.Listed>, only: ReadonlyArray<string> | undefined, url: string) {
    if (only === undefined) return sources
    return yield* Effect.forEach(only, (idOrName) => {
      const workflow = named(sources, idOrName)
      if (typeof workflow !== "string") return Effect.succeed(workflow)
      return refuse(
        workflow === "several"
          ? `Several workflows are named '${idOrName}'`
          : `There is no workflow '${idOrName}' on ${url}`,
        `Use ids, or names exactly as on n8n. ${suggestion(idOrName, sources.map(({ name }) => name))}`
      )
    })
  }
)

export const read = Effect.fnUntraced(function*({ extras = [], from, only, to }: PromoteOptions<unknown>) {
  const [sources, targets] = yield* Effect.all([live(from), live(to)], { concurrency: 2 })
  const release = yield* to.release
  const scope: content.Scope = { extras, isV1: isV1(release), writesDrafts: writesDrafts(release) }
  const chosen = new Set((yield* choose(sources, only, from.instance.url)).map(({ id }) => id))
  const workflows = yield* Effect.forEach([...chosen], (id) => from.getWorkflow(id), { concurrency })
  const placesOf = yield* NodeParameters.places({ nodes: workflows.flatMap(({ nodes }) => nodes) })
  const lookups = yield* NodeLookups.make(workflows.flatMap(({ nodes }) => nodes.map(({ type }) => type)), release)
  const uses = new Map(workflows.map((workflow) => [workflow.id, usesOf(workflow, placesOf)]))
  const isUsed = (kind: references.Reference["kind"]) => [...uses.values()].flat().some((use) => use.kind === kind)
  return {
    release,
    scope,
    sources,
    targets,
    chosen,
    workflows,
    placesOf,
    lookups,
    uses,
    credentials: isUsed("credential") ? yield* listed(to.streamCredentials, credentialsIn(targets)) : nothing,
    tables: isUsed("table")
      ? { source: yield* listed(from.streamDataTables, []), target: yield* listed(to.streamDataTables, []) }
      : { source: nothing, target: nothing }
  }
})

export type Facts = Effect.Success<ReturnType<typeof read>>
