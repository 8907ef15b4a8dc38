/** What n8n shows of a workflow: more in an answer of its own than in a list, and less after some writes. */
import * as Effect from "effect/Effect"
import { type Refusal, refuse } from "./refusal.ts"
import type { Call } from "./server.ts"
import { complete, type Obj, only, type Stored, without, type Workflow } from "./state.ts"

const withLive = (workflow: Workflow, ...leftOut: ReadonlyArray<string>) =>
  workflow.activeVersion ? { ...workflow, activeVersion: without(workflow.activeVersion, ...leftOut) } : workflow

/** `GET /workflows/{id}`. */
export const detail = (workflow: Workflow, { query, version }: Call): Obj => {
  const shown = query.get("excludePinnedData") === "true" ? without(workflow, "pinData") : workflow
  if (version === "2") return shown
  const live = withLive(workflow, "nodeGroups", "autosaved", "workflowPublishHistory")
  return { ...without(shown, "nodeGroups", "sourceWorkflowId", "parentFolder"), ...only(live, "activeVersion") }
}

/** One of `GET /workflows`. */
export const item = (workflow: Workflow, call: Call): Obj => ({
  ...without(
    detail(withLive(workflow, "workflowPublishHistory"), call),
    "description",
    "versionCounter",
    "sourceWorkflowId",
    "parentFolder"
  ),
  ...(workflow.shared && { shared: workflow.shared.map((share) => without(share, "project")) })
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
