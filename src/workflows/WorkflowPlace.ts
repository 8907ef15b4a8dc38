/** Where a workflow is, told by the form of its id alone. */

/** A file under the files root, a draft that workflow_create named, or a workflow on n8n. */
export type WorkflowPlace =
  | { readonly kind: "file"; readonly path: string }
  /** `WorkflowFiles` knows it by its id. */
  | { readonly kind: "draft"; readonly id: string; readonly path: string }
  | { readonly kind: "n8n"; readonly id: string }

const draft = "draft-"

/** What ends in `.json` or holds a slash is a path, `draft-…` a draft, everything else an n8n id. */
export const placeOf = (workflowId: string): WorkflowPlace => {
  if (/\.json$/i.test(workflowId) || /[\\/]/.test(workflowId)) return { kind: "file", path: workflowId }
  if (!workflowId.startsWith(draft)) return { kind: "n8n", id: workflowId }
  return { kind: "draft", id: workflowId, path: workflowId }
}

/** The id of the draft of a name. */
export const draftId = (name: string): string => draft + name

/** What a path of `WorkflowFiles` is called, for people. */
export const nounOf = (path: string): "draft" | "file" => placeOf(path).kind === "draft" ? "draft" : "file"

/** The name of the draft that an id stands for; `undefined` if it stands for something else. */
export const draftName = (id: string): string | undefined =>
  placeOf(id).kind === "draft" ? id.slice(draft.length) : undefined
