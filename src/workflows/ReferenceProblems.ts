/** Judgement of references by what the connected n8n has; what it does not list for this key is not judged. */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Deadline from "../base/Deadline.ts"
import { defined, obj, str } from "../base/Json.ts"
import type { Problem } from "../base/Problem.ts"
import * as Visible from "../base/Visible.ts"
import { findAll } from "../catalogue/NodeCatalogue.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import type { RuleId } from "../workflow/check/Rules.ts"
import * as References from "../workflow/References.ts"

/** Problem of a reference. */
export interface Faulty extends Problem {
  readonly rule: RuleId
  /** Type of the credential that is not there, or is bound when the workflow is written. */
  readonly type?: string
}

/** References by id or name that a workflow uses. */
export interface Subject {
  readonly id: string | undefined
  /** Whether n8n has bound names to credentials already, as it does when a workflow is written. */
  readonly isStored: boolean
  readonly references: ReadonlyArray<References.Reference>
  readonly self: References.Callee
}

const judged: ReadonlySet<References.Kind> = new Set(["credential", "calls", "tool", "error", "table"])

/** Collects the references that a workflow uses. */
export const subject = Effect.fnUntraced(function*(
  workflow: { readonly nodes?: unknown; readonly settings?: unknown; readonly id?: unknown },
  isStored: boolean
) {
  const find = yield* findAll(Workflow.typesOf(workflow))
  const id = str(workflow.id)
  return {
    id,
    isStored,
    references: References.of(workflow, find).filter((each) =>
      judged.has(each.kind) && each.unused === undefined && (each.id ?? each.name) !== undefined
    ),
    self: References.callee({ id: id ?? "", active: true, settings: workflow.settings }, workflow.nodes)
  } satisfies Subject as Subject
})

type Judged = Pick<Faulty, "severity" | "message" | "rule" | "type"> & { readonly fix: string }

const few = 4

const listOf = (all: ReadonlyArray<References.NamedRef>) =>
  all.slice(0, few).map(({ id, name }) => `'${Visible.label(name)}' (${id})`).join(", ") +
  (all.length > few ? `, and ${all.length - few} more` : "")

const ofCredential = (
  { id, name, type = "" }: References.Reference,
  all: ReadonlyArray<References.NamedRef & { readonly type: string }>,
  isStored: boolean
): Judged | undefined => {
  const ofType = all.filter((each) => each.type === type)
  if (ofType.some((each) => each.id === id)) return undefined
  const namesakes = ofType.filter((each) => each.name === name)
  const [only] = namesakes
  const label = `'${Visible.label(name ?? id ?? "")}'`
  const finding = { rule: "unknown-credential" as const, type }
  if (only !== undefined && namesakes.length === 1 && !isStored) {
    return {
      ...finding,
      severity: "warning",
      message: `n8n binds it by its name to the credential ${listOf([only])} of the type '${type}'.`,
      fix: "If another one is meant, set its id and name."
    }
  }
  const other = all.find((each) => each.id === id)
  const message = other !== undefined
    ? `Its credential ${listOf([other])} is of the type '${other.type}', not '${type}': every run fails.`
    : id !== undefined
    ? `This n8n has no credential ${label} (${id}) of the type '${type}': every run fails.`
    : namesakes.length > 1
    ? `This n8n has ${namesakes.length} credentials ${label} of the type '${type}', so the name alone binds none: every run fails.`
    : only === undefined
    ? `This n8n has no credential ${label} of the type '${type}': every run fails.`
    : `The name alone is not bound to the credential ${listOf([only])}: every run fails.`
  const candidates = namesakes.length > 0 ? namesakes : ofType
  return {
    ...finding,
    severity: "error",
    message,
    fix: candidates.length === 0
      ? "Create it on this n8n, and set its id and name."
      : `Set id and name of one that it has: ${listOf(candidates)}.`
  }
}

export interface Named extends References.Callee {
  readonly name: string
}

const verbs: { readonly [kind: string]: string } = {
  error: "Its error workflow is",
  tool: "Its tool calls the workflow"
}

/** Severity by what n8n does: it publishes an agent with a tool that fails, and a workflow whose error workflow is gone. */
const ofWorkflow = (
  { id = "", kind }: References.Reference,
  from: Subject,
  to: Named | "missing" | undefined,
  isFirst: boolean
): Judged | undefined => {
  if (to === undefined) return undefined
  const what = verbs[kind] ?? "It calls the workflow"
  const finding = {
    rule: "unknown-callee" as const,
    severity: kind === "calls" ? "error" as const : "warning" as const
  }
  if (to === "missing") {
    return {
      ...finding,
      message: `${what} '${Visible.label(id)}', which does not exist.`,
      fix: "Use the id of a workflow that exists on this n8n."
    }
  }
  const named = to.id === from.id ? "this workflow itself" : `'${Visible.label(to.name)}' (${to.id})`
  switch (References.faultOf(kind, { id: from.id, isLive: true }, to, isFirst)) {
    case "archived":
      return { ...finding, message: `${what} ${named}, which is archived.`, fix: "Restore it in n8n, or use another." }
    case "unpublished":
      return { ...finding, message: `${what} ${named}, which is not published.`, fix: "Publish it first." }
    case "has no Error Trigger":
      return { ...finding, message: `${what} ${named}, which has no Error Trigger.`, fix: "Add one, or use another." }
    case "has no Execute Workflow Trigger":
      return { ...finding, message: `${what} ${named}, which has no Execute Workflow Trigger.`, fix: "Add one to it." }
    case "does not allow this caller":
      return {
        ...finding,
        message: `${what} ${named}, which does not allow this caller.`,
        fix: "Add this workflow to callerIds in its settings."
      }
  }
  return undefined
}

