/** The file `.n8n-promotion.json`: ids of promoted workflows on the second n8n, by id on the first. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../../base/Errors.ts"
import type { WorkflowFolder } from "../../workflows/files/WorkflowFiles.ts"
import { hostOf, linesOf } from "../state.ts"

/** Id of a promoted workflow, and the hash of the written content; both empty while it is being created. */
export const Promoted = Schema.Struct({ id: Schema.String, hash: Schema.String })
export type Promoted = typeof Promoted.Type

export const begun: Promoted = { id: "", hash: "" }

const Route = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  /** By id on the first n8n. */
  workflows: Schema.Record(Schema.String, Promoted)
})
export type Route = typeof Route.Type

const Record = Schema.Struct({ version: Schema.Literal(1), routes: Schema.Array(Route) })

export const fileName = ".n8n-promotion.json"

const decode = Schema.decodeEffect(Schema.fromJsonString(Record))

export const read = Effect.fnUntraced(function*(folder: WorkflowFolder, fromUrl: string, toUrl: string) {
  const [from, to] = [hostOf(fromUrl), hostOf(toUrl)]
  const text = yield* folder.read(fileName)
  const { routes } = text === undefined ? { routes: [] } : yield* decode(text).pipe(
    Effect.mapError(() =>
      Errors.invalid(
        "folder",
        `'${folder.path}/${fileName}' cannot be read: it is no record of promotions`,
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
export const withIds = (
  recorded: Effect.Success<ReturnType<typeof read>>,
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
      const lines = linesOf(workflows, "        ")
      return `    {\n      "from": ${JSON.stringify(from)},\n      "to": ${JSON.stringify(to)},\n` +
        `      "workflows": {\n${lines.join(",\n")}\n      }\n    }`
    }
  )
  return `{\n  "version": 1,\n  "routes": [\n${texts.join(",\n")}\n  ]\n}\n`
}

export const write = (folder: WorkflowFolder, route: Route, others: ReadonlyArray<Route>) =>
  folder.write(fileName, print([...others, route]))
