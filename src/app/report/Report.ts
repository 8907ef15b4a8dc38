/** Report of a command, in every form that its readers take. */
import type * as Findings from "./Findings.ts"
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

/** Report of a command that judges something: also for CI systems. */
export interface Judgment extends Report {
  readonly findings: Findings.Findings
}
