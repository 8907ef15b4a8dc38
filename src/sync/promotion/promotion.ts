/** What a promotion is told, and what it tells. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../../base/Errors.ts"
import type { Service as Client } from "../../n8n/N8nClient.ts"
import type * as content from "../content.ts"

const Names = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

/** What stands for what: by id or name on the first n8n, an id or name on the second. */
export const Bindings = Schema.Struct({ credentials: Names, workflows: Names, tables: Names })
export type Bindings = typeof Bindings.Type

/** Something that stands in the way. */
export interface Obstacle {
  /** The workflow and node on the first n8n. */
  readonly workflow: string
  readonly node?: string
  /** What is missing or ambiguous, and what to do, in sentences. */
  readonly reason: string
}

/** What a promotion did about one workflow. */
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

/** All of it. */
export interface PromotionReport {
  readonly entries: ReadonlyArray<Promotion>
  /** While there is one, nothing is written. */
  readonly obstacles: ReadonlyArray<Obstacle>
  readonly hasConflicts: boolean
  readonly hasErrors: boolean
}

/** What is promoted, and how. */
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
