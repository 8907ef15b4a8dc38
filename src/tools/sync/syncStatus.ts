import * as Schema from "effect/Schema"
import * as Arguments from "../../answer/Arguments.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as Sync from "../../sync/Sync.ts"
import * as parameters from "../shared/Parameters.ts"
import * as entries from "./entries.ts"

/** Compares a folder with n8n. */
export const syncStatus = Tool.make({
  name: "sync_status",
  title: "Sync status",
  searchHint: "workflows as code, git, which files differ from n8n, drift, changed here or there",
  description: "Compare a folder of workflow files with n8n: which side changed?",
  annotations: Tool.readOnly,
  scopes: ["workflow:list", "workflow:read"],
  unlisted: { offset: "never" },
  input: Schema.Struct({
    folder: entries.folder,
    only: entries.only,
    show: parameters.optional(Schema.Literal("there"), "Also name workflows that only n8n has."),
    offset: parameters.rowOffset
  }),
  paged: entries.paged,
  budget: entries.budget,
  output: entries.Output,
  empty: { only: Arguments.emptyChoice },
  handler: ({ folder, only }) => Sync.status(folder, defined({ only })),
  summarize: (report, { only, show }) =>
    entries.summarize(report, ({ conflict }) => [
      conflict && "conflict: changed on both sides. workflow_diff(a: id, b: file) shows how."
    ], show === "there" || only !== undefined),
  message: (data) => entries.message(data, "同期の状態を取得しました")
})
