/** Effects of a node's code beyond computing from its input. */
import type { Parse } from "../../base/JavaScript.ts"
import type { Reach } from "./effects.ts"
import * as javascript from "./javascript.ts"
import * as python from "./python.ts"

export type { Reach } from "./effects.ts"

/** SQL over items that uses other sources or code, which n8n has refused since 2025. */
const sqlCallsOut =
  /`|->|\b(?:attach|require|source|create|into)\b|\b(?:from|join|using)\s*[a-z_]\w*\s*\(|\b(?:from|join)\s*["'[]/i

/** Reach of a parameter's value, by the file extension of its language. */
export const of = (extension: string | undefined, code: unknown, parse: Parse): Reach => {
  const isCode = extension === "js" || extension === "py" || extension === "sql"
  if (!isCode) return { outside: false, state: false }
  if (typeof code !== "string") return { outside: true, state: false }
  if (extension === "js") return javascript.reachOf(code, parse)
  return extension === "py" ? python.reachOf(code) : { outside: sqlCallsOut.test(code), state: false }
}
