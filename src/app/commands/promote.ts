/** `promote`: copies workflows from one n8n to another. */
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

const profile = (flag: string, description: string) =>
  Flag.String(flag).pipe(Flag.withDescription(description), Flag.withMetavar("PROFILE"))

const readBindings = ConfigFile.reader("The bindings", Sync.Bindings)

const bindingsIn = (file: string) =>
  Effect.mapError(readBindings(file), (reason) => Options.refuse(`${file}: ${reason}`))

export const promote = Command.make(
  "promote",
  {
    folder: folder("Folder of the record, .n8n-promotion.json"),
    json,
    dryRun,
    from: profile("from", "Profile of the source n8n"),
    to: profile("to", "Profile of the target n8n"),
    bindings: optional(
      "bindings",
      "FILE",
      "JSON file: {\"credentials\": {\"id or name in the source\": \"id or name in the target\"}, …}"
    ),
    only: only("an id or a name"),
    pinned: toggle("pinned", "Promote pinned data too"),
    overwrite: toggle("overwrite", "Overwrite changes made on the target since the last promotion"),
    publishes: toggle("publish", "Publish the promoted workflows")
  },
  Effect.fnUntraced(function*({ bindings, dryRun, folder, from, json, only, overwrite, pinned, publishes, to }) {
    const options = yield* root
    const absolute = (yield* Path.Path).resolve(folder)
    const { upstreams } = yield* Upstreams.load({ ...options, profile: Option.none() })
    if (upstreams.every((each) => each.name === undefined)) {
      return yield* Options.refuse("promote goes from one profile to another: name a file of profiles with --config")
    }
    const [source, target] = [yield* Profiles.find(upstreams, from), yield* Profiles.find(upstreams, to)]
    if (target.readOnly && !dryRun) {
      return yield* Options.refuse(
        `promote writes to '${to}', which is read-only: choose another profile, or add --dry-run`
      )
    }
    const clientOf = ({ client }: Upstreams.Upstream) => Effect.map(Layer.build(client), Context.get(N8nClient))
    const report = yield* Effect.gen(function*() {
      return yield* Sync.promote(".", {
        from: yield* clientOf(source),
        to: yield* clientOf(target),
        bindings: Option.isNone(bindings) ? undefined : yield* bindingsIn(bindings.value),
        only: Option.getOrUndefined(only),
        extras: pinned ? ["pinData"] : [],
        overwrites: overwrite,
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
      const isBlocked = report.hasConflicts || report.obstacles.length > 0
      for (const entry of report.entries) {
        if (dryRun && entry.action !== undefined || isBlocked && !dryRun && entry.status !== "same") {
          yield* print(SyncReport.promotionLine(entry, dryRun))
        } else if (entry.status === "conflict") yield* print(SyncReport.promotionLine(entry))
      }
      for (const obstacle of report.obstacles) yield* print(SyncReport.obstacleLine(obstacle))
      yield* print(SyncReport.promotionSummary(report, dryRun))
      if (report.hasConflicts) {
        yield* warn(
          `${name}: changes made on '${to}' since the last promotion are not overwritten: bring them back to '${from}', or add --overwrite`
        )
      }
    }
    yield* report.hasErrors ? exit(1) : report.hasConflicts ? exit(2) : Effect.void
  })
).pipe(
  Command.withDescription(
    "Copy workflows from one n8n to another, and bind its credentials"
  )
)
