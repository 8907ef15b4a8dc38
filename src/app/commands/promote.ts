/** `promote`: copies workflows from one n8n, or from a folder, to another n8n. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { resolve } from "node:path"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Sync from "../../sync/Sync.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as Profiles from "../config/Profiles.ts"
import * as Upstreams from "../config/Upstreams.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { name } from "./root.ts"
import { row } from "./row.ts"
import { steps } from "./sync.ts"

const readBindings = ConfigFile.reader("The bindings", Sync.Bindings)

const bindingsIn = (file: string) =>
  Effect.mapError(readBindings(file), (reason) => Options.refuse(`${file}: ${reason}`))

interface Route {
  readonly from: string | undefined
  readonly fromFolder: boolean
  readonly to: string | undefined
}

/** Source and target of the options; a folder needs no profiles. */
const route = Effect.fnUntraced(function*(options: Options.Options, { from, fromFolder, to }: Route) {
  if (fromFolder === (from !== undefined)) {
    return yield* Options.refuse("promote needs one source: --from PROFILE or --from-folder")
  }
  const { defaultUpstream, upstreams } = yield* Upstreams.load({ ...options, profile: undefined })
  const hasProfiles = upstreams.some(({ name }) => name !== undefined)
  if (!hasProfiles && (from !== undefined || to !== undefined)) {
    return yield* Options.refuse("--from and --to are profiles: name a file of profiles with --config")
  }
  const chosen = to ?? (fromFolder ? options.profile : undefined)
  const target = chosen !== undefined
    ? yield* Profiles.find(upstreams, chosen)
    : fromFolder
    ? defaultUpstream
    : undefined
  if (target === undefined) return yield* Options.refuse("promote needs a target: --to PROFILE")
  return { source: from === undefined ? "folder" as const : yield* Profiles.find(upstreams, from), target }
})

export const promote = row({
  name: "promote",
  description: "Copy workflows from an n8n or a folder to another n8n, and bind its credentials",
  flags: {
    folder: flags.folder("Folder of the record, .n8n-promotion.json, and with --from-folder of the workflow files"),
    dryRun: flags.dryRun,
    from: flags.text("from", "PROFILE", "Profile of the source n8n"),
    fromFolder: flags.toggle("from-folder", "Take the workflows from the files of the folder instead of an n8n"),
    to: flags.text("to", "PROFILE", "Profile of the target n8n; with --from-folder by default the only one"),
    bindings: flags.text(
      "bindings",
      "FILE",
      "JSON file: {\"credentials\": {\"id or name in the source\": \"id or name in the target\"}, …}"
    ),
    only: flags.only("its id, link or name; with --from-folder also its path in the folder"),
    except: flags.texts("except", "WORKFLOW", "Not this workflow, named as for --only; may be repeated"),
    pinned: flags.toggle("pinned", "Promote pinned data too"),
    overwrites: flags.toggle("overwrite", "Overwrite changes made on the target since the last promotion"),
    publishes: flags.toggle("publish", "Publish the promoted workflows")
  },
  form: "lines",
  services: () => Layer.empty,
  run: Effect.fnUntraced(
    function*({ bindings, dryRun, except, folder, only, overwrites, pinned, publishes, ...ends }, options, form) {
      const { source, target } = yield* route(options, ends)
      const to = target.name ?? "the target"
      if (target.readOnly && !dryRun) {
        return yield* Options.refuse(
          `promote writes to '${to}', which is read-only: choose another profile, or add --dry-run`
        )
      }
      const clientOf = ({ client }: Upstreams.Upstream) => Effect.map(Layer.build(client), Context.get(N8nClient))
      const { late, onStep } = steps<Sync.Promotion>(form, SyncReport.promotionLine)
      const promotion = yield* Effect.gen(function*() {
        return yield* Sync.promote(".", {
          from: source === "folder" ? source : yield* clientOf(source),
          to: yield* clientOf(target),
          bindings: bindings === undefined ? undefined : yield* bindingsIn(bindings),
          only,
          except,
          extras: pinned ? ["pinData"] : [],
          overwrites,
          publishes,
          dryRun,
          onStep
        })
      }).pipe(Effect.scoped, Effect.provide(ToolContext.layerOf(options, target, () => [resolve(folder)])))
      const bringBack = `bring them back to ${source === "folder" ? "the files" : `'${source.name}'`}`
      return SyncReport.promotion(promotion, dryRun, [
        ...dryRun ? [] : late(promotion.entries),
        ...promotion.hasConflicts
          ? [
            `${name}: changes made on '${to}' since the last promotion are not overwritten: ${bringBack}, or add --overwrite`
          ]
          : []
      ])
    }
  )
})
