/** Options of a promotion, its record in the folder, and the workflows to promote: of another n8n, or of the folder. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Errors from "../../base/Errors.ts"
import * as Input from "../../base/Input.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import type { Service as Client } from "../../n8n/N8nClient.ts"
import type { NamedRef } from "../../workflow/References.ts"
import type { Other, WorkflowFolder } from "../../workflows/files/WorkflowFiles.ts"
import * as content from "../content.ts"
import * as Locals from "../locals.ts"

const Names = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

/** Ids or names on the second n8n, by id or name on the first. */
export const Bindings = Schema.Struct({ credentials: Names, workflows: Names, tables: Names })
export type Bindings = typeof Bindings.Type

/** A reason why a workflow, and those that depend on it, cannot be promoted. */
export interface Obstacle {
  readonly id?: string
  readonly workflow: string
  readonly node?: string
  /** Sentences that name what is missing or ambiguous, and how to fix it. */
  readonly reason: string
}

/** Outcome of one workflow. */
export interface Promotion {
  readonly id: string
  readonly name: string
  /** Its id on the second n8n. */
  readonly target?: string
  /** `conflict`: it changed on the second n8n since it was last promoted. */
  readonly status: "new" | "changed" | "same" | "conflict"
  /** Whether an obstacle keeps it from being promoted. */
  readonly blocked?: true
  /** In a dry run, the planned action. Absent if there is nothing to do. */
  readonly action?: "created" | "updated"
  readonly changed?: string
  /** Changes that a promotion without publication did not write, since they would take effect immediately. */
  readonly held?: ReadonlyArray<string>
  readonly published?: boolean
  /** It was to be published, and the second n8n refused; a warning has the reason. */
  readonly notPublished?: true
  readonly warnings?: ReadonlyArray<string>
  readonly error?: Errors.N8nError
}

/** Report of a promotion. */
export interface PromotionReport {
  readonly entries: ReadonlyArray<Promotion>
  /** Number of workflows left for the next promotion, since n8n did not answer or the call had to end. */
  readonly remaining?: number
  /** Neither their workflows nor those that depend on them are written. */
  readonly obstacles: ReadonlyArray<Obstacle>
  readonly hasConflicts: boolean
  readonly hasErrors: boolean
}

const PromoteOptions = Schema.Struct({
  from: Schema.Unknown,
  to: Schema.Unknown,
  bindings: Schema.optional(Bindings),
  /** Ids or names of workflows on the first n8n; in a folder, also files. Default: all that are not archived. */
  only: Schema.optional(Schema.Array(Schema.String)),
  /** Ids or names of workflows that are left out; in a folder, also files. */
  except: Schema.optional(Schema.Array(Schema.String)),
  extras: Schema.optional(Schema.Array(content.Extra)),
  publishes: Schema.optional(Schema.Boolean),
  /** Overwrites workflows that changed on the second n8n since the last promotion. */
  overwrites: Schema.optional(Schema.Boolean),
  dryRun: Schema.optional(Schema.Boolean),
  onStep: Schema.optional(Schema.Unknown)
})

export const check = Input.decoder(PromoteOptions)

/** Options of a promotion. */
export interface PromoteOptions<R = never> extends Omit<typeof PromoteOptions.Type, "from" | "onStep" | "to"> {
  /** The first n8n, or the files of the folder, whichever n8n they were pulled from. */
  readonly from: Client | "folder"
  readonly to: Client
  readonly onStep?: ((outcome: Promotion) => Effect.Effect<void, never, R>) | undefined
}

/** Id of a promoted workflow, and the hash of the written content; both empty while it is being created. */
export const Promoted = Schema.Struct({ id: Schema.String, hash: Schema.String })
export type Promoted = typeof Promoted.Type

export const begun: Promoted = { id: "", hash: "" }

const Route = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  workflows: Schema.Record(Schema.String, Promoted)
})
export type Route = typeof Route.Type

const RecordFile = Schema.Struct({ version: Schema.Literal(1), routes: Schema.Array(Route) })

const recordFile = ".n8n-promotion.json"

const decodeRecord = Schema.decodeEffect(Schema.fromJsonString(RecordFile))

export const readRecord = Effect.fnUntraced(function*(folder: WorkflowFolder, fromUrl: string, toUrl: string) {
  const [from, to] = [Locals.hostOf(fromUrl), Locals.hostOf(toUrl)]
  const text = yield* folder.read(recordFile)
  const { routes } = text === undefined ? { routes: [] } : yield* decodeRecord(text).pipe(
    Effect.mapError(() =>
      Errors.invalid(
        "folder",
        `'${folder.path}/${recordFile}' cannot be read: it is not a record of promotions`,
        "Restore it from git: a merge may have left markers in it."
      )
    )
  )
  // A folder may have been promoted before it was synced with an n8n.
  const before = routes.find((route) => route.from === from && route.to === to) ??
    routes.find((route) => route.from === "folder" && route.to === to)
  const route: Route = { from, to, workflows: before?.workflows ?? {} }
  return { route, others: routes.filter((each) => each !== before) }
})

