/** Judgement of references by what the connected n8n has; what it does not list for this key is not judged. */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Deadline from "../base/Deadline.ts"
import { defined, obj, str } from "../base/Json.ts"
import type { Problem } from "../base/Problem.ts"
import * as Rows from "../base/Rows.ts"
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

const kinds: ReadonlySet<References.Kind> = new Set(["credential", "calls", "tool", "error", "table"])

const isJudged = ({ id, kind, name, unused }: References.Reference) =>
  kinds.has(kind) && unused === undefined && (id ?? name) !== undefined

/** Collects the references that a workflow uses. */
export const subject = Effect.fnUntraced(function*(
  workflow: { readonly nodes?: unknown; readonly settings?: unknown; readonly id?: unknown },
  isStored: boolean
) {
  const id = str(workflow.id)
  const all = References.of(workflow).filter(isJudged)
  return {
    id,
    isStored,
    // Only for credentials does the node's type say whether the node reads them.
    references: all.some(({ kind }) => kind === "credential")
      ? References.of(workflow, yield* findAll(Workflow.typesOf(workflow))).filter(isJudged)
      : all,
    self: References.callee({ id: id ?? "", active: true, settings: workflow.settings }, workflow.nodes)
  } satisfies Subject as Subject
})

type Judged = Pick<Faulty, "severity" | "message" | "rule" | "type"> & { readonly fix: string }

const listOf = (all: ReadonlyArray<References.NamedRef>) =>
  Rows.listed(all.map(({ id, name }) => `${Rows.quote(name)} (${id})`), 4)

const ofCredential = (
  { id, name, type = "" }: References.Reference,
  all: ReadonlyArray<References.NamedRef & { readonly type: string }>,
  isStored: boolean
): Judged | undefined => {
  const ofType = all.filter((each) => each.type === type)
  if (ofType.some((each) => each.id === id)) return undefined
  const namesakes = ofType.filter((each) => each.name === name)
  const finding = { rule: "unknown-credential" as const, type }
  if (namesakes.length === 1 && !isStored) {
    const message = `n8n binds it by its name to the credential ${listOf(namesakes)} of the type '${type}'.`
    return { ...finding, severity: "warning", message, fix: "If another one is meant, set its id and name." }
  }
  const label = `'${Visible.label(name ?? id ?? "")}'`
  const other = all.find((each) => each.id === id)
  const what = other !== undefined
    ? `Its credential ${listOf([other])} is of the type '${other.type}', not '${type}'`
    : id !== undefined || namesakes.length === 0
    ? `This n8n has no credential ${label}${id === undefined ? "" : ` (${id})`} of the type '${type}'`
    : namesakes.length > 1
    ? `This n8n has ${namesakes.length} credentials ${label} of the type '${type}', so the name alone binds none`
    : `The name alone is not bound to the credential ${listOf(namesakes)}`
  const candidates = namesakes.length > 0 ? namesakes : ofType
  return {
    ...finding,
    severity: "error",
    message: `${what}: every run fails.`,
    fix: candidates.length === 0
      ? "Create it on this n8n, and set its id and name."
      : `Set id and name of one that it has: ${listOf(candidates)}.`
  }
}

/** A workflow that another one refers to, and its name. */
export interface Named extends References.Callee {
  readonly name: string
}

const verbs: { readonly [kind: string]: string } = {
  error: "Its error workflow is",
  tool: "Its tool calls the workflow"
}

const fixes = {
  missing: "Use the id of a workflow that exists on this n8n.",
  archived: "Restore it in n8n, or use another.",
  unpublished: "Publish it first.",
  "has no Error Trigger": "Add one to it, or use another.",
  "has no Execute Workflow Trigger": "Add one to it.",
  "does not allow this caller": "Add this workflow to callerIds in its settings."
}

const phrases: { readonly [fault: string]: string } = {
  missing: "does not exist",
  archived: "is archived",
  unpublished: "is not published"
}

/** Judges a workflow as n8n does: it publishes an agent with a tool that fails, and a workflow that alerts no one. */
const ofWorkflow = (
  { id = "", kind }: References.Reference,
  from: Subject,
  to: Named | "missing" | undefined,
  isFirst: boolean
): Judged | undefined => {
  if (to === undefined) return undefined
  const fault = to === "missing" ? to : References.faultOf(kind, { id: from.id, isLive: true }, to, isFirst)
  if (fault === undefined) return undefined
  const named = to === "missing"
    ? `'${Visible.label(id)}'`
    : id === from.id
    ? "this workflow itself"
    : `'${Visible.label(to.name)}' (${id})`
  return {
    rule: "unknown-callee",
    severity: kind === "calls" ? "error" : "warning",
    message: `${verbs[kind] ?? "It calls the workflow"} ${named}, which ${phrases[fault] ?? fault}.`,
    fix: fixes[fault]
  }
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
 * Faults of each subject. n8n's credentials and data tables are read once, where a subject refers to some, and each
 * called workflow once, but for these `callees`.
 */
export const judge = Effect.fn("ReferenceProblems.judge")(function*(
  subjects: ReadonlyArray<Subject>,
  callees: ReadonlyArray<Named> = []
) {
  if (subjects.every(({ references }) => references.length === 0)) return subjects.map((): ReadonlyArray<Faulty> => [])
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
  const judged = Effect.fnUntraced(function*(reference: References.Reference, from: Subject) {
    const { id = "", kind } = reference
    if (kind === "credential") {
      return Option.map(yield* credentials, (all) => ofCredential(reference, all, from.isStored))
    }
    if (kind === "table") return Option.map(yield* tables, (all) => ofTable(reference, all))
    if (id === from.id && kind !== "error") return Option.none()
    const to = id === from.id ? { ...from.self, name: "" } : known.get(id) ?? (yield* Cache.get(workflows, id))
    return Option.some(ofWorkflow(reference, from, to, isFirst))
  })
  return yield* Effect.forEach(subjects, (from) =>
    Effect.map(
      Effect.forEach(from.references, (reference) =>
        Effect.map(judged(reference, from), (fault): ReadonlyArray<Faulty> => {
          const { node, nodeId } = reference
          const problem = Option.getOrUndefined(fault)
          return problem === undefined
            ? []
            : [defined({ ...problem, node, nodeId, path: References.pathOf(reference) })]
        }), { concurrency: 4 }),
      (faults) =>
        faults.flat()
    ))
})

/** Time limit of a judgement that only serves warnings, in milliseconds. */
const lookTime = 5_000

/** A problem as a warning. */
export const sentence = ({ fix = "", message, node }: Problem): string =>
  `${node === undefined ? "" : `'${Visible.label(node)}': `}${message} ${fix}`.trim()

/** Faults of workflows as warnings of a write, for each workflow; none if n8n does not answer in time. */
export const warnings = Effect.fn("ReferenceProblems.warnings")(function*(
  workflows: ReadonlyArray<Parameters<typeof subject>[0]>,
  isStored: boolean
) {
  const subjects = yield* Effect.forEach(workflows, (workflow) => subject(workflow, isStored))
  if (subjects.every(({ references }) => references.length === 0)) return workflows.map((): ReadonlyArray<string> => [])
  const faults = yield* judge(subjects).pipe(
    Effect.timeoutOption(Math.min(lookTime, yield* Deadline.left)),
    Effect.map(Option.getOrElse((): ReadonlyArray<ReadonlyArray<Faulty>> => []))
  )
  return workflows.map((_, index) => (faults[index] ?? []).map(sentence))
})
