/** `promote`: copies workflows from one n8n, or from a folder, to another n8n. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Sync from "../../sync/Sync.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as Profiles from "../config/Profiles.ts"
import * as Upstreams from "../config/Upstreams.ts"
import * as SyncReport from "../report/SyncReport.ts"
import * as ToolContext from "../ToolContext.ts"
import {
  exit,
  explained,
  folder,
  json,
  name,
  only,
  optional,
  printMarked as print,
  root,
  toggle,
  warn
} from "./root.ts"
import { dryRun } from "./sync.ts"

const readBindings = ConfigFile.reader("The bindings", Sync.Bindings)

const bindingsIn = (file: string) =>
  Effect.mapError(readBindings(file), (reason) => Options.refuse(`${file}: ${reason}`))

/** Source and target of the options; a folder needs no profiles. */
const route = Effect.fnUntraced(function*(
  options: Options.Options,
  { from, fromFolder, to }: {
    readonly from: Option.Option<string>
    readonly fromFolder: boolean
    readonly to: Option.Option<string>
  }
) {
  if (fromFolder === Option.isSome(from)) {
    return yield* Options.refuse("promote needs one source: --from PROFILE or --from-folder")
  }
  const chosen = fromFolder ? Option.orElse(to, () => options.profile) : to
  const { defaultUpstream, upstreams } = yield* Upstreams.load({ ...options, profile: Option.none() })
  const hasProfiles = upstreams.some(({ name }) => name !== undefined)
  if (!hasProfiles && (Option.isSome(from) || Option.isSome(to))) {
    return yield* Options.refuse(
      "--from and --to are profiles: name a file of profiles with --config"
    )
  }
  if (Option.isNone(chosen) && (!fromFolder || defaultUpstream === undefined)) {
    return yield* Options.refuse("promote needs a target: --to PROFILE")
  }
  const target = Option.isSome(chosen) ? yield* Profiles.find(upstreams, chosen.value) : defaultUpstream
  return {
    source: Option.isSome(from) ? yield* Profiles.find(upstreams, from.value) : "folder" as const,
    target: target ?? (yield* Options.refuse("promote needs a target: --to PROFILE"))
  }
})

export const promote = Command.make(
  "promote",
  {
    folder: folder("Folder of the record, .n8n-promotion.json, and with --from-folder of the workflow files"),
    json,
    dryRun,
    from: optional("from", "PROFILE", "Profile of the source n8n"),
    fromFolder: toggle("from-folder", "Take the workflows from the files of the folder instead of an n8n"),
    to: optional("to", "PROFILE", "Profile of the target n8n; with --from-folder by default the only one"),
    bindings: optional(
      "bindings",
      "FILE",
      "JSON file: {\"credentials\": {\"id or name in the source\": \"id or name in the target\"}, …}"
    ),
    only: only("an id or a name; with --from-folder also a file"),
    except: Flag.String("except").pipe(
      Flag.withDescription("Not this workflow: an id or a name; may be repeated"),
      Flag.withMetavar("WORKFLOW"),
      Flag.atLeast(0)
    ),
    pinned: toggle("pinned", "Promote pinned data too"),
    overwrite: toggle("overwrite", "Overwrite changes made on the target since the last promotion"),
    publishes: toggle("publish", "Publish the promoted workflows")
  },
  Effect.fnUntraced(function*({ bindings, dryRun, folder, json, publishes, ...flags }) {
    const options = yield* root
    const absolute = (yield* Path.Path).resolve(folder)
    const { source, target } = yield* route(options, flags)
    const to = target.name ?? "the target"
    if (target.readOnly && !dryRun) {
      return yield* Options.refuse(
        `promote writes to '${to}', which is read-only: choose another profile, or add --dry-run`
      )
    }
    const clientOf = ({ client }: Upstreams.Upstream) => Effect.map(Layer.build(client), Context.get(N8nClient))
    const report = yield* Effect.gen(function*() {
      return yield* Sync.promote(".", {
        from: source === "folder" ? source : yield* clientOf(source),
        to: yield* clientOf(target),
        bindings: Option.isNone(bindings) ? undefined : yield* bindingsIn(bindings.value),
        only: Option.getOrUndefined(flags.only),
        except: flags.except,
        extras: flags.pinned ? ["pinData"] : [],
        overwrites: flags.overwrite,
        publishes,
        dryRun,
        onStep: ({ count, outcome, total }) =>
          json ? Effect.void : print(`[${count}/${total}] ${SyncReport.promotionLine(outcome)}`)
      })
    }).pipe(
      Effect.scoped,
      explained,
      Effect.provide(ToolContext.layerOf({ ...options, transport: "stdio" }, target, () => [absolute]))
    )
    if (json) {
      yield* print(JSON.stringify(SyncReport.json(report)))
    } else {
      for (const entry of report.entries) {
        if (dryRun && entry.action !== undefined) yield* print(SyncReport.promotionLine(entry, dryRun))
        else if (entry.status === "conflict") yield* print(SyncReport.promotionLine(entry))
      }
      for (const obstacle of report.obstacles) yield* print(SyncReport.obstacleLine(obstacle))
      yield* print(SyncReport.promotionSummary(report, dryRun))
      if (report.hasConflicts) {
        yield* warn(
          `${name}: changes made on '${to}' since the last promotion are not overwritten: bring them back to ${
            source === "folder" ? "the files" : `'${source.name}'`
          }, or add --overwrite`
        )
      }
    }
    yield* report.hasErrors ? exit(1) : report.hasConflicts ? exit(2) : Effect.void
  })
).pipe(
  Command.withDescription(
    "Copy workflows from an n8n or a folder to another n8n, and bind its credentials"
  )
)
