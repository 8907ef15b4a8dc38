/** Report of a command, in every form that its readers take. */
import type * as Finding from "../../fleet/inspection/Finding.ts"
import type * as Layout from "./Layout.ts"

/** 0 done, 1 an error or something not done, 2 something was found. */
export type Exit = 0 | 1 | 2

export interface Report {
  /** Value that `--json` prints. */
  readonly json: unknown
  /** Lines for a person; a terminal breaks the long ones between words. */
  readonly text: (screen: Layout.Screen) => ReadonlyArray<string>
  /** Advice below the lines, on stderr. */
  readonly advice?: ReadonlyArray<string>
  /** Default 0. */
  readonly exit?: Exit
}

/** Thing that was judged, an entry of a JUnit document: a file, a workflow, a case, a run, a node. */
export interface Subject {
  readonly name: string
  /** Group of entries in CI systems, such as a workflow's name or a folder; the command by default. */
  readonly group?: string
  readonly file?: string
  readonly milliseconds?: number
  /** False if it could not be judged, for the reasons that its findings name. */
  readonly isJudged?: boolean
  readonly findings: ReadonlyArray<Finding.Finding>
}

/** Report of a command that judges something: the writer makes each of its formats. */
export interface Judgment extends Pick<Report, "advice" | "exit"> {
  /** Data besides the findings that `--json` prints. */
  readonly json: unknown
  readonly findings: ReadonlyArray<Finding.Finding>
  /** Whether a finding fails the command, which then exits with 2; by default an error does. */
  readonly isFailing?: (finding: Finding.Finding) => boolean
  /** By default the places of the findings. */
  readonly subjects?: ReadonlyArray<Subject>
  /** First line of the text, after a mark. */
  readonly verdict?: string
  /** Lines between the verdict and the findings. */
  readonly about?: ReadonlyArray<string>
  /** Whether findings that many places share are one group with its places. */
  readonly isByRule?: boolean
  /** Last line of the text; it gets the numbers of findings, in words. */
  readonly summary?: (counts: string) => string
  /** Lines instead of those of the writer. */
  readonly text?: Report["text"]
}
