/** Answers, warnings, consent and parameters shared by the writing tools. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import { CallContext } from "../../base/CallContext.ts"
import type * as Errors from "../../base/Errors.ts"
import { defined, type Obj, str } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as links from "../../n8n/Links.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import type { Dependent } from "../../workflows/Publication.ts"
import { isLive, type Outcome } from "../../workflows/store/Outcome.ts"
import * as parameters from "./Parameters.ts"

/** Parts that took effect immediately, although the nodes wait as a draft. */
export const inForce = Schema.optionalKey(Schema.Array(Schema.String))

/** Changes that were not written, since they would have taken effect immediately. */
export const held = Schema.optionalKey(Schema.Array(Schema.String))

/** State on n8n after a write, for all writing tools. */
export const stateFields = {
  versionId: Schema.optionalKey(Schema.String),
  /** Whether the change of a published workflow is live; otherwise it is a draft. */
  published: Schema.optionalKey(Schema.Boolean),
  hint: Schema.optionalKey(Schema.String),
  warnings: Schema.optionalKey(Schema.Array(Schema.String))
}

export const Objects = Schema.Array(Schema.Record(Schema.String, Schema.Json))

/** Answer of a publication. */
export const Published = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  active: Schema.Boolean,
  changed: Schema.optionalKey(Schema.String),
  ...stateFields,
  url: Schema.optionalKey(Schema.String)
})

/** Answer of a creation; `raw` adds the workflow as n8n returned it. */
export const Created = Schema.Struct({
  ...Published.fields,
  /** Errors that the write brought. */
  problems: Schema.optionalKey(Objects),
  missingCredentials: Schema.optionalKey(Objects),
  workflow: Schema.optionalKey(Schema.Json)
})

/** Answer of a change by parts: which of them did not wait. */
export const Changed = Schema.Struct({ ...Created.fields, inForce })

/** Answer of a write of a whole workflow: which parts waited. */
export const Replaced = Schema.Struct({ ...Created.fields, held })

type Answer = typeof Changed.Type & typeof Replaced.Type

type Written = Outcome<unknown>

export const withUrl = <A extends Written, R>(write: Effect.Effect<A, Errors.N8nError, R>) =>
  Effect.gen(function*() {
    const written = yield* write
    return { ...written, url: links.workflow((yield* N8nClient).instance, written.workflow.id) }
  })

const maxDuplicates = 25

/** Time limit of the lookup of duplicate names, which only serves a warning. */
const lookTime = "5 seconds"

const duplicates = ({ id, name }: Written["workflow"]) =>
  N8nClient.use((n8n) => n8n.listWorkflows({ fullName: name, archived: false, limit: maxDuplicates })).pipe(
    Effect.map(({ workflows }) => workflows.flatMap((each) => each.id === id ? [] : [each.id])),
    Effect.timeoutOrElse({ duration: lookTime, orElse: () => Effect.succeed([]) }),
    Effect.orElseSucceed((): ReadonlyArray<string> => [])
  )

/** Warns if a new workflow has the name of an existing one; `overwrite` makes the call that writes to that one. */
export const warnDuplicateName =
  (overwrite: (id: string) => string) => <A extends Written, R>(create: Effect.Effect<A, Errors.N8nError, R>) =>
    Effect.gen(function*() {
      const written = yield* create
      const [id, ...others] = yield* duplicates(written.workflow)
      if (id === undefined) return written
      const more = others.length === 0 ? "" : ` (with ${Rows.listed(others, 3)})`
      const warning = `n8n now has more than one workflow of this name: '${id}' already existed${more}. ` +
        `To overwrite that one: ${overwrite(id)}`
      return { ...written, warnings: [...written.warnings, warning] }
    })

/** Tools that prove a change before it takes effect, on an n8n whose API has no drafts. */
const provingFirst = ["workflow_save", "workflow_edit", "workflow_prove", "replace_workflow_from_file"] as const

/** Options of the hint after a write. */
export interface HintOptions {
  /** Names of the tools that the caller has; none says nothing about them. */
  readonly offered?: ReadonlySet<string> | undefined
  /** Call that writes what was held back, and publishes. */
  readonly publishing?: string | undefined
  /** Whether the whole workflow was written, so that nothing of an earlier draft is left. */
  readonly isWhole?: boolean | undefined
  readonly isDry?: boolean | undefined
}

const foreseen = ({ hasDrafts, inForce, state }: Outcome<unknown, Obj>, { offered = new Set() }: HintOptions) => {
  const first = inForce.length === 0 ? "" : ` Immediately: ${inForce.join(", ")}.`
  if (state === "unpublished") return "The workflow is not published: nothing would run."
  if (state === "draft") return `The change would wait as a draft; publish: true makes it live.${first}`
  const canProve = !hasDrafts && provingFirst.every((name) => offered.has(name))
  return `The change would take effect immediately.${
    canProve
      ? " To prove it first: workflow_save to a file, workflow_edit and workflow_prove the file, then replace_workflow_from_file."
      : ""
  }`
}

