/** Options and results of writes. */
import type * as Workflow from "../../n8n/model/Workflow.ts"

/** Result of a write. */
export interface Written {
  /** The workflow as read back. */
  readonly workflow: Workflow.Workflow
  /** Summary of the changes in one line. */
  readonly changed?: string
  /** Repairs, omissions and failures of later steps. */
  readonly warnings: ReadonlyArray<string>
  /** Whether the written version runs: `false` for a draft, absent if nothing is published. */
  readonly published?: boolean
}

/** Parts of a workflow to change; the rest is unchanged. */
export interface Patch {
  readonly name?: string
  readonly [key: string]: unknown
}

/** Options of a write. */
export interface UpdateOptions {
  /** Name of the tool, for the snapshot. */
  readonly operation: string
  /**
   * Source of the change: ambiguities (two nodes of one name, a connection to a node that does not exist) are reported
   * to a caller, who can fix them, and repaired in a file or version.
   */
  readonly source: "caller" | "file"
  /** Version that the caller has seen. */
  readonly expectedVersionId?: string | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  readonly active?: boolean | undefined
  /** Leaves the change as a draft, if n8n's API writes drafts (2.40 and later). */
  readonly isDraft?: boolean | undefined
}

/** Changed parts of a workflow, and a result for the caller. */
export interface Modification<A> {
  readonly patch: Patch
  readonly result: A
}

/** Result of a change; `before` is the workflow that was changed. */
export interface Modified<A> extends Written {
  readonly before: Workflow.Workflow
  readonly result: A
}
