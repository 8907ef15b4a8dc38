/** From one n8n to another. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import { arr, defined, equals, type Obj, obj, own, str } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isUnlicensed, isUnsupported, isV1, N8nClient, type Service as Client, writesDrafts } from "../n8n/N8nClient.ts"
import { WorkflowFiles } from "../workflows/files/WorkflowFiles.ts"
import * as LiteralSecrets from "../workflows/LiteralSecrets.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import * as NodeParameters from "../workflows/NodeParameters.ts"
import * as Compare from "./comparison.ts"
import * as content from "./content.ts"
import * as Record from "./promotionRecord.ts"
import * as references from "./references.ts"
import { changedLine } from "./report.ts"
import * as writing from "./writing.ts"

const Names = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

/**
 * What stands for what: by id or name on the first n8n, an id or name on the second.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Bindings = Schema.Struct({ credentials: Names, workflows: Names, tables: Names })
export type Bindings = typeof Bindings.Type

/**
 * Something that stands in the way.
 *
 * @category models
 * @since 0.1.0
 */
export interface Obstacle {
  /** The workflow and node on the first n8n. */
  readonly workflow: string
  readonly node?: string
  /** What is missing or ambiguous, and what to do, in sentences. */
  readonly reason: string
}

/**
 * What a promotion did about one workflow.
 *
 * @category models
 * @since 0.1.0
 */
export interface Promotion {
  readonly id: string
  readonly name: string
  /** Its id on the second n8n. */
  readonly target?: string
  /** `conflict`: it changed on the second n8n since it was last promoted. */
  readonly status: "new" | "changed" | "same" | "conflict"
  /** In a dry run: what would be done. Absent where nothing was done. */
  readonly action?: "created" | "updated"
  readonly changed?: string
  readonly published?: boolean
  readonly warnings?: ReadonlyArray<string>
  readonly error?: Errors.N8nError
}

/**
 * All of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromotionReport {
  readonly entries: ReadonlyArray<Promotion>
  /** While there is one, nothing is written. */
  readonly obstacles: ReadonlyArray<Obstacle>
  readonly hasConflicts: boolean
  readonly hasErrors: boolean
}

/**
 * What is promoted, and how.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromoteOptions<R = never> {
  readonly from: Client
  readonly to: Client
  readonly bindings?: Bindings | undefined
  /** Only these workflows of the first n8n, by id or name; all that are not archived by default. */
  readonly only?: ReadonlyArray<string> | undefined
  readonly extras?: ReadonlyArray<content.Extra> | undefined
  /** Publishes what is promoted. */
  readonly publishes?: boolean | undefined
  /** Overwrites what changed on the second n8n since. */
  readonly overwrites?: boolean | undefined
  readonly dryRun?: boolean | undefined
  readonly onStep?:
    | ((step: { readonly outcome: Promotion; readonly count: number; readonly total: number }) => Effect.Effect<
      void,
      never,
      R
    >)
    | undefined
}

const operation = "promote"
const atOnce = 8

type Thing = references.Thing

const refuse = (reason: string, hint: string) => new Errors.ValidationError({ reason, field: "only", hint })

const live = (client: Client) =>
  Effect.map(Compare.listAll(client), (workflows) => workflows.filter(({ isArchived }) => isArchived !== true))

/** The one thing with this id, else with this name. */
const named = <A extends Thing>(things: ReadonlyArray<A>, idOrName: string): A | "none" | "several" => {
  const byId = things.find(({ id }) => id === idOrName)
  const byName = things.filter(({ name }) => name === idOrName)
  return byId ?? (byName.length > 1 ? "several" : byName[0] ?? "none")
}

