/** References to workflows and their versions, and the places that they lead to. */
import * as Effect from "effect/Effect"
import * as Alias from "../base/Alias.ts"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import * as Links from "../n8n/Links.ts"
import * as NameSearch from "../n8n/model/NameSearch.ts"
import { type Instance, N8nClient } from "../n8n/N8nClient.ts"

/** A file under the files root, or a workflow among several in it, a draft, or a workflow on n8n. */
export type WorkflowPlace =
  | { readonly kind: "file"; readonly path: string }
  /** `path` is the id, by which `WorkflowFiles` finds the draft. */
  | { readonly kind: "draft"; readonly id: string; readonly path: string }
  | { readonly kind: "n8n"; readonly id: string }

const draft = "draft-"

const partsOf = (path: string) => /^(.*?\.json)#(.+)$/is.exec(path) ?? []

/** Path of the file in `FILE.json#ID` or `FILE.json#NAME`, a workflow among several in it; else the path itself. */
export const fileOf = (path: string): string => partsOf(path)[1] ?? path

/** Id or name of the workflow in `FILE.json#ID` or `FILE.json#NAME`. */
export const selectorOf = (path: string): string | undefined => partsOf(path)[2]

/** Whether a text is an address, which is not a path. */
const isAddress = (text: string) => /^\s*https?:\/\//i.test(text)

/** Returns a file for an id that ends in `.json` or `.json#…`, or contains a slash, a draft for `draft-…`, else a workflow on n8n. */
export const placeOf = (workflowId: string): WorkflowPlace => {
  if (isAddress(workflowId)) return { kind: "n8n", id: workflowId }
  if (/\.json$/i.test(fileOf(workflowId)) || /[\\/]/.test(workflowId)) return { kind: "file", path: workflowId }
  if (!workflowId.startsWith(draft)) return { kind: "n8n", id: workflowId }
  return { kind: "draft", id: workflowId, path: workflowId }
}

export const draftId = (name: string): string => draft + name

/** Noun for a path of `WorkflowFiles` in messages. */
export const nounOf = (path: string): "draft" | "file" => placeOf(path).kind === "draft" ? "draft" : "file"

export const draftName = (id: string): string | undefined =>
  placeOf(id).kind === "draft" ? id.slice(draft.length) : undefined

/** An error about the place of a workflow, in the parameter that named it. */
export const ofWorkflowId = (place: WorkflowPlace, field = "workflowId") => (error: Errors.ValidationError) =>
  place.kind !== "draft" ? new Errors.ValidationError({ ...error, field }) : Errors.advised(
    new Errors.ValidationError({
      ...error,
      field,
      reason: `Draft '${place.id}' cannot be opened: ${error.reason}`
    }),
    { after: { _tag: "ListFiles" } }
  )

export const published = "published"

export const isSnapshot = (version: string): boolean => version.startsWith("snapshot-")

const ofFile = /^(.+\.json(?:#.+)?)@([^\\/.]*)$/i

/** Splits `ID@VERSION`; an `@` within a path is part of the path, unless it follows `.json`. */
const split = (text: string): readonly [id: string, version: string | undefined] => {
  const [, path, version] = ofFile.exec(text) ?? []
  if (path !== undefined) return [path, version]
  const at = placeOf(text).kind === "file" ? -1 : text.indexOf("@")
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

export const versionIn = (text: string): string | undefined => split(text)[1]

/** Parses `ID`, `ID@published`, `ID@VERSION`, and paths or draft ids with or without `@VERSION`. */
export const parse = (text: string) => {
  const [id, version] = split(text)
  return defined({ place: placeOf(id), version })
}

/** Path in a reference to a file; `undefined` for a name with a slash, since no file of ours has another ending. */
export const fileIn = (text: string): string | undefined => {
  const { place } = parse(text)
  return place.kind === "file" && /\.json(#.+)?$/i.test(place.path) ? place.path : undefined
}

/** Whether a text is the beginning of a version's id, as answers show it, rather than the id of a workflow. */
export const isShort = (text: string) => /^(?=.*[a-f])(?=.*\d)[\da-f]{8}$/.test(text)

export const format = (id: string, version: string | undefined): string =>
  version === undefined ? id : `${id}@${version}`

/** Address of a workflow on n8n, or of a version that n8n has. */
export const url = (instance: Instance, place: WorkflowPlace, version: string | undefined): string | undefined =>
  place.kind !== "n8n"
    ? undefined
    : version === undefined || version === published || isSnapshot(version)
    ? Links.workflow(instance, place.id)
    : Links.history(instance, place.id, version)

/** Meaning of a reference as a caller writes it: a link, or a name in place of an id, becomes an id. */
const read = Effect.fnUntraced(function*(text: string) {
  const link = yield* Links.linked(text)
  if (link !== undefined) return format(link.id, link.version)
  const { place, version } = parse(text)
  if (place.kind === "file" && fileIn(text) === undefined) {
    return (yield* Links.named(text)) ?? text
  }
  return place.kind === "n8n" ? yield* Links.alias(text, place.id, (id) => format(id, version)) : text
})

/** Reads a reference that may be a link or contain a name. */
export const reading = Links.reading(read)

/** Uses what a person refers to by an id, a file, a link or a name. */
export const resolve = <A, E, R>(text: string, use: (reference: string) => Effect.Effect<A, E, R>) =>
  Alias.retry(
    Effect.flatMap(
      Effect.mapError(
        read(text),
        ({ hint, message }) => Errors.invalid("workflow", message, hint ?? { _tag: "ListWorkflows" })
      ),
      use
    )
  )

/** Id of the workflow on n8n that a person names by it, a link or its name. */
export const idOf = (text: string) =>
  resolve(text, (id) => Effect.map(N8nClient.use((n8n) => n8n.getWorkflow(id)), ({ id }) => id))

interface Ref {
  readonly id?: string | undefined
  readonly name: string
  readonly file?: string | undefined
}

/** Workflows, or other things with ids, that a person means by an id, a link, a file, or a name that only one of them has. */
export const pick = Effect.fnUntraced(function*<A extends Ref>(
  all: ReadonlyArray<A>,
  text: string,
  place: string,
  kind = "workflow"
) {
  const refuse = (reason: string, hint: string) => Errors.invalid("only", reason, hint)
  const link = yield* Effect.mapError(Links.linked(text), ({ message }) => refuse(message, "Use the id."))
  const own = all.filter(({ file, id }) => id === (link?.id ?? text) || file === text)
  if (own.length > 0) return own
  const isNamed = NameSearch.equals(text)
  const some = all.filter(({ name }) => isNamed(name))
  const exact = some.filter(({ name }) => name === text)
  if (exact.length === 1 || some.length === 1) return exact.length === 1 ? exact : some
  const shown = Visible.label(text)
  return yield* some.length === 0
    ? refuse(
      `${place} has no ${kind} '${shown}'`,
      suggestion(text, [...all.map(({ name }) => name), ...all.flatMap(({ file }) => file ?? [])])
    )
    : refuse(
      `${counted(some.length, kind)} are named '${shown}': ${
        Rows.names(some.map(({ file, id = "" }) => file ?? id), 5)
      }`,
      "Use one of these."
    )
})
