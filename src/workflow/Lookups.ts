/** Lookups of node types, for the n8n that a workflow is for. */
import type * as Checked from "./check/CheckedWorkflow.ts"

/** All lookups that `workflows/NodeLookups` makes from the catalogue. */
export interface NodeLookups extends Required<Checked.Lookups> {
  /** Whether a release certainly lacks this version of the type. */
  readonly isLackedIn: (type: string, version: number, release: string) => boolean
  /** Releases of n8n whose types are known, oldest first. */
  readonly knownReleases: ReadonlyArray<string>
  /** Version of a new node: the newest that the connected n8n has. */
  readonly newest: (type: string) => number | undefined
}
