/** What in a workflow uses something: a node type, a credential, another workflow, a webhook's path, or any text. */
import * as Predicate from "effect/Predicate"
import { obj, str } from "../base/Json.ts"
import * as Redact from "../base/Redact.ts"
import { nameOf, typeOf } from "../n8n/model/Workflow.ts"

/** The part of a workflow that is looked through. */
interface Searched {
  readonly nodes: ReadonlyArray<unknown>
  readonly settings?: unknown
}

/** Whether a text in a value, at any depth, meets a condition. */
const someText = (value: unknown, isMatch: (text: string) => boolean): boolean => {
  const work = [value]
  while (work.length > 0) {
    const each = work.pop()
    if (Predicate.isString(each)) {
      if (isMatch(each)) return true
    } else if (Predicate.isObjectOrArray(each)) {
      work.push(...Object.values(each))
    }
  }
  return false
}

/** A node type with its package, which is the whole of a type, not a part of one. */
const wholeType = /^(@[\w-]+\/)?n8n-nodes-[\w-]+\.\w+$/i

/** The setting that names another workflow. */
const errorWorkflow = "settings.errorWorkflow"

/**
 * Finds what in a workflow uses something: names of nodes, and `settings.errorWorkflow`.
 *
 * **Details**
 *
 * A node uses a text that is in its type, its name, its credentials (type, id or name) or a value of its parameters,
 * whatever the case; a type with its package is that type, `errorWorkflow` any error workflow. Secrets are not searched, so that they cannot be probed,
 * unless `secrets` says so.
 */
export const finder = (sought: string, options: { readonly secrets: boolean }) => {
  const text = sought.trim().toLowerCase()
  const contains = (value: string) => value.toLowerCase().includes(text)
  const isErrorWorkflow = text === "errorworkflow" || text === errorWorkflow.toLowerCase()
  const isType = wholeType.test(sought.trim())

  const uses = (value: unknown): boolean => {
    const node = obj(value) ?? {}
    const type = typeOf(node)
    if (isType) return type.toLowerCase() === text
    const { credentials, name, notes, parameters, webhookId } = node
    const searched = { type, name, notes, parameters, webhookId, credentials }
    return Object.keys(obj(credentials) ?? {}).some(contains) ||
      // Redacting costs more than looking: it is done only for what would be found.
      someText(searched, contains) && (options.secrets || someText(Redact.redact(searched), contains))
  }

  return ({ nodes, settings }: Searched): ReadonlyArray<string> => {
    const named = str(obj(settings)?.["errorWorkflow"]) ?? ""
    return [
      ...nodes.flatMap((node) => uses(node) ? [nameOf(node) || "?"] : []),
      ...contains(named) || isErrorWorkflow && named !== "" ? [errorWorkflow] : []
    ]
  }
}
