/** Possible effects of code; those that cannot be excluded count. */
export interface Reach {
  /** Whether it may send, read or write something outside the workflow. */
  readonly outside: boolean
  /** Whether it reads or writes state that outlives an execution. */
  readonly state: boolean
}
