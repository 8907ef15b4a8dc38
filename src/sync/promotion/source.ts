/** Origin of promoted workflows: another n8n, or the files of a folder. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Errors from "../../base/Errors.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import type { Service as Client } from "../../n8n/N8nClient.ts"
import type { WorkflowFolder } from "../../workflows/files/WorkflowFiles.ts"
import type * as content from "../content.ts"
import * as Locals from "../locals.ts"
import type { NamedRef } from "../references.ts"
import * as State from "../state.ts"

type ReadError = Effect.Error<ReturnType<Client["getWorkflow"]>>

export interface Source {
  /** Its place in messages. */
  readonly place: string
  readonly refs: ReadonlyArray<NamedRef & { readonly file?: string }>
  readonly get: (id: string) => Effect.Effect<Workflow.Workflow, ReadError>
  /** Data tables; absent in a folder, whose workflows contain their names. */
  readonly tables?: Stream.Stream<NamedRef, Errors.RequestError>
  /** Files that cannot be promoted. */
  readonly faults: ReadonlyArray<{ readonly file: string; readonly reason: string }>
}

export const live = (client: Client) => Stream.runCollect(client.streamWorkflows())

export const ofClient = Effect.fnUntraced(function*(client: Client) {
  const source: Source = {
    place: client.instance.url,
    refs: yield* live(client),
    get: client.getWorkflow,
    tables: client.streamDataTables,
    faults: []
  }
  return source
})

const decode = Schema.decodeUnknownEffect(Workflow.Workflow)

/** Workflows of a folder; one without an id goes by its file. */
export const ofFolder = Effect.fnUntraced(
  function*(folder: WorkflowFolder, userPath: string, scope: content.Scope) {
    const state: State.State = { version: 1, host: "", workflows: {} }
    const { faults, locals } = yield* Locals.readAll(folder, userPath, state, scope)
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
      ]
    }
    return source
  }
)

/** Address for the record: that of the n8n from which the folder was pulled, if there is one. */
export const addressOf = Effect.fnUntraced(function*(from: Client | "folder", folder: WorkflowFolder) {
  return from === "folder" ? (yield* State.hostIn(folder)) ?? "folder" : State.hostOf(from.instance.url)
})
