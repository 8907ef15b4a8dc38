/** Audit of an n8n: n8n's own audit and checks of all workflows. Reports places and names, never values. */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import * as Errors from "../base/Errors.ts"
import { arr, defined, type Obj, obj, str } from "../base/Json.ts"
import { print } from "../base/JsonPath.ts"
import { suggestion } from "../base/Nearest.ts"
import type { NodeCatalogue } from "../catalogue/NodeCatalogue.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { type AuditLocation, type AuditReport, hasStatus, N8nClient } from "../n8n/N8nClient.ts"
import { type ReadWorkflow, WriteGuard } from "../n8n/WriteGuard.ts"
import * as LiteralSecrets from "../workflow/LiteralSecrets.ts"
import { outdated } from "../workflow/Outdated.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import * as ReferenceProblems from "../workflows/ReferenceProblems.ts"

export const severities = ["high", "medium", "low"] as const
export type Severity = typeof severities[number]

/** Severities of the checks, most serious first; `n8n` contains findings that only n8n's own audit has. */
export const severityOf = {
  "literal-secret": "high",
  "open-webhook": "high",
  policy: "high",
  "broken-reference": "high",
  n8n: "medium",
  "unused-credential": "medium",
  "idle-credential": "low",
  "no-error-workflow": "medium",
  "outdated-node": "low"
} as const satisfies { readonly [check: string]: Severity }
export type Check = keyof typeof severityOf
export const checks = Struct.keys(severityOf)

export const byN8n: ReadonlyArray<Check> = ["n8n", "unused-credential", "idle-credential"]

/** Selection of checks by name, and by severity: that one or a higher one. */
export interface Scope {
  readonly only?: ReadonlyArray<string> | undefined
  readonly except?: ReadonlyArray<string> | undefined
  readonly severity?: Severity | undefined
}

/** Checks of a scope; fails for a name that is not a check. */
export const checksOf = Effect.fnUntraced(function*({ except = [], only = checks, severity = "low" }: Scope) {
  for (const [field, names] of Object.entries({ only, except })) {
    const name = names.find((each) => !checks.some((check) => check === each))
    if (name !== undefined) {
      return yield* new Errors.ValidationError({
        reason: `The audit has no check '${name}'`,
        field,
        hint: suggestion(name, checks)
      })
    }
  }
  const most = severities.indexOf(severity)
  return new Set(
    checks.filter((check) =>
      only.includes(check) && !except.includes(check) && severities.indexOf(severityOf[check]) <= most
    )
  )
})

/** API key scope that n8n's own audit needs. */
export const scope = "securityAudit:generate"

/** Finding at one place, such as `'Node': parameters.url`; `at` is empty where the workflow or credential is the place. */
export interface Spot {
  readonly check: Check
  readonly id: string
  readonly name: string
  readonly at: string
  readonly title?: string
  readonly recommendation?: string
}

/** Identity of a spot, whatever the names. */
export const keyOf = ({ at, check, id, title = "" }: Spot): ReadonlyArray<string> => [check, title, id, at]

const compareKeys = ([check, ...a]: ReadonlyArray<string>, [other, ...b]: ReadonlyArray<string>) => {
  const rank = (name: string | undefined) => checks.findIndex((check) => check === name)
  const index = a.findIndex((part, index) => part !== b[index])
  return rank(check) - rank(other) || (index === -1 ? 0 : (a[index] ?? "") < (b[index] ?? "") ? -1 : 1)
}

export interface Report {
  readonly workflows: number
  /** Most serious first, in an order that does not depend on other findings. */
  readonly spots: ReadonlyArray<Spot>
  /** Reason why n8n's own audit is missing, and with it the checks that need it. */
  readonly withoutN8n?: string
}

type Subject = Pick<Workflow.Listed, "id" | "name" | "active" | "nodes"> & { readonly settings?: unknown }

/** Triggers that anyone who knows their address can call. */
const open: Readonly<Record<string, (parameters: Obj) => boolean>> = {
  "n8n-nodes-base.webhook": () => true,
  "@n8n/n8n-nodes-langchain.mcpTrigger": () => true,
  "@n8n/n8n-nodes-langchain.chatTrigger": (parameters) => parameters["public"] === true
}

const isOpen = (node: Obj) => {
  const parameters = Workflow.parametersOf(node)
  const type = Workflow.typeOf(node)
  return node["disabled"] !== true &&
    Object.hasOwn(open, type) && open[type]?.(parameters) === true &&
    (parameters["authentication"] ?? "none") === "none" &&
    (str(obj(parameters["options"])?.["ipWhitelist"]) ?? "") === ""
}

