import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { N8nClient } from "../N8nClient.ts"
import * as Tool from "../Tool.ts"
import * as parameters from "./parameters.ts"

const Output = Schema.Struct({ id: Schema.String, status: Schema.String })

/** `POST /executions/{id}/retry`; a new execution, which has ended when this answers. */
export const retryExecution = Tool.make({
  name: "retry_execution",
  title: "Retry execution",
  searchHint: "run again, rerun a failed execution",
  description:
    "Run a failed execution again from the node that failed, with the data it had. Next: get_execution with the new id.",
  annotations: Tool.additive,
  scopes: ["execution:retry"],
  input: Schema.Struct({
    id: parameters.executionId,
    latest: parameters.raw("With the workflow as it is now instead of as it ran.")
  }),
  output: Output,
  handler: ({ id, latest }) => N8nClient.use((n8n) => n8n.retryExecution(id, latest)),
  summarize: ({ id, status }) => ({ id: String(id), status: status ?? "unknown" }),
  message: ({ id, status }) => ({ en: `Retried as execution ${id}: ${status}`, ja: "実行を再試行しました" })
})

/** `POST /executions/{id}/stop` (2.x). */
export const stopExecution = Tool.make({
  name: "stop_execution",
  title: "Stop execution",
  searchHint: "cancel, kill, abort a running or waiting execution",
  description: "Stop an execution that is running or waiting.",
  annotations: Tool.destructive,
  scopes: ["execution:stop"],
  input: Schema.Struct({ id: parameters.executionId }),
  output: Output,
  handler: ({ id }) => Effect.map(N8nClient.use((n8n) => n8n.stopExecution(id)), ({ status }) => ({ id, status })),
  summarize: ({ id, status }) => ({ id, status: status ?? "canceled" }),
  message: ({ id }) => ({ en: `Stopped execution ${id}`, ja: "実行を停止しました" })
})
