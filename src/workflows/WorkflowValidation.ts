/** Validates workflows with the node catalogue: offline, by n8n's rules. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { defined, equals, type Obj, obj } from "../base/Json.ts"
import type { MissingCredential, Problem } from "../base/Problem.ts"
import * as Rows from "../base/Rows.ts"
import * as Turn from "../base/Turn.ts"
import type { NodeCatalogue } from "../catalogue/NodeCatalogue.ts"
import * as Deprecated from "../n8n/Deprecated.ts"
import { sizeFault } from "../n8n/model/Limits.ts"
import { typesOf } from "../n8n/model/Workflow.ts"
import { hasStatus, N8nClient } from "../n8n/N8nClient.ts"
import { OwnRules, type Rule } from "../workflow/check/Rules.ts"
import { newSteps, steps } from "../workflow/check/WorkflowProblems.ts"
import * as Contents from "../workflow/Contents.ts"
import { type Outdated, outdated } from "../workflow/Outdated.ts"
import * as Breaks from "../workflow/upgrade/Breaks.ts"
import * as NodeLookups from "./NodeLookups.ts"
import * as ReferenceProblems from "./ReferenceProblems.ts"

export type { Rule }

/**
 * Rules of the application: every validation has their problems, by tools, `validate`, batches and reports. An error
 * prevents publishing like one of n8n's. Give them to `Policy.layer` as well to refuse every write with an error.
 *
 * **Example** (No plain http)
 *
 * ```ts
 * import { Policy, Services, tools, WorkflowValidation } from "effect-n8n-mcp"
 * import { Workflow } from "effect-n8n-mcp/domain"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const noPlainHttp: WorkflowValidation.Rule = {
 *   id: "acme/no-plain-http",
 *   check: (workflow) =>
 *     Workflow.nodes(workflow).flatMap((node, index) =>
 *       String(Workflow.parametersOf(node)["url"]).startsWith("http:")
 *         ? [{ severity: "error", path: `nodes[${index}].parameters.url`, message: "This is not https." }]
 *         : []
 *     )
 * }
 *
 * const services = Layer.merge(FakeN8n.layer(), Services.layerMemory)
 * const rules = Layer.merge(
 *   WorkflowValidation.layerRules([noPlainHttp]), // reported
 *   Policy.layer({}, [noPlainHttp]) // and never written
 * )
 *
 * const node = { name: "Call", type: "n8n-nodes-base.httpRequest", parameters: { url: "http://a.example" } }
 *
 * export const test = tools.createWorkflow.call({ name: "Call", nodes: [node], connections: {} }).pipe(
 *   Effect.flip,
 *   Effect.map(({ message }) => message),
 *   Effect.provide(Layer.provideMerge(rules, services))
 * )
 * ```
 */
export const layerRules = (rules: ReadonlyArray<Rule>): Layer.Layer<never> => Layer.succeed(OwnRules, rules)

/** Result of a validation. */
export interface Validation {
  /** Whether there are no errors; credentials may be missing. */
  readonly valid: boolean
  readonly problems: ReadonlyArray<Problem>
  readonly missingCredentials: ReadonlyArray<MissingCredential>
  readonly outdated: ReadonlyArray<Outdated>
  /** Breaks between this n8n and the target; empty without a target. */
  readonly breaks: ReadonlyArray<Breaks.Break>
}

/** Release to upgrade n8n to, and the workflows, by id, that are known. */
export interface Target {
  readonly to: string
  readonly workflow?: (id: string) => Obj | undefined
}

const correct = { _tag: "CorrectRefused" } as const

/** Whether n8n refused a workflow, or failed with it; a refusal of deprecated nodes says all already. */
const isRefusal = (error: Errors.N8nError): error is Errors.ApiError =>
  hasStatus(400, 500)(error) && !Deprecated.isRefusal(error)

/** The problem without what only a judgement of references needs. */
const plain = ({ rule: _, type: __, ...problem }: ReferenceProblems.Faulty): Problem => problem

const shape = "A workflow is {name, nodes: […], connections: {…}, settings: {…}}, as n8n exports it."

/** Messages as warnings about the whole workflow. */
export const warnings = (messages: ReadonlyArray<string>): ReadonlyArray<Problem> =>
  messages.map((message) => ({ severity: "warning", path: "", message }))

/** Validates a workflow; `connected` is the release of the n8n it is for. */
export const validate = Effect.fn("WorkflowValidation.validate")(function*(
  input: unknown,
  connected?: string,
  target?: Target
) {
  const contents = Contents.of(input)
  const { workflow } = yield* Effect.mapError(
    Effect.fromResult(Contents.one(contents)),
    (why) => Errors.invalid("workflow", `This is not an n8n workflow: ${why}.`, shape)
  )
  const fault = sizeFault(workflow)
  if (fault !== undefined) return yield* Errors.invalid("workflow", fault)
  const to = target === undefined ? undefined : yield* Effect.fromResult(Breaks.parseTarget(target.to))
  const remarks = warnings(contents._tag === "Workflows" ? contents.repairs : [])
  const lookups = yield* NodeLookups.make(typesOf(workflow), connected)
  const { missingCredentials, problems } = yield* Turn.run(() => steps(workflow, lookups))
  const validation: Validation = {
    valid: problems.every(({ severity }) => severity !== "error"),
    problems: [...problems, ...remarks],
    missingCredentials,
    outdated: outdated(workflow, lookups),
    breaks: to === undefined
      ? []
      : Breaks.find(workflow, { from: connected, to }, defined({ ...lookups, workflow: target?.workflow }))
  }
  return validation
})

