/** Guard that every write to n8n passes, whichever way it takes. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"
import type { Obj } from "../base/Json.ts"

/** Write to n8n before it is sent. */
export interface Write {
  readonly method: string
  /** Below `/api/v1`, such as `/workflows/12/publish`; its parts are percent-encoded. */
  readonly path: string
  readonly body?: unknown
  /** `GET` of another path of the same n8n, as JSON. */
  readonly read: (
    path: string,
    query?: { readonly [name: string]: string }
  ) => Effect.Effect<unknown, Errors.N8nError>
}

/** Reads a workflow by id. */
export type ReadWorkflow = (id: string) => Effect.Effect<unknown, Errors.N8nError>

/** Reason why a workflow must not be written. */
export interface Fault {
  readonly message: string
  /** From the workflow: `nodes[3].parameters`. */
  readonly path: string
}

/** Guard of writes: `Policy.layer` makes one of rules. */
export interface Service {
  /** Fails if the write must not be sent. */
  readonly check: (write: Write) => Effect.Effect<void, Errors.N8nError>
  /** Fails if a test must not run these nodes. */
  readonly checkTest: (nodes: ReadonlyArray<unknown>) => Effect.Effect<void, Errors.N8nError>
  /** Faults of a workflow as stored. */
  readonly faults: (workflow: Obj, read: ReadWorkflow) => Effect.Effect<ReadonlyArray<Fault>, Errors.N8nError>
}

const open: Service = { check: () => Effect.void, checkTest: () => Effect.void, faults: () => Effect.succeed([]) }

/** The guard of the current call. Default: everything may be written. */
export const WriteGuard = Context.Reference<Service>("effect-n8n-mcp/WriteGuard", { defaultValue: () => open })

/** Whether a write concerns a test copy, which a guard judges by the original; only the code of copies sets it. @internal */
export const IsTestCopy = Context.Reference<boolean>("effect-n8n-mcp/IsTestCopy", { defaultValue: () => false })

/** Restores the state before a failed write of ours, without asking the guard: the state is not new. @internal */
export const puttingBack = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, WriteGuard, open)

/** Asks the guard about a write without sending it: `before` is absent if it creates, `after` if it deletes. @internal */
export const preview = (
  { after, before }: { readonly before?: Obj & { readonly id: string }; readonly after?: Obj },
  read: ReadWorkflow
): Effect.Effect<void, Errors.N8nError> =>
  WriteGuard.use(({ check }) =>
    check({
      method: before === undefined ? "POST" : after === undefined ? "DELETE" : "PUT",
      path: before === undefined ? "/workflows" : `/workflows/${encodeURIComponent(before.id)}`,
      body: after,
      read: (path) => {
        const id = decodeURIComponent(path.slice("/workflows/".length))
        return id === before?.id ? Effect.succeed(before) : read(id)
      }
    })
  )
