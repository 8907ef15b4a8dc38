/** New workflows that a change calls: created before the change is written, and removed if it fails. */
import * as Effect from "effect/Effect"
import type { Hint } from "../base/Advice.ts"
import * as Errors from "../base/Errors.ts"
import type { Obj } from "../base/Json.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { puttingBack } from "../n8n/WriteGuard.ts"
import type { Created } from "./edit/WorkflowEdit.ts"
import { WorkflowStore } from "./store/WorkflowStore.ts"

export interface Made {
  readonly id: string
  readonly name: string
  readonly active: boolean
  readonly warnings: ReadonlyArray<string>
}

export const withIds = (workflow: Obj, ids: ReadonlyMap<string, string>): Obj =>
  ids.size === 0 ? workflow : {
    ...workflow,
    nodes: JSON.parse(
      [...ids].reduce((text, [before, after]) => text.replaceAll(before, after), JSON.stringify(workflow["nodes"]))
    )
  }

/** Creates workflows; n8n 2 runs them for a published caller only if they are published. */
export const create = Effect.fnUntraced(function*(
  created: ReadonlyArray<Created>,
  mustPublish: boolean,
  made: Array<Made>
) {
  const release = yield* N8nClient.use((n8n) => n8n.release)
  const ids = new Map<string, string>()
  for (const { id, workflow } of created) {
    const { warnings, workflow: stored } = yield* WorkflowStore.use((store) =>
      store.create(withIds(workflow, ids), { source: "file", active: !isV1(release) })
    )
    made.push({ id: stored.id, name: stored.name, active: stored.active, warnings })
    ids.set(id, stored.id)
    if (mustPublish && !stored.active && !isV1(release)) {
      return yield* Errors.invalid(
        "publish",
        `The new workflow '${stored.name}' cannot be published: ${warnings.join("; ")}`,
        "Nothing was changed. Correct this in the same operations, or leave out publish."
      )
    }
  }
  return ids
})

const withHint = (error: Errors.N8nError, hint: Hint): Errors.N8nError => {
  const all = [error.hint ?? [], hint].flat()
  return error._tag === "ApiError"
    ? new Errors.ApiError({ ...error, hint: all })
    : error._tag === "NotFoundError"
    ? new Errors.NotFoundError({ ...error, hint: all })
    : error._tag === "ValidationError"
    ? new Errors.ValidationError({ ...error, hint: all })
    : error
}

/** Removes created workflows that the caller does not name; returns those that are still there. */
export const discard = Effect.fnUntraced(function*(callerId: string, made: Array<Made>) {
  if (made.length === 0) return []
  const caller = yield* N8nClient.use((n8n) => n8n.getWorkflow(callerId)).pipe(Effect.option)
  const text = caller._tag === "None" ? undefined : JSON.stringify(caller.value)
  const left = yield* Effect.forEach(made.splice(0), (each) =>
    text === undefined || text.includes(`"${each.id}"`)
      ? Effect.succeed([each])
      : puttingBack(WorkflowStore.use((store) => store.remove(each.id))).pipe(
        Effect.as([]),
        Effect.orElseSucceed(() => [each])
      ))
  return left.flat()
})

/** Removes created workflows if the effect fails or is interrupted; names those that could not be removed. */
export const discarding =
  (callerId: string, made: Array<Made>) => <A, R>(effect: Effect.Effect<A, Errors.N8nError, R>) =>
    effect.pipe(
      Effect.catch((error) =>
        Effect.flatMap(Effect.uninterruptible(discard(callerId, made)), (left) =>
          Effect.fail(
            left.length === 0 ? error : withHint(
              error,
              `The new workflow ${left.map(({ id, name }) => `'${name}' (${id})`).join(", ")} is still there: ` +
                `if workflow '${callerId}' does not call it, delete it.`
            )
          ))
      ),
      Effect.onInterrupt(() => Effect.ignore(discard(callerId, made)))
    )
