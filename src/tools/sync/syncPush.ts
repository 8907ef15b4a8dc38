import * as Schema from "effect/Schema"
import * as Arguments from "../../answer/Arguments.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Sync from "../../sync/Sync.ts"
import * as writing from "../shared/Writing.ts"
import * as entries from "./entries.ts"

const settle =
  "Nothing was pushed: for the status both, n8n's changes would be lost. Ask the user which side to keep, then call sync_pull with resolve and only."

const repair = "Invalid files are not pushed: fix them, then call again."

/** Writes workflows from files to n8n. */
export const syncPush = Tool.make({
  name: "sync_push",
  title: "Push workflows",
  searchHint: "deploy workflow files from git to n8n, upload a folder, workflows as code",
  description:
    "Write new or changed workflows of a folder to n8n, unpublished (before n8n 2.40, active ones change immediately). Undo: workflow_restore.",
  annotations: Tool.destructive,
  empty: { only: Arguments.emptyChoice },
  scopes: ["workflow:list", "workflow:read", "workflow:create", "workflow:update"],
  input: Schema.Struct({ folder: entries.folder, only: entries.only, dryRun: writing.dryRun }),
  output: entries.Output,
  handler: ({ folder, ...options }) => Sync.push(folder, { ...options, onStep: entries.onStep }),
  summarize: (report) => {
    const summary = entries.summarize(report, settle)
    const hasInvalid = (summary.counts["invalid"] ?? 0) > 0
    return defined({ ...summary, hint: ItemView.joinNotes([summary.hint, hasInvalid && repair]) })
  },
  message: (data) => entries.message(data, "ファイルを n8n に反映しました")
})
