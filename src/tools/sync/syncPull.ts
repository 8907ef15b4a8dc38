import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as Sync from "../../sync/Sync.ts"
import * as writing from "../shared/Writing.ts"
import * as entries from "./entries.ts"

const settle =
  "both: left as it was, for it changed on both sides. Ask the user which to keep, then call again with resolve and only."

/** From n8n into files. */
export const syncPull = Tool.make({
  name: "sync_pull",
  title: "Pull workflows",
  searchHint: "export all workflows into git, back up n8n into files, workflows as code",
  description:
    "Write what is new or changed on n8n into a folder, one JSON file a workflow. Files that changed stay as they are.",
  annotations: Tool.destructive,
  scopes: ["workflow:list", "workflow:read"],
  input: Schema.Struct({
    folder: entries.folder,
    only: entries.only,
    resolve: Schema.optionalKey(
      Schema.Literals(["here", "there"]).annotate({
        description: "What changed on both sides: keep the file (here), or n8n's state."
      })
    ),
    dryRun: writing.dryRun
  }),
  output: entries.Output,
  handler: ({ folder, ...options }) => Sync.pull(folder, { ...options, onStep: entries.onStep }),
  summarize: (report) => entries.summarize(report, settle),
  message: (data) => ({ en: entries.counted(data), ja: "ワークフローをファイルに取り込みました" })
})
