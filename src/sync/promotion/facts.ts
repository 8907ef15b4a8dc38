/** What is read of both n8ns before anything is decided. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Errors from "../../base/Errors.ts"
import { obj, own, str } from "../../base/Json.ts"
import { suggestion } from "../../base/Nearest.ts"
import type * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnlicensed, isUnsupported, isV1, type Service as Client, writesDrafts } from "../../n8n/N8nClient.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as NodeParameters from "../../workflows/NodeParameters.ts"
import * as Compare from "../comparison.ts"
import type * as content from "../content.ts"
import * as references from "../references.ts"
import type { PromoteOptions } from "./promotion.ts"

const atOnce = 8

/** Why nothing can be promoted. */
export const refuse = (reason: string, hint: string) => new Errors.ValidationError({ reason, field: "only", hint })

const live = (client: Client) =>
  Effect.map(Compare.listAll(client), (workflows) => workflows.filter(({ isArchived }) => isArchived !== true))

/** The one thing with this id, else with this name. */
export const named = <A extends references.Thing>(
  things: ReadonlyArray<A>,
  idOrName: string
): A | "none" | "several" => {
  const byId = things.find(({ id }) => id === idOrName)
  const byName = things.filter(({ name }) => name === idOrName)
  return byId ?? (byName.length > 1 ? "several" : byName[0] ?? "none")
}

/** A credential, of which nobody is told its values. */
export interface Credential extends references.Thing {
  readonly type: string
}

/** The credentials that workflows use, which is all that n8n 1.x tells of them. */
const credentialsIn = (workflows: ReadonlyArray<Workflow.Listed>): ReadonlyArray<Credential> => {
  const all = workflows.flatMap(({ nodes }) => nodes).flatMap((node) =>
    Object.entries(obj(own(node, "credentials")) ?? {}).flatMap(([type, credential]) => {
      const [id, name] = [str(own(credential, "id")), str(own(credential, "name"))]
      return id === undefined || name === undefined ? [] : [{ id, name, type }]
    })
  )
  return [...new Map(all.map((each) => [`${each.type} ${each.id}`, each])).values()]
}

/** Things of an n8n; `isWhole`: whether it lists them. */
export interface Known<A> {
  readonly things: ReadonlyArray<A>
  readonly isWhole: boolean
}

/** All of them, or those that are known where n8n does not list them. */
const listed = <A>(stream: Stream.Stream<A, Errors.RequestError>, known: ReadonlyArray<A>) =>
  Stream.runCollect(stream).pipe(
    Effect.map((things): Known<A> => ({
      things: [...things],
      isWhole: true
    })),
    Effect.catchIf(
      (error) => isUnsupported(error) || isUnlicensed(error),
      () => Effect.succeed({ things: known, isWhole: false })
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

const nothing = { things: [], isWhole: true }

/** The workflows that are named, else all. */
const choose = Effect.fnUntraced(
  function*(sources: ReadonlyArray<Workflow.Listed>, only: ReadonlyArray<string> | undefined, url: string) {
    if (only === undefined) return sources
    return yield* Effect.forEach(only, (wanted) => {
      const found = named(sources, wanted)
      if (typeof found !== "string") return Effect.succeed(found)
      return refuse(
        found === "several" ? `Several workflows are named '${wanted}'` : `There is no workflow '${wanted}' on ${url}`,
        `Give ids, or names as n8n has them. ${suggestion(wanted, sources.map(({ name }) => name))}`
      )
    })
  }
)

/** Reads what there is on both sides, of what is promoted whole workflows. */
export const read = Effect.fnUntraced(function*({ extras = [], from, only, to }: PromoteOptions<unknown>) {
  const [sources, targets] = yield* Effect.all([live(from), live(to)], { concurrency: 2 })
  const release = yield* to.release
  const scope: content.Scope = { extras, isV1: isV1(release), writesDrafts: writesDrafts(release) }
  const chosen = new Set((yield* choose(sources, only, from.instance.url)).map(({ id }) => id))
  const workflows = yield* Effect.forEach([...chosen], (id) => from.getWorkflow(id), { concurrency: atOnce })
  const placesOf = yield* NodeParameters.places({ nodes: workflows.flatMap(({ nodes }) => nodes) })
  const lookups = yield* NodeLookups.make(workflows.flatMap(({ nodes }) => nodes.map(({ type }) => type)), release)
  const uses = new Map(workflows.map((workflow) => [workflow.id, usesOf(workflow, placesOf)]))
  const isUsed = (kind: references.Reference["kind"]) => [...uses.values()].flat().some((use) => use.kind === kind)
  return {
    release,
    scope,
    sources,
    targets,
    /** The ids of what is promoted. */
    chosen,
    workflows,
    placesOf,
    lookups,
    uses,
    credentials: isUsed("credential") ? yield* listed(to.streamCredentials, credentialsIn(targets)) : nothing,
    tables: isUsed("table")
      ? { there: yield* listed(from.streamDataTables(), []), here: yield* listed(to.streamDataTables(), []) }
      : { there: nothing, here: nothing }
  }
})

/** What is known of both sides. */
export type Facts = Effect.Success<ReturnType<typeof read>>
