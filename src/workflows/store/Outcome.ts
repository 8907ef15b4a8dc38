/** Writes: what they may change, and what n8n has afterwards. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../../base/Errors.ts"
import * as Input from "../../base/Input.ts"
import { equals, isEmpty, type Obj, obj, without } from "../../base/Json.ts"
import type { MissingCredential, Problem } from "../../base/Problem.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import type { VersionLabels } from "../../n8n/N8nClient.ts"
import * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import type { Created } from "../../workflow/edit/WorkflowEdit.ts"
import type { Source } from "../../workflow/repair/WorkflowInput.ts"
import type { WorkflowPlace } from "../Reference.ts"

/** Parts of a workflow to change; the rest is unchanged, and of settings those that are not named. */
export interface Patch {
  readonly name?: string
  readonly nodes?: ReadonlyArray<object>
  readonly connections?: object
  readonly settings?: object
  readonly description?: string
  readonly nodeGroups?: ReadonlyArray<object>
  readonly pinData?: object
  readonly staticData?: unknown
  /** All tags, by name. */
  readonly tags?: ReadonlyArray<string>
}

/**
 * Publication of a write. n8n's versions (2.40 and later) hold nodes, connections and node groups: of a published
 * workflow these can wait as a draft, and all else takes effect immediately. Earlier releases have no drafts.
 *
 * - `keep`: a published workflow runs with the change, unless a draft waited before, which then has it too
 * - `draft`: nodes wait as a draft; all else is in force immediately, and the outcome names it
 * - `hold`: nodes wait as a draft; all else of a published workflow is not written, and the outcome lists it
 * - `now`: publishes; where n8n refuses that, the outcome warns
 * - `valid`: publishes if the result is valid and no draft waited before, else writes nothing
 * - `never`: unpublishes
 */
export const Publish = Schema.Literals(["keep", "draft", "hold", "now", "valid", "never"])
export type Publish = typeof Publish.Type