/** Time limit of judging what a write refers to, which only serves its answer, in milliseconds. */
const lookTime = 5_000

/**
 * Problems and missing credentials that `after` has and `before` has not, `references` included if n8n answers in time,
 * whose likely mistakes are warnings; none of what cannot be judged, since a write does not fail for it.
 */
export const added = Effect.fn("WorkflowValidation.added")(function*(
  before: Obj | undefined,
  after: Obj,
  references: boolean
) {
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const lookups = yield* NodeLookups.make([...before === undefined ? [] : typesOf(before), ...typesOf(after)], release)
  const { missingCredentials, problems } = yield* Turn.run(() =>
    before === undefined ? steps(after, lookups) : newSteps(before, after, lookups)
  )
  const [now = [], former = []] = references && release !== undefined
    ? yield* Effect.forEach(
      before === undefined ? [after] : [after, before],
      (each) => ReferenceProblems.subject(each, true)
    ).pipe(
      Effect.flatMap((subjects) => ReferenceProblems.judge(subjects)),
      Effect.timeout(Math.min(lookTime, yield* Deadline.left)),
      Effect.orElseSucceed((): ReadonlyArray<ReadonlyArray<ReferenceProblems.Faulty>> => [])
    )
    : []
  const fresh = now.filter((fault) => !former.some((each) => equals(each, fault))).map(plain)
  return {
    isJudged: true,
    problems: [...fresh.filter(({ severity }) => severity === "error"), ...problems],
    missingCredentials,
    warnings: fresh.filter(({ severity }) => severity !== "error").map(ReferenceProblems.sentence)
  }
}, Effect.orElseSucceed(() => ({ isJudged: false, problems: [], missingCredentials: [], warnings: [] })))

/** Errors and missing credentials for which n8n refuses or fails to run a workflow, each in a sentence. @internal */
export const faults = (workflow: Obj) =>
  Effect.map(validateConnected(workflow, { isStored: false }), ({ missingCredentials, problems }) => [
    ...problems.flatMap(({ fix = "", message, node, severity }) =>
      severity === "error" ? [`${node === undefined ? "" : `${node}: `}${message} ${fix}`.trim()] : []
    ),
    ...missingCredentials.map(({ node, type }) => `${node}: the credential ${type} is missing.`)
  ])

/** The first faults in a line. @internal */
export const inWords = (faults: ReadonlyArray<string>): string => Rows.listed(faults, 5, " ")

/** Adds to n8n's refusal of a workflow, or its failure with it, the errors that are known of the workflow. */
export const explained = (workflow: Obj) =>
<A, R>(
  step: Effect.Effect<A, Errors.N8nError, R>
): Effect.Effect<A, Errors.N8nError, R | N8nClient | NodeCatalogue> =>
  Effect.catchIf(step, isRefusal, (error) =>
    Effect.gen(function*() {
      const known = yield* Effect.orElseSucceed(faults(workflow), () => [])
      if (known.length === 0) return yield* error
      return yield* Errors.withDetails(
        error,
        `${error.reason.details.replace(/\.$/, "")}. Validation: ${inWords(known)}`,
        Errors.statusOf(error) === 400 ? correct : [correct, error.hint ?? []].flat()
      )
    }))

/** The workflows on the connected n8n that decide what an upgrade breaks. */
const calledBy = Effect.fnUntraced(function*(workflow: Obj, upgrade: Breaks.Upgrade) {
  const n8n = yield* N8nClient
  const called = yield* Effect.forEach(
    upgrade.from === undefined ? [] : Breaks.asked(workflow, upgrade),
    (id) => Effect.orElseSucceed(Effect.map(n8n.getWorkflow(id), (found) => [[id, found] as const]), () => []),
    { concurrency: 4 }
  )
  const byId = new Map<string, Obj>(called.flat())
  return (id: string) => byId.get(id)
})

/**
 * Validates a workflow for the connected n8n, including what it refers to; `to` is as in `Target`. `isStored` is whether
 * n8n has it, and has bound names to credentials.
 */
export const validateConnected = Effect.fn("WorkflowValidation.validateConnected")(function*(
  input: unknown,
  { isStored, to }: { readonly isStored: boolean; readonly to?: string | undefined }
) {
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const workflow = obj(input) ?? {}
  const validation = yield* validate(
    input,
    release,
    to === undefined ? undefined : { to, workflow: yield* calledBy(workflow, { from: release, to }) }
  )
  const [faults = []] = release === undefined
    ? []
    : yield* ReferenceProblems.judge([yield* ReferenceProblems.subject(workflow, isStored)])
  // What is known of a credential by its name alone says more than that it is not set.
  const isJudged = (missing: MissingCredential) =>
    faults.some(({ node, type }) => type === missing.type && node === missing.node)
  const judged: Validation = {
    ...validation,
    valid: validation.valid && faults.every(({ severity }) => severity !== "error"),
    problems: [...faults.map(plain), ...validation.problems].toSorted((a, b) =>
      Number(b.severity === "error") - Number(a.severity === "error")
    ),
    missingCredentials: validation.missingCredentials.filter((each) => !isJudged(each))
  }
  return judged
})
