import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as Sync from "../../sync/Sync.ts"
import * as parameters from "../shared/Parameters.ts"
import * as entries from "./entries.ts"

/** Compares a folder with n8n. */
export const syncStatus = Tool.make({
  name: "sync_status",
  title: "Sync status",
  searchHint: "workflows as code, git, which files differ from n8n, drift, changed here or there",
  description: "Compare a folder of workflow files with n8n: which side changed since they were last in sync?",
  annotations: Tool.readOnly,
  scopes: ["workflow:list", "workflow:read"],
  unlisted: { offset: "never" },
  input: Schema.Struct({ folder: entries.folder, offset: parameters.rowOffset }),
  paged: ["entries"],
  output: entries.Output,
  handler: ({ folder }) => Sync.status(folder, { onRead: entries.onRead }),
  summarize: (report) =>
    entries.summarize(report, "both: changed on both sides. workflow_diff(a: id, b: file) shows how."),
  message: (data) => entries.message(data, "同期の状態を取得しました")
})
