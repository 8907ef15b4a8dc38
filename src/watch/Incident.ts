/** Something that went wrong on n8n, as a watch reports it. */

export const kinds = [
  /** Runs failed for one cause. */
  "failed",
  /** A schedule did not start its workflow. */
  "missed",
  /** A webhook or a polling trigger starts nothing against its usual rhythm. */
  "silent",
  /** Runs end without the items that they usually have. */
  "empty",
  /** A run took far longer than the workflow's own runs. */
  "slow",
  /** A run does not end. */
  "stuck",
  /** A credential no longer signs in. */
  "credential",
  /** A workflow is no longer published. */
  "unpublished",
  /** n8n did not answer. */
  "unreachable"
] as const

export type Kind = (typeof kinds)[number]

export interface Incident {
  readonly kind: Kind
  /** Identifies what goes on: the same for each occurrence of the same cause. */
  readonly key: string
  readonly workflowId?: string
  readonly workflowName?: string
  /** First occurrence, ISO 8601. */
  readonly at: string
  /** Number of occurrences so far. */
  readonly count: number
  /** One sentence. */
  readonly what: string
  /** One sentence, as far as it is known. */
  readonly cause?: string
  /** Tool and arguments that look into it. */
  readonly look?: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }
}
