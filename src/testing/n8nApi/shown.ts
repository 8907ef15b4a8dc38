/** What n8n shows of a workflow: more in an answer of its own than in a list, and less after some writes. */
import * as Effect from "effect/Effect"
import { type Call, type Refusal, refuse } from "./server.ts"
import { complete, type Stored, without, type Workflow } from "./state.ts"

/** `GET /workflows/{id}`. */
export const detail = (workflow: Workflow, { query, version }: Call): object => {
  const shown = query.get("excludePinnedData") === "true" ? without(workflow, "pinData") : workflow
  if (version === "2") return shown
  const { activeVersion } = workflow
  return {
    ...without(shown, "nodeGroups", "sourceWorkflowId", "parentFolder"),
    ...(activeVersion && { activeVersion: without(activeVersion, "nodeGroups", "autosaved", "workflowPublishHistory") })
  }
}

/** One of `GET /workflows`. */
export const item = (workflow: Workflow, call: Call): object => ({
  ...without(detail(workflow, call), "description", "versionCounter", "sourceWorkflowId", "parentFolder"),
  ...(workflow.shared && { shared: workflow.shared.map((share) => without(share, "project")) }),
  ...(workflow.activeVersion && { activeVersion: without(workflow.activeVersion, "workflowPublishHistory") })
})

/** What a write answers: the workflow, but for some keys. */
export const answer = (call: Call, workflow: Workflow, ...leftOut: ReadonlyArray<string>): Response =>
  Response.json(without(detail(workflow, call), ...leftOut))

/** The workflow of a call that needs all of it. */
export const found = ({ id, state }: Call, otherwise = "Not Found"): Effect.Effect<Stored, Refusal> => {
  const workflow = state.workflows.get(id)
  return workflow === undefined ? refuse(404, otherwise) : Effect.succeed(complete(state, workflow))
}

/** 2.x names the right that is missing, 1.x just does not find. */
export const denied = (verb: string, version: Call["version"]): string =>
  version === "1"
    ? "Not Found"
    : `You do not have permission to ${verb} this workflow. Ask the owner to share it with you.`
