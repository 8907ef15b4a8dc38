/** How workflows are written, and what comes of it. */
import type * as Workflow from "../../n8n/model/Workflow.ts"

/** What a write came to. */
export interface Written {
  /** As read back. */
  readonly workflow: Workflow.Workflow
  /** What changed, in one line. */
  readonly changed?: string
  /** What was repaired, left out, or went differently than asked. */
  readonly warnings: ReadonlyArray<string>
  /** What runs is what was written: `false` where it stayed a draft, absent where nothing is published. */
  readonly published?: boolean
}

/** The parts of a workflow that a change names; the rest keeps its value. */
export interface Patch {
  readonly name?: string
  readonly [key: string]: unknown
}

/** How a workflow is written. */
export interface UpdateOptions {
  /** For the snapshot: which tool. */
  readonly operation: string
  /**
   * Who wrote the change: a caller can put right what is ambiguous (two nodes of one name, a link to a node that does
   * not exist), and is told; in what is brought back from a file or a version it is repaired.
   */
  readonly source: "caller" | "file"
  /** The version that the caller has seen. */
  readonly expectedVersionId?: string | undefined
  readonly tags?: ReadonlyArray<string> | undefined
  readonly active?: boolean | undefined
  /** Never publishes what is written, where n8n's API writes drafts (2.40 and later). */
  readonly isDraft?: boolean | undefined
}

/** What was made of a workflow: the parts that become different, and anything else for the caller. */
export interface Modification<A> {
  readonly patch: Patch
  readonly result: A
}

/** A change that was written; `before` is the workflow that it was made to. */
export interface Modified<A> extends Written {
  readonly before: Workflow.Workflow
  readonly result: A
}
