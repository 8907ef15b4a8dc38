/** Finds uses of a node type, a credential, another workflow, a webhook's path, or any text in workflows. */
import { arr, canonical, type Obj, obj, own } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import { piece } from "../base/Omission.ts"
import * as Redact from "../base/Redact.ts"
import { nameOf, typeOf } from "../n8n/model/Workflow.ts"
import * as References from "./References.ts"

/** Place of a use; `node` is absent in the settings, and a long `value` is cut to what surrounds the text. */
export interface Use {
  readonly node?: string
  readonly path: string
  readonly value: string
  /** Only the published version, not the waiting draft, has it. */
  readonly version?: "published"
}

type Text = readonly [path: string, value: string]

const maxValue = 80

const excerpt = (value: string, at: number) => {
  if (value.length <= maxValue) return value
  const start = Math.max(0, Math.min(at - maxValue / 4, value.length - maxValue + 2))
  return piece(value, start, start + maxValue - 4)
}

export interface Searched {
  readonly nodes: ReadonlyArray<unknown>
  readonly settings?: unknown
  readonly active?: boolean
  readonly versionId?: string | null
  readonly activeVersionId?: string | null
  readonly activeVersion?: unknown
}

/** Nodes that run, if a draft waits. */
const runningNodes = ({ active, activeVersion, activeVersionId, versionId }: Searched) =>
  active === true && typeof activeVersionId === "string" && activeVersionId !== versionId
    ? arr(obj(activeVersion)?.["nodes"])
    : []

const wholeType = /^(@[\w-]+\/)?n8n-nodes-[\w-]+\.\w+$/i
const errorWorkflow = "settings.errorWorkflow"

/** Returns a function that lists the places that use a text, ignoring case; secrets only with `secrets`. */
export const finder = (sought: string, options: { readonly secrets: boolean }) => {
  const text = sought.trim().toLowerCase()
  const contains = (value: string) => value.toLowerCase().includes(text)
  const isErrorWorkflow = text === "errorworkflow" || text === errorWorkflow.toLowerCase()
  const isType = wholeType.test(sought.trim())

  const placesIn = (node: Obj, index: number): ReadonlyArray<Text> => {
    const { credentials, name, notes, parameters, type, webhookId } = node
    // An edit takes a path that begins with the name of a parameter as that parameter.
    const pathOf = (path: JsonPath.Path) =>
      JsonPath.print(own(parameters, path[0] ?? "") === undefined ? path : ["nodes", index, ...path])
    return [
      ...JsonPath.strings({ type, name, notes, webhookId, parameters }).filter(([, value]) => contains(value))
        .map(([path, value]) => [pathOf(path), value] as const),
      ...References.ofNode({ credentials }).flatMap(({ id = "", name = "", steps, type = "" }): ReadonlyArray<Text> =>
        [type, id, name].some(contains) ? [[pathOf(steps.slice(2)), name || id]] : []
      )
    ]
  }

  const usesOf = (value: unknown, index: number): ReadonlyArray<Use> => {
    const node = obj(value) ?? {}
    const type = typeOf(node)
    const places = (): ReadonlyArray<Text> => {
      if (isType) return type.toLowerCase() === text ? [["type", type]] : []
      const raw = placesIn(node, index)
      // Redaction is slow and only needed for a match.
      return options.secrets || raw.length === 0 ? raw : placesIn(Redact.redact(node), index)
    }
    return places().map(([path, value]) => ({
      node: nameOf(node) || "?",
      path,
      value: excerpt(value, value.toLowerCase().indexOf(text))
    }))
  }

  return (workflow: Searched): ReadonlyArray<Use> => {
    const { nodes, settings } = workflow
    const id = References.of({ settings }).find(({ kind }) => kind === "error")?.id ?? ""
    const uses = nodes.flatMap(usesOf)
    const known = new Set(uses.map(canonical))
    return [
      ...uses,
      ...runningNodes(workflow).flatMap(usesOf).filter((use) => !known.has(canonical(use)))
        .map((use): Use => ({ ...use, version: "published" })),
      ...id !== "" && (contains(id) || isErrorWorkflow) ? [{ path: errorWorkflow, value: id }] : []
    ]
  }
}