const ofTable = (
  { id, name = "" }: References.Reference,
  tables: ReadonlyArray<References.NamedRef>
): Judged | undefined =>
  tables.some((table) => id === undefined ? table.name === name : table.id === id) ? undefined : {
    rule: "unknown-callee",
    severity: "warning",
    message: `n8n has no data table '${Visible.label(id ?? name)}', or the API key may not see it.`,
    fix: "Use a data table of this n8n, or create it."
  }

type Listed = Pick<Workflow.Listed, "active" | "id" | "isArchived" | "name"> & {
  readonly nodes: unknown
  readonly settings?: unknown
  readonly activeVersion?: unknown
}

/** A workflow as a callee, with the nodes that run, and its name. */
export const calleeOf = (workflow: Listed): Named => ({
  ...References.callee(workflow, obj(workflow.activeVersion)?.["nodes"] ?? workflow.nodes),
  name: workflow.name
})

/**
 * Returns a function that judges workflows. It reads the credentials and data tables of n8n once, when a workflow needs
 * them, and each called workflow once, but for these `callees`.
 */
export const make = Effect.fnUntraced(function*(callees: ReadonlyArray<Named> = []) {
  const known = new Map(callees.map((each) => [each.id, each]))
  const n8n = yield* N8nClient
  const isFirst = isV1(yield* n8n.release)
  const credentials = yield* Effect.cached(Effect.option(Stream.runCollect(n8n.streamCredentials)))
  const tables = yield* Effect.cached(Effect.option(Stream.runCollect(n8n.streamDataTables)))
  const workflows = yield* Cache.make({
    capacity: 1_000,
    lookup: (id: string) =>
      n8n.getWorkflow(id).pipe(
        Effect.map((workflow) => calleeOf({ ...workflow })),
        Effect.catchTag("NotFoundError", () => Effect.succeed("missing" as const)),
        // A workflow that the key may not read may still be callable.
        Effect.orElseSucceed(() => undefined)
      )
  })

  const judge = Effect.fnUntraced(function*(reference: References.Reference, from: Subject) {
    const { id, kind } = reference
    switch (kind) {
      case "credential":
        return Option.getOrUndefined(
          Option.map(yield* credentials, (all) => ofCredential(reference, all, from.isStored))
        )
      case "table":
        return Option.getOrUndefined(Option.map(yield* tables, (all) => ofTable(reference, all)))
      case "calls":
      case "tool":
      case "error": {
        if (id === undefined || id === from.id && kind !== "error") return undefined
        const to = id === from.id
          ? { ...from.self, name: "" }
          : known.get(id) ?? (yield* Cache.get(workflows, id))
        return ofWorkflow(reference, from, to, isFirst)
      }
    }
    return undefined
  })

  return (from: Subject): Effect.Effect<ReadonlyArray<Faulty>> =>
    Effect.map(
      Effect.forEach(
        from.references,
        (reference) =>
          Effect.map(judge(reference, from), (fault) =>
            fault === undefined
              ? []
              : [
                defined({
                  ...fault,
                  node: reference.node,
                  nodeId: reference.nodeId,
                  path: References.pathOf(reference)
                })
              ]),
        { concurrency: 4 }
      ),
      (faults) => faults.flat()
    )
})

/** Judges one workflow; see {@link make}. */
export const of = Effect.fn("ReferenceProblems.of")(
  function*(workflow: Parameters<typeof subject>[0], isStored: boolean) {
    const from = yield* subject(workflow, isStored)
    return from.references.length === 0 ? [] : yield* (yield* make())(from)
  }
)

/** Time limit of a judgement that only serves warnings, in milliseconds. */
const lookTime = 5_000

/** Faults of workflows as warnings of a write, for each workflow; none if n8n does not answer in time. */
export const warnings = Effect.fn("ReferenceProblems.warnings")(function*(
  workflows: ReadonlyArray<Parameters<typeof subject>[0]>,
  isStored: boolean
) {
  const judging = Effect.gen(function*() {
    const subjects = yield* Effect.forEach(workflows, (workflow) => subject(workflow, isStored))
    const judge = yield* Effect.cached(make())
    return yield* Effect.forEach(
      subjects,
      (from) => from.references.length === 0 ? Effect.succeed([]) : Effect.flatMap(judge, (judged) => judged(from))
    )
  })
  const faults = yield* Effect.timeoutOrElse(judging, {
    duration: Math.min(lookTime, yield* Deadline.left),
    orElse: () => Effect.succeed([])
  }).pipe(Effect.orElseSucceed((): ReadonlyArray<ReadonlyArray<Faulty>> => []))
  return workflows.map((_, index) =>
    (faults[index] ?? []).map(({ fix, message, node }) =>
      `${node === undefined ? "" : `'${Visible.label(node)}': `}${message} ${fix ?? ""}`.trim()
    )
  )
})
