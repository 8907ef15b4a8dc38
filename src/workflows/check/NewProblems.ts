/** Problems that a change adds to a workflow. */
import type { Obj } from "../../base/Json.ts"
import type * as Checked from "./CheckedWorkflow.ts"
import { check, type Findings, type MissingCredential, type Problem } from "./WorkflowProblems.ts"

/** Identifies a problem independently of its node's place in the list. */
const problemKey = ({ message, node, path }: Problem) => `${node ?? ""} ${path.replace(/^nodes\[\d+\]/, "")} ${message}`

const credentialKey = ({ node, type }: MissingCredential) => `${type} ${node}`

const added = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>, key: (each: A) => string) => {
  const known = new Set(before.map(key))
  return after.filter((each) => !known.has(key(each)))
}

/** Findings in the second state of a workflow that are not in the first. */
export const newProblems = (before: Obj, after: Obj, lookups: Checked.Lookups): Findings => {
  const [then, now] = [check(before, lookups), check(after, lookups)]
  return {
    problems: added(then.problems, now.problems, problemKey),
    missingCredentials: added(then.missingCredentials, now.missingCredentials, credentialKey)
  }
}
