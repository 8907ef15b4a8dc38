/** Location of a workflow, determined by the form of its id. */
import * as Errors from "../base/Errors.ts"

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
