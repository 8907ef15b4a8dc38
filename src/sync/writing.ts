/** Writes contents to n8n. */
import * as Effect from "effect/Effect"
import { type Obj, obj } from "../base/Json.ts"
import type * as Workflow from "../n8n/model/Workflow.ts"
import { WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import * as Compare from "./comparison.ts"
import * as content from "./content.ts"

/** Told of a published workflow of n8n 1.x that was changed. */
export const noDrafts = "this n8n's API has no drafts: what was pushed runs at once"

/** Creates; what n8n takes only once the workflow exists follows. */
export const create = Effect.fnUntraced(function*(wanted: Obj, operation: string, publishes: boolean) {
  const store = yield* WorkflowStore
  const { description, tags, ...body } = wanted
  const names = Array.isArray(tags) ? tags.map(String) : undefined
  const written = yield* store.create(body, { source: "file", tags: names, active: publishes })
  if (description === undefined) return written
  const { workflow } = yield* store.update(written.workflow.id, { description }, { operation, source: "file" })
  return { ...written, workflow }
})

/** Writes what differs, as long as n8n still has what it was compared with. */
export const update = Effect.fnUntraced(function*(
  there: { readonly id: string; readonly tags?: Workflow.Workflow["tags"] | undefined },
  wanted: Obj,
  { expectedHash, operation, publishes, scope }: {
    /** Of what it was compared with. */
    readonly expectedHash: string
    readonly operation: string
    readonly publishes: boolean
    readonly scope: content.Scope
  }
) {
  const store = yield* WorkflowStore
  const compared = content.of({ tags: there.tags }, scope)
  return yield* store.modify(there.id, (before) => {
    const now = content.of(before, scope)
    return content.hash(now) === expectedHash
      ? Effect.succeed({ patch: content.patch(now, wanted, scope), result: undefined })
      : Effect.fail(Compare.movedOn(`Workflow '${there.id}'`))
  }, {
    operation,
    source: "file",
    tags: content.tagPatch(compared, wanted),
    active: publishes ? true : undefined,
    isDraft: !publishes
  })
})

/** What is told of settings that n8n keeps though they are wanted no more; n8n 1.x always has two of its own. */
export const settingsKept = (wanted: Obj, workflow: Workflow.Workflow, scope: content.Scope): ReadonlyArray<string> => {
  const there = Object.keys(obj(content.of(workflow, scope)["settings"]) ?? {})
  const here = obj(wanted["settings"]) ?? {}
  const own = scope.isV1 ? ["callerPolicy", "availableInMCP"] : []
  const kept = there.filter((key) => !Object.hasOwn(here, key) && !own.includes(key))
  return kept.length === 0 || wanted["settings"] === undefined
    ? []
    : [`n8n keeps settings that a file leaves out: ${kept.join(", ")}`]
}