/** Finding in a workflow: `at` for people, `path` from the workflow. */
export interface Risk {
  readonly check: Check & ("literal-secret" | "open-webhook" | "policy" | "no-error-workflow")
  readonly at: string
  readonly path: string
  readonly node?: string
}

/** Risks of a workflow; `counts` is whether someone can start it. */
export const look = Effect.fnUntraced(function*(
  workflow: Obj & { readonly nodes: ReadonlyArray<unknown> },
  counts: boolean,
  read: ReadWorkflow
): Effect.fn.Return<ReadonlyArray<Risk>, Errors.N8nError> {
  const isUnwatched = counts && workflow.nodes.length > 0 && !Workflow.hasErrorWorkflow(workflow)
  return [
    ...LiteralSecrets.places({ nodes: workflow.nodes }).map(({ at, node, path }) =>
      defined({ check: "literal-secret" as const, at: `'${node ?? "?"}': ${path}`, path: at, node })
    ),
    ...workflow.nodes.flatMap((value, index) => {
      const node = obj(value)
      if (!counts || node === undefined || !isOpen(node)) return []
      const name = Workflow.nameOf(node) || "?"
      return [{ check: "open-webhook" as const, at: name, path: print(["nodes", index, "parameters"]), node: name }]
    }),
    ...(yield* (yield* WriteGuard).faults(workflow, read)).map(({ message, path }) => ({
      check: "policy" as const,
      at: message,
      path
    })),
    ...(isUnwatched
      ? [{ check: "no-error-workflow" as const, at: "settings.errorWorkflow", path: "settings.errorWorkflow" }]
      : [])
  ]
})

/** Ordinary node types, which n8n reports as risky wherever they are used. */
const ordinary = new Set([
  "n8n-nodes-base.code",
  "n8n-nodes-base.httpRequest",
  "n8n-nodes-base.httpRequestTool",
  "n8n-nodes-base.function",
  "n8n-nodes-base.functionItem",
  "@n8n/n8n-nodes-langchain.toolCode",
  "@n8n/n8n-nodes-langchain.toolHttpRequest"
])

const unused = "Credentials not used in any workflow"
const idle: ReadonlySet<string> = new Set([
  "Credentials not used in any active workflow",
  "Credentials not used in recently executed workflows"
])
const unprotected = "Unprotected webhooks in instance"

const credentials = (
  check: Check,
  locations: ReadonlyArray<AuditLocation>
): ReadonlyArray<Spot> => [
  ...new Map(locations.map(({ id = "", name = "" }) => [id, { check, id, name, at: "" }])).values()
]

const placeOf = ({ filePath, id, name, nodeName, nodeType, packageUrl, workflowId, workflowName }: AuditLocation) => ({
  id: workflowId ?? id ?? nodeType ?? "",
  name: workflowName ?? name ?? nodeType ?? "",
  at: nodeName ?? packageUrl ?? filePath ?? ""
})

/** n8n's findings without those that our checks repeat or that no one can fix. */
const ofN8n = (reports: ReadonlyArray<AuditReport>, workflowId: string | undefined): ReadonlyArray<Spot> => {
  const sections = reports.flatMap((report) => report.sections)
  const located = (title: (title: string) => boolean) =>
    sections.filter((section) => title(section.title)).flatMap(({ location = [] }) => location)
  const nowhere = located((title) => title === unused)
  const isNowhere = new Set(nowhere.map(({ id }) => id))
  const others = sections.flatMap((section): ReadonlyArray<Spot> => {
    const { location = [], nextVersions, recommendation, title } = section
    if (title === unused || idle.has(title) || title === unprotected) return []
    const places = location.filter((at) =>
      !ordinary.has(at.nodeType ?? "") && (workflowId === undefined || at.workflowId === workflowId)
    ).map(placeOf)
    const isOutdated = workflowId === undefined && arr(nextVersions).length > 0
    return (places.length === 0 && isOutdated ? [{ id: "", name: "", at: "" }] : places)
      .map((place) => ({ check: "n8n", ...place, title, recommendation }))
  })
  return workflowId !== undefined ? others : [
    ...others,
    ...credentials("unused-credential", nowhere),
    ...credentials("idle-credential", located((title) => idle.has(title)).filter(({ id }) => !isNowhere.has(id)))
  ]
}

const askN8n = N8nClient.use((n8n) => n8n.audit()).pipe(
  Effect.map((reports) => ({ reports, withoutN8n: undefined })),
  Effect.catchIf((error) => !hasStatus(401)(error), (error) => {
    const status = Errors.statusOf(error)
    return Effect.succeed({
      reports: [] as ReadonlyArray<AuditReport>,
      withoutN8n: status === 403
        ? `Incomplete: n8n refuses its own audit to this API key, which lacks the scope ${scope} (HTTP 403)`
        : status === 404 || status === 405
        ? "Incomplete: this n8n does not offer its own audit"
        : `Incomplete: n8n's own audit failed (${error.message})`
    })
  })
)