/** Hint that says which part of a change of a published workflow runs, and what publishes the rest. */
export const hintOf = (outcome: Outcome<unknown, Obj>, options: HintOptions = {}): string | undefined => {
  const { before, changed, held, inForce, isReset, place, state } = outcome
  if (place.kind !== "n8n" || state === undefined) return undefined
  if (options.isDry === true) return foreseen(outcome, options)
  const { id } = place
  const activate = `activate_workflow(id: '${id}')`
  const publish = held.length > 0 && options.publishing !== undefined ? options.publishing : activate
  const prove = options.offered?.has("workflow_prove") === true
    ? `workflow_prove(workflowId: '${id}') replays recorded runs on the draft, `
    : ""
  const foreign = options.isWhole !== true && Workflow.hasDraft(before as Workflow.Workflow)
  return ItemView.joinNotes([
    isReset && "The draft equals the published version again; the live version did not change.",
    inForce.length > 0 && `In force now: ${inForce.join(", ")}; nodes wait as a draft.`,
    held.length > 0 &&
    `Not written, since it would take effect immediately: held. ${
      options.publishing ?? `${activate}, then the same call again,`
    } writes it.`,
    state === "draft" && (foreign
      ? `There is an unpublished draft, perhaps with someone else's changes. ${prove}${publish} publishes all of it.`
      : `The published version still runs: ${prove}${publish} publishes the change.`),
    state === "live" && !isReset && before["active"] === true && changed !== "nothing" && "The change is live.",
    state === "live" && !isReset && Workflow.hasDraft(outcome.workflow as Workflow.Workflow) &&
    `An unpublished draft waits: ${publish} publishes it.`
  ])
}

/** Hint that names the published workflows that need this one; `undefined` if there are none. */
export const dependentsHint = (dependents: ReadonlyArray<Dependent> | undefined): string | undefined => {
  const all = Hints.call("workflow_map", { kind: "broken" })
  if (dependents === undefined) return `n8n did not list in time which workflows need it: ${all} does.`
  if (dependents.length === 0) return undefined
  const names = Rows.listed(dependents.map(({ as, id, name }) => `${Rows.quote(name)} (${id}, ${as})`), 5)
  return `Published workflows still need it: ${names}${dependents.length > 5 ? `: ${all} lists them` : ""}.`
}

const nonEmpty = <A>(all: ReadonlyArray<A>) => all.length === 0 ? undefined : all

/** The parts of an answer that say what n8n has after a write. */
export const state = (outcome: Outcome<unknown, Obj>, options: HintOptions = {}) => {
  const { held, inForce, made, place, warnings, workflow } = outcome
  return defined({
    versionId: place.kind === "n8n" && options.isDry !== true ? str(workflow["versionId"]) : undefined,
    published: isLive(outcome),
    inForce: nonEmpty(inForce),
    held: nonEmpty(held),
    hint: hintOf(outcome, options),
    warnings: nonEmpty([...made.flatMap((each) => each.warnings), ...warnings])
  })
}

/** The answer of a write on n8n. */
export const summarize = (
  written: Written & { readonly url?: string },
  raw: boolean,
  options: HintOptions & { readonly hint?: string | undefined } = {}
): Answer => {
  const { changed, missingCredentials, problems, url, workflow } = written
  return defined({
    id: workflow.id,
    name: workflow.name,
    active: workflow.active,
    changed,
    ...state(written, options),
    ...("hint" in options ? { hint: options.hint } : {}),
    problems: nonEmpty(problems.filter(({ severity }) => severity === "error")),
    missingCredentials: nonEmpty(missingCredentials),
    url,
    workflow: raw ? withoutCopies({ ...workflow }) as Schema.Json : undefined
  })
}

/** The answer of a creation, which changes nothing that was there. */
export const created = (written: Written & { readonly url?: string }, raw: boolean): Answer => {
  const { changed: _, hint: __, ...answer } = summarize(written, raw)
  const isValid = written.isJudged && answer.problems === undefined
  return { ...answer, ...(isValid ? { hint: "Validated: no errors." } : {}) }
}

/** Workflow without n8n's copies of its published version and its owners. */
export const withoutCopies = ({ activeVersion: _, shared: __, ...workflow }: Obj): Obj => workflow

/** Maximum length of a question, enough for ids, a label and a path. */
const maxQuestion = 500

/** Asks the user, if the client can; `question` is one line in which foreign names are `Visible.label`s. */
export const requireConsent = Effect.fnUntraced(function*(confirm: boolean, question: string) {
  if (confirm) return
  if ((yield* (yield* CallContext).confirm(Visible.label(question, maxQuestion))) !== "no") return
  return yield* parameters.invalid(
    "confirm",
    "The user did not agree",
    "Nothing was done. Ask the user what to do instead; set confirm: true only if they agree."
  )
})

export const confirm = parameters.flag("The user has agreed.")

export const raw = parameters.flag("Adds the workflow.")

export const dryRun = parameters.flag("Show what would change.")

/** Version that the caller has read; the write fails if another one is current. */
export const expectedVersionId = parameters.optional(Schema.String, "Fail if changed since.")

export const jsonObject = (description: string) =>
  Schema.Record(Schema.String, Schema.Unknown).annotate({ description })

export const nodes = Schema.Array(Schema.Record(Schema.String, Schema.Unknown)).annotate({
  description: "{name, type, typeVersion, parameters, position?, credentials?, …}."
})

export const connections = jsonObject("By source node's name: {A: {main: [[{node: 'B', type: 'main', index: 0}]]}}.")

export const settings = Schema.optionalKey(jsonObject("Workflow settings."))

export const tags = (description: string) => Schema.optionalKey(Schema.Array(Schema.String).annotate({ description }))