/** Checks what a program enters besides nodes, connections and the name, whose repair refuses its own faults. */
export const checkParts = Input.decoder(
  Schema.Struct({
    publish: Schema.optionalKey(Publish),
    settings: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    tags: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  "ignore"
)

/** Version to publish, with its labels, which only n8n 2.40 and later take. */
export interface Publication extends VersionLabels {
  readonly versionId?: string | undefined
}

/** Changed parts of a workflow, and a result for the caller. */
export interface Modification<A> {
  readonly patch: Patch
  readonly result: A
  /** New workflows that the changed one calls; only on n8n. */
  readonly created?: ReadonlyArray<Created>
  /** Instead of the write's own. */
  readonly publish?: Publish
}

/** Change to write: a patch, or a function of the current state. */
export type Change<A, R, W> =
  | Patch
  | ((before: W) => Patch | Effect.Effect<Patch | Modification<A>, Errors.N8nError, R>)

/** Options of a write. */
export interface Options {
  /** Name of the tool, for the snapshot. */
  readonly operation?: string
  /**
   * Source of the change: ambiguities (two nodes of one name, a connection to a node that does not exist) are reported
   * to a caller, who can fix them, and repaired in a file. Parts that n8n has or had are `stored`: they stay as they
   * are. Default: `caller` for a patch, `stored` for a function, whose parts mostly are n8n's.
   */
  readonly source?: Source
  /** Default: `keep`. */
  readonly publish?: Publish | undefined
  /** Another version than the written one to publish, or labels of it. */
  readonly publication?: Publication | undefined
  /** State or version that the caller has read: fails with a `VersionConflict` if n8n has another one, and then writes nothing. */
  readonly expected?: string | Workflow.Workflow | undefined
  /** Computes the outcome without writing. */
  readonly dryRun?: boolean | undefined
  /** Problems to look for: also of references, or none where the caller does. Default: `all`. */
  readonly problems?: "all" | "nodes" | "none" | undefined
}

/** A workflow that was created because the written one calls it. */
export interface Made {
  readonly id: string
  readonly name: string
  readonly active: boolean
  readonly warnings: ReadonlyArray<string>
}

/** Problems and missing credentials that a write brought. */
export interface Judgement {
  /** Whether they were looked for, and could be. */
  readonly isJudged: boolean
  readonly problems: ReadonlyArray<Problem>
  readonly missingCredentials: ReadonlyArray<MissingCredential>
}

/** Result of a write, or of a dry run, of a workflow on n8n (`W` is `Workflow`) or in a file. */
export interface Outcome<A = undefined, W = Workflow.Workflow> extends Judgement {
  readonly place: WorkflowPlace
  /** State before the write; of a new workflow the state as it was created. */
  readonly before: W
  /** State as read back, or as a dry run foresees it. */
  readonly workflow: W
  readonly result: A
  /** Parts that were written, or would be: repaired, and with the text that `…` stands for. */
  readonly patch: Patch
  /** Summary in one line of what this write changed; `nothing` if it changed nothing. */
  readonly changed: string
  /** Whether the written state runs, by what n8n then has; `undefined` for a file. */
  readonly state: "live" | "draft" | "unpublished" | undefined
  /** Parts such as `settings.timezone` that took effect immediately, although the nodes of this write wait as a draft. */
  readonly inForce: ReadonlyArray<string>
  /** Changes that were not written, since they would have taken effect immediately: `settings.timezone: none → "UTC"`. */
  readonly held: ReadonlyArray<string>
  /** Whether this n8n keeps changes of a published workflow as a draft. */
  readonly hasDrafts: boolean
  /** Whether a draft was reset to the published version, which runs as before. */
  readonly isReset: boolean
  /** Version that ran before a publication. */
  readonly former: string | undefined
  /** Whether anything was sent to n8n or written to the file; `false` for a dry run. */
  readonly isWritten: boolean
  readonly made: ReadonlyArray<Made>
  /** Repairs, omissions and failures of later steps. */
  readonly warnings: ReadonlyArray<string>
}

/** Whether the written state runs, as a flag: `undefined` if the workflow is not published, or a draft was reset. */
export const isLive = ({ isReset, state }: Pick<Outcome, "isReset" | "state">): boolean | undefined =>
  isReset ? undefined : state === "live" ? true : state === "draft" ? false : undefined

const isTags = (key: string) => key === "tags"

/** Settings after a write: n8n merges them, and drops those that are at their default then. */
const merged = (before: unknown, settings: object = {}): Obj =>
  without(
    { ...obj(before), ...settings },
    (value, key) => value === "DEFAULT" || key === "executionTimeout" && value === -1
  )

/** State of a workflow after a patch. */
export const applied = (before: Workflow.Workflow, patch: Patch): Workflow.Workflow =>
  ({
    ...before,
    ...patch,
    ...(patch.settings === undefined ? {} : { settings: merged(before.settings, patch.settings) }),
    ...(patch.tags === undefined ? {} : { tags: patch.tags.map((name) => ({ name })) })
  }) as Workflow.Workflow

/** Values with which a write removes parts; n8n stores them as `{}`, `[]` or `null`. */
export const cleared: Obj = { description: "", nodeGroups: [], pinData: {} }

const hasPart = (before: Workflow.Workflow, key: string, value: unknown): boolean =>
  key === "settings"
    ? equals(merged(before.settings, obj(value)), merged(before.settings))
    : isTags(key)
    ? equals([...value as ReadonlyArray<string>].toSorted(), Workflow.tagNames(before).toSorted())
    : equals(before[key], value) || Object.hasOwn(cleared, key) && isEmpty(before[key]) && isEmpty(value)

/** Parts of a patch that a workflow does not have already. */
export const missingParts = (before: Workflow.Workflow, patch: Patch): Patch =>
  Object.fromEntries(
    Object.entries(patch).filter(([key, value]) => value !== undefined && !hasPart(before, key, value))
  )

/** Parts of a patch that a version does not hold. */
const immediate: ReadonlySet<string> = new Set(["name", "description", "settings", "pinData", "staticData", "tags"])

/** Splits a patch into the parts that can wait as a draft, and the lines of those that cannot. */
export const split = (before: Workflow.Workflow, patch: Patch) => {
  const isImmediate = ([key]: readonly [string, unknown]) => immediate.has(key)
  const entries = Object.entries(patch)
  const rest: Patch = Object.fromEntries(entries.filter(isImmediate))
  const after = applied(before, missingParts(before, rest))
  const named = (workflow: Workflow.Workflow): Obj =>
    Object.fromEntries(
      Object.keys(rest).map((key) => [
        key,
        isTags(key)
          ? Workflow.tagNames(workflow).toSorted()
          : key === "settings"
          ? workflow.settings ?? {}
          : workflow[key]
      ])
    )
  return {
    patch: Object.fromEntries(entries.filter((entry) => !isImmediate(entry))) as Patch,
    held: WorkflowDiff.lines(named(before), named(after))
  }
}

/** Differences of the parts that a write named: n8n may have changed others, such as static data, meanwhile. */
export const difference = (before: Workflow.Workflow, after: Workflow.Workflow, keys: Iterable<string>) => {
  const own = new Set<string>([...keys, ...Workflow.versionedKeys])
  const of = (workflow: Workflow.Workflow) =>
    Object.fromEntries(Object.entries(workflow).filter(([key]) => own.has(key)))
  return WorkflowDiff.make(of(before), of(after))
}

/** Whether a patch names parts that can wait as a draft. */
export const isOfVersion = (patch: Patch): boolean => Object.keys(patch).some(Workflow.isVersioned)

/** Whether the written state runs, by what n8n has: `versionId` is the version that this write made or published. */
export const stateOf = (now: Workflow.Workflow, versionId?: string | null): "live" | "draft" | "unpublished" =>
  !now.active
    ? "unpublished"
    : Workflow.hasDraft(now) && now.activeVersionId !== versionId
    ? "draft"
    : "live"

/** Parts that differ and cannot wait as a draft. */
export const outside = (before: Obj, after: Obj): ReadonlyArray<string> => {
  const [then, now] = [before, after].map((workflow) => without(workflow, (_, key) => Workflow.isVersioned(key)))
  return WorkflowDiff.parts(WorkflowDiff.make(then ?? {}, now ?? {}))
}

/** Parts of a change that are in force although the rest waits. */
export const inForce = (diff: WorkflowDiff.WorkflowDiff, state: Outcome["state"]): ReadonlyArray<string> =>
  state === "draft" ? WorkflowDiff.parts(diff).filter((part) => !Workflow.isVersioned(part)) : []
