import * as Schema from "effect/Schema"
import * as Arguments from "../../answer/Arguments.ts"
import * as Tool from "../../answer/Tool.ts"
import * as Sync from "../../sync/Sync.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"
import * as entries from "./entries.ts"

const settle =
  "conflict: changed on both sides, so not pushed. Ask the user which side to keep, then call sync_pull with resolve and only."

const holding =
  "held was not written, since it would take effect immediately: publish: 'keep' writes it, and publishes."

const publish = parameters.withDefault(
  Schema.Literals(["none", "keep", "new"]).annotate({
    description: "none (default): drafts only. keep: published ones run with the change. new: also new ones."
  }),
  "none"
)

const repair = "broken files are not pushed: fix them, then call again."

const unpublished = "notPublished: n8n refused, see warnings. Fix that, then push again."

/** Writes workflows from files to n8n. */
export const syncPush = Tool.make({
  name: "sync_push",
  title: "Push workflows",
  searchHint: "deploy workflow files from git to n8n, upload a folder, workflows as code",
  description:
    "Write new or changed workflows of a folder to n8n. Before n8n 2.40, active ones change immediately. Undo: workflow_restore.",
  annotations: Tool.destructive,
  empty: { only: Arguments.emptyChoice },
  scopes: ["workflow:list", "workflow:read", "workflow:create", "workflow:update"],
  input: Schema.Struct({ folder: entries.folder, only: entries.only, publish, dryRun: writing.dryRun }),
  output: entries.Output,
  handler: ({ folder, publish, ...options }) =>
    Sync.push(folder, { ...options, publishes: publish === "none" ? false : publish }),
  budget: entries.budget,
  summarize: (report, { publish }) =>
    entries.summarize(report, ({ broken, conflict, created, held, notPublished, updated = [] }) => [
      conflict && settle,
      broken && repair,
      notPublished && unpublished,
      created && publish !== "new" && "created is not published: publish: 'new' publishes it.",
      (held ?? updated.find(({ held }) => held !== undefined)) && holding
    ]),
  message: (data, { dryRun }) => entries.message(data, "ファイルを n8n に反映しました", dryRun)
})
