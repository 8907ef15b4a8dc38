/** Views of a workflow: a single workflow has more fields than an entry of a list, and some writes return fewer. */
import * as Effect from "effect/Effect"
import { json } from "./answers.ts"
import { type Call, type Refusal, refuse } from "./server.ts"
import { complete, type Obj, only, type Stored, without, type Workflow } from "./state.ts"

const withActiveVersion = (workflow: Workflow, ...omitted: ReadonlyArray<string>) =>
  workflow.activeVersion ? { ...workflow, activeVersion: without(workflow.activeVersion, ...omitted) } : workflow

export const detail = (workflow: Workflow, { query, version }: Call): Obj => {
  const result = query.get("excludePinnedData") === "true" ? without(workflow, "pinData") : workflow
  if (version === "2") return result
  const published = withActiveVersion(workflow, "nodeGroups", "autosaved", "workflowPublishHistory")
  return { ...without(result, "nodeGroups", "sourceWorkflowId", "parentFolder"), ...only(published, "activeVersion") }
}

export const item = (workflow: Workflow, call: Call): Obj => ({
  ...without(
    detail(withActiveVersion(workflow, "workflowPublishHistory"), call),
    "description",
    "versionCounter",
    "sourceWorkflowId",
    "parentFolder"
  ),
  ...(workflow.shared && { shared: workflow.shared.map((share) => without(share, "project")) })
})

/** Answer of a write: the workflow without some keys. */
export const answer = (call: Call, workflow: Workflow, ...omitted: ReadonlyArray<string>): Response =>
  json(without(detail(workflow, call), ...omitted))

/** Workflow of a call, completed; `otherwise` is the message of the 404. */
export const findWorkflow = ({ id, state }: Call, otherwise = "Not Found"): Effect.Effect<Stored, Refusal> => {
  const workflow = state.workflows.get(id)
  return workflow === undefined ? refuse(404, otherwise) : Effect.succeed(complete(state, workflow))
}

/** Message for a missing workflow: 2.x reports a missing permission, 1.x that it was not found. */
export const permissionDenied = (verb: string, version: Call["version"]): string =>
  version === "1"
    ? "Not Found"
    : `You do not have permission to ${verb} this workflow. Ask the owner to share it with you.`
