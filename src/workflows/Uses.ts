/** Finds uses of a node type, a credential, another workflow, a webhook's path, or any text in workflows. */
import * as Predicate from "effect/Predicate"
import { obj, str } from "../base/Json.ts"
import * as Redact from "../base/Redact.ts"
import { nameOf, typeOf } from "../n8n/model/Workflow.ts"

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

const wholeType = /^(@[\w-]+\/)?n8n-nodes-[\w-]+\.\w+$/i

const errorWorkflow = "settings.errorWorkflow"

/**
 * Returns a function that lists the names of nodes that use something, and `settings.errorWorkflow` if it does.
 *
 * **Details**
 *
 * A node uses a text that is in its type, its name, its credentials (type, id or name) or a value of its parameters,
 * ignoring case; a full type name matches only that type, `errorWorkflow` any error workflow. Secrets are not searched
 * unless `secrets` is set, so that they cannot be probed.
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
      // Redaction is slow and only needed for a match.
      someText(searched, contains) && (options.secrets || someText(Redact.redact(searched), contains))
  }

  return (
    { nodes, settings }: { readonly nodes: ReadonlyArray<unknown>; readonly settings?: unknown }
  ): ReadonlyArray<string> => {
    const named = str(obj(settings)?.["errorWorkflow"]) ?? ""
    return [
      ...nodes.flatMap((node) => uses(node) ? [nameOf(node) || "?"] : []),
      ...contains(named) || isErrorWorkflow && named !== "" ? [errorWorkflow] : []
    ]
  }
}
