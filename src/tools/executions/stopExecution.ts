import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as parameters from "../shared/Parameters.ts"

/** `POST /executions/{id}/stop` (2.x). */
export const stopExecution = Tool.make({
  name: "stop_execution",
  title: "Stop execution",
  searchHint: "cancel, kill, abort a running or waiting execution",
  description: "Stop a running or waiting execution.",
  annotations: Tool.destructive,
  scopes: ["execution:stop"],
  input: Schema.Struct({ id: parameters.executionId }),
  output: Schema.Struct({ id: Schema.String, status: Schema.String }),
  handler: ({ id }) => Effect.map(N8nClient.use((n8n) => n8n.stopExecution(id)), ({ status }) => ({ id, status })),
  summarize: ({ id, status }) => ({ id, status: Visible.label(status ?? "canceled") }),
  message: ({ id }) => ({ en: `Stopped execution ${id}`, ja: "実行を停止しました" })
})
