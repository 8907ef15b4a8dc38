/** Checks that n8n 2.x makes when it publishes a workflow, and 1.x only during the run. */
import * as Effect from "effect/Effect"
import type { Advice, Hint } from "../base/Advice.ts"
import * as Errors from "../base/Errors.ts"
import * as Visible from "../base/Visible.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import { calledBy } from "../workflows/Calls.ts"
import * as WorkflowValidation from "../workflows/WorkflowValidation.ts"
import type { Copy } from "./TestCopy.ts"

export const cannotRun = (
  name: string,
  { message, ...rest }: { readonly message: string; readonly field: string; readonly hint: Hint }
) => new Errors.ValidationError({ reason: `'${Visible.label(name)}' cannot be run: ${message}`, ...rest })

const notRunnable = (name: string, message: string, advice: Advice) =>
  cannotRun(name, { message, field: "workflowId", hint: ["Nothing ran.", advice] })

/** Fails for a copy whose nodes lack credentials or call workflows that do not exist. */
export const checkRunnable = Effect.fnUntraced(function*(
  name: string,
  body: ReturnType<Copy["at"]>,
  release: string | undefined
) {
  if (release !== undefined && !isV1(release)) return
  const n8n = yield* N8nClient
  const { missingCredentials } = yield* WorkflowValidation.validate(body, release)
  if (missingCredentials.length > 0) {
    return yield* notRunnable(
      name,
      missingCredentials.slice(0, 5).map(({ node, type }) => `'${node}' needs the credential ${type}.`).join(" "),
      { _tag: "SetCredentials" }
    )
  }
  for (const node of body.nodes) {
    const id = calledBy(node)
    if (id === undefined) continue
    yield* n8n.getWorkflow(id).pipe(
      Effect.catchTags({
        NotFoundError: () =>
          notRunnable(
            name,
            `'${node.name}' calls the workflow '${id}', which does not exist.`,
            { _tag: "ListExistingWorkflows" }
          ),
        ApiError: () => Effect.void
      })
    )
  }
})
