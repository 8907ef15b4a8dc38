/** Findings of every command that judges something, and the subjects that it judged. */
import type * as Finding from "../../fleet/inspection/Finding.ts"

/** Thing that was judged, an entry of a JUnit document: a file, a workflow, a case, a run, a node. */
export interface Subject {
  /** Identity among the subjects, which findings name as their place. */
  readonly id: string
  readonly name: string
  /** Group of entries in CI systems, such as a workflow's name or a folder. */
  readonly group: string
  readonly file?: string
  readonly milliseconds?: number
}

export interface Findings {
  readonly subjects: ReadonlyArray<Subject>
  readonly findings: ReadonlyArray<Finding.Finding>
  /** Whether a finding fails the command. */
  readonly isFailing: (finding: Finding.Finding) => boolean
}
