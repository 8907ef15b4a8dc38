/** What the code of a node may do beyond computing from its input. */
import type { Parse } from "../../base/JavaScript.ts"
import * as javascript from "./javascript.ts"
import * as python from "./python.ts"

/** What code may do beyond computing; what is not certain, it may. */
export interface Reach {
  /** It may send, read or write something outside the workflow. */
  readonly outside: boolean
  /** It reads or keeps state of earlier executions. */
  readonly state: boolean
}

/** SQL over items that takes other sources, or code; n8n refuses these since 2025. */
const sqlCallsOut =
  /`|->|\b(?:attach|require|source|create|into)\b|\b(?:from|join|using)\s*[a-z_]\w*\s*\(|\b(?:from|join)\s*["'[]/i

/** The reach of a parameter's value by the language of its code, named by the extension of its files. */
export const of = (extension: string | undefined, code: unknown, parse: Parse): Reach => {
  const isCode = extension === "js" || extension === "py" || extension === "sql"
  if (!isCode) return { outside: false, state: false }
  if (typeof code !== "string") return { outside: true, state: false }
  if (extension === "js") return javascript.reachOf(code, parse)
  return extension === "py" ? python.reachOf(code) : { outside: sqlCallsOut.test(code), state: false }
}