/** Audits n8n or one workflow by `POST /audit` and by reading workflows; incomplete if n8n refuses its audit. */
export const run = Effect.fn("Audit.run")(function*(
  workflowId?: string,
  scope: Scope = {}
): Effect.fn.Return<Report, Errors.N8nError, N8nClient | NodeCatalogue> {
  const n8n = yield* N8nClient
  const chosen = yield* checksOf(scope)
  const spots: Array<Spot> = []
  const note = (check: Check, { id, name }: Pick<Subject, "id" | "name">, places: ReadonlyArray<string>) =>
    spots.push(...places.map((at) => ({ check, id, name, at })))
  const seen: Array<Pick<Subject, "id" | "name"> & { readonly nodes: ReadonlyArray<Obj> }> = []
  const judged: Array<{ readonly subject: ReferenceProblems.Subject; readonly callee: ReferenceProblems.Named }> = []
  const others = yield* Cache.make({ capacity: 100, lookup: (id: string) => n8n.getWorkflow(id) })
  const lookAt = Effect.fnUntraced(function*(workflow: Subject) {
    // No one calls an unpublished workflow, but a caller who audits a single one wants to know before publishing it.
    const counts = workflowId !== undefined || workflow.active
    const risks = yield* look({ ...workflow }, counts, (id) => Cache.get(others, id))
    for (const { at, check } of risks) note(check, workflow, [at])
    const nodes = Workflow.nodes(workflow).map(({ name, type, typeVersion }) => ({ name, type, typeVersion }))
    seen.push({ id: workflow.id, name: workflow.name, nodes })
    if (counts && chosen.has("broken-reference")) {
      const subject = yield* ReferenceProblems.subject(workflow, true)
      judged.push({ subject, callee: ReferenceProblems.calleeOf(workflow) })
    }
  })
  if (workflowId === undefined) yield* Stream.runForEach(n8n.streamWorkflows(), lookAt)
  else yield* lookAt(yield* n8n.getWorkflow(workflowId))

  const faults = yield* ReferenceProblems.judge(
    judged.map(({ subject }) => subject),
    judged.map(({ callee }) => callee)
  )
  for (const [index, { callee }] of judged.entries()) {
    const places = (faults[index] ?? []).map(({ message, node = "settings.errorWorkflow" }) => `'${node}': ${message}`)
    note("broken-reference", callee, places)
  }
  const dated = chosen.has("outdated-node") ? seen : []
  const lookups = yield* NodeLookups.make(new Set(dated.flatMap(Workflow.typesOf)), yield* n8n.release)
  for (const workflow of dated) {
    note(
      "outdated-node",
      workflow,
      outdated({ nodes: workflow.nodes }, lookups).map(({ deprecated, has, newest, node, use }) =>
        deprecated === true
          ? `'${node}': deprecated${use === undefined ? "" : `, now ${use.join(" or ")}`}`
          : `'${node}': ${has} of ${newest}`
      )
    )
  }
  const { reports, withoutN8n } = byN8n.some((check) => chosen.has(check))
    ? yield* askN8n
    : { reports: [], withoutN8n: undefined }
  spots.push(...ofN8n(reports, workflowId))
  return defined({
    workflows: seen.length,
    spots: spots.filter(({ check }) => chosen.has(check)).toSorted((a, b) => compareKeys(keyOf(a), keyOf(b))),
    withoutN8n
  })
})

const Cursor = Schema.StringFromBase64Url.pipe(Schema.decodeTo(Schema.fromJsonString(Schema.Array(Schema.String))))

/** Cursor that continues after a spot. */
export const cursorAfter = (spot: Spot): string => Schema.encodeSync(Cursor)(keyOf(spot))

/** Spots after a cursor, up to a number. */
export const pageOf = Effect.fnUntraced(function*(
  spots: ReadonlyArray<Spot>,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number }
) {
  const after = cursor === undefined ? [] : yield* Schema.decodeEffect(Cursor)(cursor).pipe(
    Effect.mapError(() =>
      new Errors.ValidationError({
        reason: "cursor is not a nextCursor of audit",
        field: "cursor",
        hint: "Pass nextCursor of the previous answer unchanged, or leave it out to start from the beginning."
      })
    )
  )
  const rest = spots.filter((spot) => compareKeys(keyOf(spot), after) > 0)
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  return {
    page,
    nextCursor: last === undefined || page.length === rest.length ? undefined : cursorAfter(last)
  }
})
