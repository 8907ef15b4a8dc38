/** Finds uses of a node type, a credential, another workflow, a webhook's path, or any text in workflows. */
import * as Predicate from "effect/Predicate"
import { arr, canonical, type Obj, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import { nameOf, typeOf } from "../n8n/model/Workflow.ts"
import { piece } from "./diff/TextDiff.ts"
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

const texts = (value: unknown, path: string): ReadonlyArray<Text> => {
  const all: Array<Text> = []
  const work: Array<readonly [string, unknown]> = [[path, value]]
  for (let each = work.pop(); each !== undefined; each = work.pop()) {
    const [path, value] = each
    if (Predicate.isString(value)) all.push([path, value])
    else if (Predicate.isObjectOrArray(value)) {
      const step = (key: string) => Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`
      work.push(...Object.entries(value).map(([key, inner]) => [step(key), inner] as const).toReversed())
    }
  }
  return all
}

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

  const placesIn = ({ credentials, name, notes, parameters, type, webhookId }: Obj): ReadonlyArray<Text> => [
    ...Object.entries({ type, name, notes, webhookId, parameters })
      .flatMap(([path, value]) => texts(value, path))
      .filter(([, value]) => contains(value)),
    ...References.ofNode({ credentials }).flatMap(({ id = "", name = "", steps, type = "" }): ReadonlyArray<Text> =>
      [type, id, name].some(contains) ? [[steps.slice(2).reduce<string>(JsonPath.member, ""), name || id]] : []
    )
  ]

  const usesOf = (value: unknown): ReadonlyArray<Use> => {
    const node = obj(value) ?? {}
    const type = typeOf(node)
    const places = (): ReadonlyArray<Text> => {
      if (isType) return type.toLowerCase() === text ? [["type", type]] : []
      const raw = placesIn(node)
      // Redaction is slow and only needed for a match.
      return options.secrets || raw.length === 0 ? raw : placesIn(Redact.redact(node))
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