/** The record with the ids of files that had none when they were promoted. */
export const withRecordedIds = (
  recorded: Effect.Success<ReturnType<typeof readRecord>>,
  refs: ReadonlyArray<{ readonly id: string; readonly file?: string }>
) => {
  const workflows = { ...recorded.route.workflows }
  for (const { file = "", id } of refs) {
    const earlier = Object.hasOwn(workflows, file) ? workflows[file] : undefined
    if (earlier === undefined || file === id || Object.hasOwn(workflows, id)) continue
    workflows[id] = earlier
    delete workflows[file]
  }
  return { ...recorded, route: { ...recorded.route, workflows } }
}

const print = (routes: ReadonlyArray<Route>) => {
  const texts = routes.toSorted((a, b) => `${a.from} ${a.to}` < `${b.from} ${b.to}` ? -1 : 1).map(
    ({ from, to, workflows }) => {
      const lines = Locals.linesOf(workflows, "        ")
      return `    {\n      "from": ${JSON.stringify(from)},\n      "to": ${JSON.stringify(to)},\n` +
        `      "workflows": {\n${lines.join(",\n")}\n      }\n    }`
    }
  )
  return `{\n  "version": 1,\n  "routes": [\n${texts.join(",\n")}\n  ]\n}\n`
}

export const writeRecord = (folder: WorkflowFolder, route: Route, others: ReadonlyArray<Route>) =>
  folder.write(recordFile, print([...others, route]))

type ReadError = Effect.Error<ReturnType<Client["getWorkflow"]>>

export interface Source {
  /** Its place in messages. */
  readonly place: string
  readonly refs: ReadonlyArray<NamedRef & { readonly file?: string }>
  readonly get: (id: string) => Effect.Effect<Workflow.Workflow, ReadError>
  readonly tables?: Stream.Stream<NamedRef, Errors.RequestError>
  readonly faults: ReadonlyArray<{ readonly file: string; readonly reason: string }>
  /** Files that are something else, if none is a workflow. */
  readonly others: ReadonlyArray<Other>
}

export const liveWorkflows = (client: Client) => Stream.runCollect(client.streamWorkflows())

export const ofClient = Effect.fnUntraced(function*(client: Client) {
  const source: Source = {
    place: client.instance.url,
    refs: yield* liveWorkflows(client),
    get: client.getWorkflow,
    tables: client.streamDataTables,
    faults: [],
    others: []
  }
  return source
})

const decode = Schema.decodeUnknownEffect(Workflow.Workflow)

/** Workflows of a folder; one without an id goes by its file. */
export const ofFolder = Effect.fnUntraced(
  function*(folder: WorkflowFolder, userPath: string, scope: content.Scope, only: ReadonlyArray<string>) {
    const state: Locals.State = { version: 1, host: "", workflows: {} }
    const { faults, locals, others } = yield* Locals.readAll(folder, userPath, state, scope, only)
    const idOf = ({ file, id }: Locals.Local) => id || file
    const byId = Map.groupBy(locals, idOf)
    const read = yield* Effect.forEach(locals, (local) =>
      Effect.gen(function*() {
        const { file, name } = local
        const id = idOf(local)
        if ((byId.get(id) ?? []).length > 1) {
          return { file, reason: `Several files have the id '${id}': remove it from the copies.` }
        }
        const content = yield* Locals.read(local, scope)
        return yield* decode({
          settings: {},
          ...content,
          tags: [...Workflow.tagNames(content)].map((name) => ({ name })),
          id,
          name,
          active: false
        }).pipe(
          Effect.match({
            onFailure: ({ message }) => ({ file, reason: `Not a workflow: ${message.split("\n").join(" ")}` }),
            onSuccess: (workflow) => ({ file, workflow })
          })
        )
      }))
    const workflows = new Map(
      read.flatMap((each) =>
        "workflow" in each ? [[each.workflow.id, { ...each, id: each.workflow.id, name: each.workflow.name }]] : []
      )
    )
    const source: Source = {
      place: `the folder '${folder.path}'`,
      refs: [...workflows.values()],
      get: (id) => {
        const one = workflows.get(id)
        return one === undefined
          ? Effect.fail(Errors.invalid("only", `There is no workflow '${id}'`, "Use ids of its files."))
          : Effect.succeed(one.workflow)
      },
      faults: [
        ...faults.map(({ fault, file }) => ({ file, reason: fault })),
        ...read.flatMap((each) => "reason" in each ? [each] : [])
      ],
      others
    }
    return source
  }
)

/** Address for the record: that of the n8n from which the folder was pulled, if there is one. */
export const addressOf = Effect.fnUntraced(function*(from: Client | "folder", folder: WorkflowFolder) {
  return from === "folder" ? (yield* Locals.hostIn(folder)) ?? "folder" : Locals.hostOf(from.instance.url)
})
