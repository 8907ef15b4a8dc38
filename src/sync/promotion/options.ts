/** Options and report of a promotion. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../../base/Errors.ts"
import type { Service as Client } from "../../n8n/N8nClient.ts"
import type * as content from "../content.ts"

const Names = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

/** Ids or names on the second n8n, by id or name on the first. */
export const Bindings = Schema.Struct({ credentials: Names, workflows: Names, tables: Names })
export type Bindings = typeof Bindings.Type

/** A reason why a workflow, and those that depend on it, cannot be promoted. */
export interface Obstacle {
  /** Id of the workflow; absent for a file that is not one. */
  readonly id?: string
  readonly workflow: string
  readonly node?: string
  /** Sentences that name what is missing or ambiguous, and how to fix it. */
  readonly reason: string
}

/** Outcome of one workflow. */
export interface Promotion {
  readonly id: string
  readonly name: string
  /** Its id on the second n8n. */
  readonly target?: string
  /** `conflict`: it changed on the second n8n since it was last promoted. */
  readonly status: "new" | "changed" | "same" | "conflict"
  /** Whether an obstacle keeps it from being promoted. */
  readonly blocked?: true
  /** In a dry run, the planned action. Absent if there is nothing to do. */
  readonly action?: "created" | "updated"
  readonly changed?: string
  readonly published?: boolean
  readonly warnings?: ReadonlyArray<string>
  readonly error?: Errors.N8nError
}

/** Report of a promotion. */
export interface PromotionReport {
  readonly entries: ReadonlyArray<Promotion>
  /** Neither their workflows nor those that depend on them are written. */
  readonly obstacles: ReadonlyArray<Obstacle>
  readonly hasConflicts: boolean
  readonly hasErrors: boolean
}

/** Progress of a promotion. */
export interface PromotionStep {
  readonly outcome: Promotion
  readonly count: number
  readonly total: number
}

/** Options of a promotion. */
export interface PromoteOptions<R = never> {
  /** The first n8n, or the files of the folder, whichever n8n they were pulled from. */
  readonly from: Client | "folder"
  readonly to: Client
  readonly bindings?: Bindings | undefined
  /** Ids or names of workflows on the first n8n; in a folder, also files. Default: all that are not archived. */
  readonly only?: ReadonlyArray<string> | undefined
  /** Ids or names of workflows that are left out; in a folder, also files. */
  readonly except?: ReadonlyArray<string> | undefined
  readonly extras?: ReadonlyArray<content.Extra> | undefined
  readonly publishes?: boolean | undefined
  /** Overwrites workflows that changed on the second n8n since the last promotion. */
  readonly overwrites?: boolean | undefined
  readonly dryRun?: boolean | undefined
  readonly onStep?: ((step: PromotionStep) => Effect.Effect<void, never, R>) | undefined
}