interface Credential extends Thing {
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

/** All of them, or those that are known where n8n does not list them. */
const listed = <A>(stream: Stream.Stream<A, Errors.RequestError>, known: ReadonlyArray<A>) =>
  Stream.runCollect(stream).pipe(
    Effect.map((things): { readonly things: ReadonlyArray<A>; readonly isWhole: boolean } => ({
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

/** Callees before their callers. */
const inOrder = <A extends { readonly id: string; readonly calls: ReadonlyArray<string> }>(all: ReadonlyArray<A>) => {
  const byId = new Map(all.map((each) => [each.id, each]))
  const seen = new Set<string>()
  const order: Array<A> = []
  const visit = (each: A | undefined) => {
    if (each === undefined || seen.has(each.id)) return
    seen.add(each.id)
    for (const id of each.calls) visit(byId.get(id))
    order.push(each)
  }
  for (const each of all) visit(each)
  return order
}

/**
 * Brings workflows from one n8n to another: creates those that are not there, and updates those it created or that are
 * bound.
 *
 * **Details**
 *
 * Credentials, called workflows, error workflows and data tables become those of the second n8n: by the bindings, by
 * what was promoted before, else by type and name. What cannot be resolved is told all at once, and then nothing is
 * written; nor is it where the second n8n changed since the last time. What became what stands in the folder's
 * `.n8n-promotion.json`, written after each workflow. Nothing is published unless asked.
 *
 * **Gotchas**
 *
 * A workflow of the second n8n that merely has the same name is never overwritten unless it is bound.
 *
 * @category functions
 * @since 0.1.0
 */
export const promote = Effect.fn("Sync.promote")(function*<R = never>(
  userPath: string,
  options: PromoteOptions<R>
) {
  const { dryRun = false, extras = [], from, onStep = () => Effect.void, overwrites = false, publishes = false, to } =
    options
  if (from.instance.url === to.instance.url) {
    return yield* refuse("Both profiles are the same n8n", "Give two profiles with different addresses.")
  }
  const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
  return yield* folder.exclusively(Effect.gen(function*() {
    const { others, route } = yield* Record.read(folder, from.instance.url, to.instance.url)
    const [sources, targets] = yield* Effect.all([live(from), live(to)], { concurrency: 2 })
    const release = yield* to.release
    const scope: content.Scope = { extras, isV1: isV1(release), writesDrafts: writesDrafts(release) }
    const missing = options.only?.find((each) => typeof named(sources, each) === "string")
    if (missing !== undefined) {
      const names = sources.map(({ name }) => name)
      return yield* refuse(
        named(sources, missing) === "several"
          ? `Several workflows are named '${missing}'`
          : `There is no workflow '${missing}' on ${from.instance.url}`,
        `Give ids, or names as n8n has them. ${suggestion(missing, names)}`
      )
    }
    const chosen = options.only === undefined ? sources : options.only.map((each) => named(sources, each) as Thing)
    const chosenIds = new Set(chosen.map(({ id }) => id))
    const nameOf = (id: string) => sources.find((each) => each.id === id)?.name
    const whole = yield* Effect.forEach([...chosenIds], (id) => from.getWorkflow(id), { concurrency: atOnce })
    const placesOf = yield* NodeParameters.places({ nodes: whole.flatMap(({ nodes }) => nodes) })
    const lookups = yield* NodeLookups.make(whole.flatMap(({ nodes }) => nodes.map(({ type }) => type)), release)
    const uses = new Map(whole.map((workflow) => [workflow.id, usesOf(workflow, placesOf)]))
    const isAny = (kind: references.Reference["kind"]) => [...uses.values()].flat().some((use) => use.kind === kind)
    const credentials = isAny("credential")
      ? yield* listed(to.streamCredentials, credentialsIn(targets))
      : { things: [], isWhole: true }
    const tables = isAny("table")
      ? {
        there: yield* listed(from.streamDataTables(), []),
        here: yield* listed(to.streamDataTables(), [])
      }
      : { there: { things: [], isWhole: true }, here: { things: [], isWhole: true } }

    const bound = (kind: keyof Bindings, id: string | undefined, name: string | undefined) => {
      const all = options.bindings?.[kind] ?? {}
      return [id, name].flatMap((key) => key !== undefined && Object.hasOwn(all, key) ? all[key] ?? [] : [])[0]
    }
    const obstacles: Array<Obstacle> = []
    const there = to.instance.url
    const pick = <A extends Thing>(
      things: ReadonlyArray<A>,
      wanted: string,
      what: string,
      add: (reason: string) => void
    ): A | undefined => {
      const found = named(things, wanted)
      if (typeof found !== "string") return found
      add(
        found === "several"
          ? `${what}: several on ${there} are named '${wanted}'. Bind it to an id.`
          : `${what} is bound to '${wanted}', which ${there} does not have. ${
            suggestion(wanted, things.map(({ name }) => name))
          }`.trim()
      )
      return undefined
    }

    const credential = (
      { id, name, type }: references.Reference & { readonly kind: "credential" },
      add: (reason: string) => void
    ): Thing | undefined => {
      const what = `The credential '${name ?? id}' (${type})`
      const ofType = credentials.things.filter((each) => each.type === type)
      const wanted = bound("credentials", id, name)
      if (wanted !== undefined) {
        // Nobody can look it up, so it is believed.
        if (!credentials.isWhole && named(ofType, wanted) === "none") return { id: wanted, name: name ?? wanted }
        return pick(ofType, wanted, what, add)
      }
      const found = name === undefined ? "none" : ofType.filter((each) => each.name === name)
      if (found !== "none" && found.length === 1) return found[0]
      const choices = ofType.map((each) => `'${each.name}' (${each.id})`).slice(0, 5).join(", ")
      add(
        found !== "none" && found.length > 1
          ? `${what}: ${there} has several of that name: ${choices}. Bind it to an id.`
          : `${what} is not on ${there}${
            credentials.isWhole ? "" : ", as far as its workflows show (n8n 1.x does not list credentials)"
          }. Make it there, or bind it${choices === "" ? "" : `: there are ${choices}`}.`
      )
      return undefined
    }

    const table = (id: string, add: (reason: string) => void): Thing | undefined => {
      const name = tables.there.things.find((each) => each.id === id)?.name
      const what = `The data table '${name ?? id}'`
      const wanted = bound("tables", id, name)
      if (wanted !== undefined) {
        if (!tables.here.isWhole) return { id: wanted, name: name ?? wanted }
        return pick(tables.here.things, wanted, what, add)
      }
      const found = name === undefined ? undefined : tables.here.things.find((each) => each.name === name)
      if (found === undefined) {
        add(`${what} is not on ${there}${tables.here.isWhole ? "" : ", which lists none"}. Make it there, or bind it.`)
      }
      return found
    }

    const claimed = new Set(Object.values(route.workflows).map(({ id }) => id))
    /** What a workflow of the first n8n is on the second. */
    const counterpart = (id: string, add: (reason: string) => void) => {
      const name = nameOf(id)
      const what = `The workflow '${name ?? id}'`
      const wanted = bound("workflows", id, name)
      if (wanted !== undefined) {
        const thing = pick(targets, wanted, what, add)
        return thing && { thing, how: "bound" as const }
      }
      const before = Object.hasOwn(route.workflows, id) ? route.workflows[id] : undefined
      const promoted = targets.find((each) => each.id === before?.id)
      if (promoted !== undefined) return { thing: promoted, how: "promoted" as const }
      const same = targets.filter((each) => each.name === name && !claimed.has(each.id))
      if (same.length > 1) add(`${what}: ${there} has several of that name. Bind it to an id.`)
      const [only] = same
      if (only === undefined || same.length > 1) return undefined
      // It was being created when this process or the connection ended.
      const isOurs = before?.id === "" && equals(nodeIds(only), nodeIds(whole.find((each) => each.id === id)))
      return { thing: only, how: isOurs ? "promoted" as const : "name" as const }
    }

    const items = inOrder(whole.map((workflow) => {
      const name = workflow.name
      const add = (reason: string) => void obstacles.push({ workflow: name, reason })
      const calls = (uses.get(workflow.id) ?? []).flatMap((use) => use.kind === "workflow" ? [use.id] : [])
      return { id: workflow.id, workflow, calls, counterpart: counterpart(workflow.id, add) }
    }))
    const targetOf = new Map<string, Thing>(
      items.flatMap(({ counterpart, id }) => counterpart === undefined ? [] : [[id, counterpart.thing]])
    )

    const called = (
      { id, isUsed }: references.Reference & { readonly kind: "workflow" | "table" },
      add: (reason: string) => void
    ): Thing | undefined => {
      const known = targetOf.get(id)
      if (known !== undefined || chosenIds.has(id)) return known
      const found = counterpart(id, isUsed ? add : () => undefined)?.thing
      if (found === undefined && isUsed && bound("workflows", id, nameOf(id)) === undefined) {
        add(
          nameOf(id) === undefined
            ? `It refers to the workflow ${id}, which ${from.instance.url} does not have. Mend it there, or bind the id.`
            : `It refers to the workflow '${nameOf(id)}', which is not on ${there}. Promote it too, or bind it.`
        )
      }
      return found
    }

    /** The content for the second n8n; what is not there yet keeps its id, and is told in `isLater`. */
    const mapped = (workflow: Workflow.Workflow, isSilent: boolean) => {
      let isLater = false
      const own = content.of(workflow, scope)
      const result = references.map(own, placesOf, (reference) => {
        const add = (reason: string) =>
          isSilent ? undefined : void obstacles.push(defined({ workflow: workflow.name, node: reference.node, reason }))
        switch (reference.kind) {
          case "credential":
            return credential(reference, add)
          case "table":
            return table(reference.id, reference.isUsed ? add : () => undefined)
          case "workflow":
            if (chosenIds.has(reference.id) && !targetOf.has(reference.id)) isLater = true
            return called(reference, add)
        }
      })
      return { wanted: result, isLater }
    }

    const warningsOf = (workflow: Workflow.Workflow, wanted: Obj) => {
      const all = content.of(workflow, { extras, isV1: false, writesDrafts: true })
      const dropped = Object.keys(all).filter((key) => !Object.hasOwn(wanted, key))
      const lacked = workflow.nodes.filter(({ type, typeVersion }) => lookups.isLacked(type, typeVersion ?? 1))
      return [
        ...LiteralSecrets.warnings(wanted),
        ...(dropped.length === 0 ? [] : [`n8n ${release} does not take: ${dropped.join(", ")}`]),
        ...lacked.map(({ name, type, typeVersion }) => `'${name}': n8n ${release} has no ${type} ${typeVersion}`)
      ]
    }

    const planned = yield* Effect.forEach(items, (item) =>
      Effect.gen(function*() {
        const { counterpart, id, workflow } = item
        const { name } = workflow
        const { wanted } = mapped(workflow, false)
        const warnings = warningsOf(workflow, wanted)
        const entry: Promotion = defined({
          id,
          name,
          status: "new" as const,
          warnings: warnings.length === 0 ? undefined : warnings
        })
        if (counterpart === undefined) return { ...item, entry, there: undefined }
        const there = yield* to.getWorkflow(counterpart.thing.id)
        const now = content.of(there, scope)
        const hash = content.hash(now)
        const known = { ...entry, target: there.id }
        if (hash === content.hash(kept(now, wanted))) {
          return { ...item, entry: { ...known, status: "same" as const }, there }
        }
        const before = route.workflows[id]
        if (counterpart.how === "name") {
          obstacles.push({
            workflow: name,
            reason:
              `${to.instance.url} has a workflow of that name (${there.id}) that was not promoted from here. Bind '${id}' to '${there.id}' to overwrite it, or rename one of them.`
          })
        }
        const isMoved = before !== undefined && before.id === there.id && before.hash !== hash && !overwrites
        return {
          ...item,
          entry: {
            ...known,
            status: isMoved ? "conflict" as const : "changed" as const,
            changed: changedLine(now, kept(now, wanted))
          },
          there
        }
      }))

    const hasConflicts = planned.some(({ entry }) => entry.status === "conflict")
    const isBlocked = obstacles.length > 0 || hasConflicts
    const outcomes = new Map<string, Promotion>(planned.map(({ entry }) => [entry.id, entry]))
    const isToPublish = (there: Workflow.Workflow | undefined) =>
      publishes && there !== undefined && (!there.active || Workflow.hasDraft(there))
    const tasks = planned.filter(({ entry: { status }, there }) =>
      status === "new" || status === "changed" || status === "same" && isToPublish(there)
    )
    let workflows = route.workflows
    const record = (id: string, promoted: Record.Promoted) => {
      workflows = { ...workflows, [id]: promoted }
      return Record.write(folder, { ...route, workflows }, others)
    }
    const note = (id: string, workflow: Workflow.Workflow) =>
      record(id, { id: workflow.id, hash: content.hash(content.of(workflow, scope)) })

    if (dryRun) {
      for (const { entry } of tasks) {
        outcomes.set(entry.id, { ...entry, action: entry.status === "new" ? "created" : "updated" })
      }
    } else if (!isBlocked) {
      yield* Effect.gen(function*() {
        // Those that were found by their name, and are what was to be written.
        for (const { entry, there } of planned) {
          if (entry.status === "same" && there !== undefined && workflows[entry.id]?.id !== there.id) {
            yield* note(entry.id, there)
          }
        }
        const late: Array<(typeof tasks)[number]> = []
        let count = 0
        let isBroken = false
        for (const task of tasks) {
          if (isBroken) break
          const { entry, there, workflow } = task
          const { isLater, wanted } = mapped(workflow, true)
          if (isLater) late.push(task)
          // What it would call is not there yet.
          const isPublished = publishes && !isLater
          const outcome = yield* Effect.gen(function*() {
            if (there === undefined) yield* record(entry.id, Record.begun)
            const written = there === undefined
              ? yield* writing.create(isLater ? withoutErrorWorkflow(wanted) : wanted, operation, isPublished)
              : yield* writing.update(there, kept(content.of(there, scope), wanted), {
                expectedHash: content.hash(content.of(there, scope)),
                operation,
                publishes: isPublished,
                scope
              })
            targetOf.set(entry.id, written.workflow)
            yield* note(entry.id, written.workflow)
            return told(entry, written, [
              ...entry.warnings ?? [],
              ...written.warnings,
              ...writing.settingsKept(wanted, written.workflow, scope),
              ...(!scope.writesDrafts && written.workflow.active && there !== undefined && !publishes
                ? [writing.noDrafts]
                : [])
            ])
          }).pipe(Effect.catch((error) => {
            isBroken = error._tag === "ApiError" && (error.statusCode === undefined || error.statusCode === 401)
            return Effect.succeed<Promotion>({ ...entry, error })
          }))
          outcomes.set(entry.id, outcome)
          count++
          yield* onStep({ outcome, count, total: tasks.length })
        }
        // Those that call one another, now that all of them are there.
        for (const { entry, workflow } of late) {
          const target = targetOf.get(entry.id)
          if (target === undefined || isBroken) continue
          const outcome = outcomes.get(entry.id) ?? entry
          const finished = yield* Effect.gen(function*() {
            const there = yield* to.getWorkflow(target.id)
            const { wanted } = mapped(workflow, true)
            const written = yield* writing.update(there, kept(content.of(there, scope), wanted), {
              expectedHash: content.hash(content.of(there, scope)),
              operation,
              publishes,
              scope
            })
            yield* note(entry.id, written.workflow)
            return told(outcome, written, [...outcome.warnings ?? [], ...written.warnings])
          }).pipe(Effect.catch((error) => Effect.succeed<Promotion>({ ...outcome, error })))
          outcomes.set(entry.id, finished)
        }
      }).pipe(Effect.provideService(N8nClient, to))
    }
    const entries = [...chosenIds].flatMap((id) => outcomes.get(id) ?? [])
    const report: PromotionReport = {
      entries,
      obstacles,
      hasConflicts,
      hasErrors: obstacles.length > 0 || entries.some(({ error }) => error !== undefined)
    }
    return report
  }))
})

/** n8n merges settings: those of its own stay. */
const kept = (now: Obj, wanted: Obj): Obj => {
  const settings = { ...obj(now["settings"]), ...obj(wanted["settings"]) }
  return Object.keys(settings).length === 0 ? wanted : { ...wanted, settings }
}

const nodeIds = (workflow: Pick<Workflow.Listed, "nodes"> | undefined) =>
  arr(workflow?.nodes).map((node) => own(node, "id"))

const withoutErrorWorkflow = (wanted: Obj): Obj => {
  const { errorWorkflow: _, ...settings } = obj(wanted["settings"]) ?? {}
  return wanted["settings"] === undefined ? wanted : { ...wanted, settings }
}

const told = (
  entry: Promotion,
  { workflow }: { readonly workflow: Workflow.Workflow },
  warnings: ReadonlyArray<string>
): Promotion =>
  defined({
    ...entry,
    target: workflow.id,
    action: entry.status === "new" ? "created" as const : "updated" as const,
    published: workflow.active ? !Workflow.hasDraft(workflow) : undefined,
    warnings: warnings.length === 0 ? undefined : arr([...new Set(warnings)]).map(String)
  })
