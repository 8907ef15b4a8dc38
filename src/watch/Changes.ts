/** Changes of a workflow: its publications, and the versions that were saved. */
import * as Effect from "effect/Effect"
import { defined } from "../base/Json.ts"
import * as Publications from "../n8n/model/Publications.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import type { Change } from "./Health.ts"

const minute = 60_000
const hour = 60 * minute

/** Changes of a workflow in order, as far as n8n tells them, in at most two requests. None of a deleted workflow. */
export const of = Effect.fn("Changes.of")(function*(workflowId: string) {
  const n8n = yield* N8nClient
  const workflow = yield* n8n.getWorkflow(workflowId).pipe(Effect.orElseSucceed(() => undefined))
  if (workflow === undefined) return []
  const versions = yield* n8n.workflowHistory(workflowId).pipe(Effect.orElseSucceed(() => undefined))
  const changes: ReadonlyArray<Change> = [
    ...Publications.of(workflow).map(({ at, ...rest }) => ({ at: new Date(at).toISOString(), ...rest })),
    ...(versions ?? []).map(({ createdAt, versionId }) => ({
      at: createdAt,
      event: "saved" as const,
      version: versionId
    })),
    // n8n 1 reports the last save only; what a trigger stores does not count as one.
    ...versions === undefined && workflow.updatedAt !== undefined
      ? [defined({ at: workflow.updatedAt, event: "saved" as const, version: workflow.versionId ?? undefined })]
      : []
  ]
  return changes.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
})

/** Time before and after the beginning of an incident in which a change is near it. */
const nearby = { before: 6 * hour, after: hour }

/** Changes in order, in which a version that is saved and published, or published again, within a minute is one change. */
const united = (changes: ReadonlyArray<Change>) => {
  const all = changes.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return all.filter(({ at, event, version }, index) =>
    !all.some((each, other) =>
      version !== undefined && each.event === "published" && each.version === version &&
      Math.abs(Date.parse(each.at) - Date.parse(at)) <= minute && (event === "saved" || other > index)
    )
  )
}

/** Changes near the beginnings of incidents, and the last one before each beginning, in order and each once. Pure. */
export const near = (
  changes: ReadonlyArray<Change>,
  times: ReadonlyArray<number>,
  within: { readonly before: number; readonly after: number } = nearby
): ReadonlyArray<Change> => {
  const all = united(changes)
  const latest = new Set(times.map((time) => all.findLastIndex(({ at }) => Date.parse(at) <= time)))
  return all.filter(({ at }, index) =>
    latest.has(index) ||
    times.some((time) => Date.parse(at) >= time - within.before && Date.parse(at) <= time + within.after)
  )
}
