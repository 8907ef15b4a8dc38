import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as parameters from "../shared/Parameters.ts"

/** `POST /executions/{id}/retry`: starts a new execution and answers when it has ended. */
export const retryExecution = Tool.make({
  name: "retry_execution",
  title: "Retry execution",
  searchHint: "run again, rerun a failed execution",
  description:
    "Run a failed execution again from the node that failed, with the data it had. Next: get_execution with the new id.",
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: ["execution:retry"],
  input: Schema.Struct({
    id: parameters.executionId,
    latest: parameters.flag("Use the current workflow instead of the one that ran.")
  }),
  output: Schema.Struct({ id: Schema.String, status: Schema.String }),
  handler: ({ id, latest }) => N8nClient.use((n8n) => n8n.retryExecution(id, latest)),
  summarize: ({ id, status }) => ({ id: String(id), status: Visible.label(status ?? "unknown") }),
  message: ({ id, status }) => ({ en: `Retried as execution ${id}: ${status}`, ja: "実行を再試行しました" })
})
