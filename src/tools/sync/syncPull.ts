import * as Schema from "effect/Schema"
import * as Arguments from "../../answer/Arguments.ts"
import * as Tool from "../../answer/Tool.ts"
import * as Sync from "../../sync/Sync.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"
import * as entries from "./entries.ts"

const settle =
  "conflict: changed on both sides, so left unchanged. Ask the user which side to keep, then call again with resolve and only."

const dryRest = "A dry run shows only a part then: limit it with only, or pull."

export const syncPull = Tool.make({
  name: "sync_pull",
  title: "Pull workflows",
  searchHint: "export all workflows into git, back up n8n into files, workflows as code",
  description: "Write new or changed workflows of n8n to a folder, one file each. Changed files stay.",
  annotations: Tool.destructive,
  empty: { only: Arguments.emptyChoice },
  scopes: ["workflow:list", "workflow:read"],
  input: Schema.Struct({
    folder: entries.folder,
    only: entries.only,
    resolve: parameters.optional(
      Sync.Resolve,
      "If both changed: keep the file (here) or n8n's (there)."
    ),
    secrets: parameters.optional(
      Sync.Secrets,
      "Literal secrets: refuse the file, or move them to one that git ignores."
    ),
    dryRun: writing.dryRun
  }),
  output: entries.Output,
  handler: ({ folder, ...options }) => Sync.pull(folder, options),
  budget: entries.budget,
  summarize: (report, { dryRun }) =>
    entries.summarize(report, ({ conflict, remaining }) => [
      remaining !== undefined && dryRun && dryRest,
      conflict && settle
    ], true),
  message: (data, { dryRun }) => entries.message(data, "ワークフローをファイルに取り込みました", dryRun)
})
