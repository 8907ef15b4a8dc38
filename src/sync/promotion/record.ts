/** Which workflow of one n8n became which of another: the file `.n8n-promotion.json`. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../../base/Errors.ts"
import type { WorkflowFolder } from "../../workflows/files/WorkflowFiles.ts"

/** What a workflow became, and the fingerprint of what was written; no id while it is being created. */
export const Promoted = Schema.Struct({ id: Schema.String, hash: Schema.String })
export type Promoted = typeof Promoted.Type

/** Of a workflow that is about to be created. */
export const begun: Promoted = { id: "", hash: "" }

const Route = Schema.Struct({
  /** The addresses of both editors. */
  from: Schema.String,
  to: Schema.String,
  /** By id on the first. */
  workflows: Schema.Record(Schema.String, Promoted)
})
export type Route = typeof Route.Type

const Record = Schema.Struct({ version: Schema.Literal(1), routes: Schema.Array(Route) })

/** The name of its file. */
export const fileName = ".n8n-promotion.json"

const decode = Schema.decodeEffect(Schema.fromJsonString(Record))

const hostOf = (url: string) => URL.canParse(url) ? new URL(url).href.replace(/\/$/, "") : url

/** The record of a folder for two n8ns, empty where there is none. */
export const read = Effect.fnUntraced(function*(folder: WorkflowFolder, fromUrl: string, toUrl: string) {
  const [from, to] = [hostOf(fromUrl), hostOf(toUrl)]
  const text = yield* folder.read(fileName)
  const { routes } = text === undefined ? { routes: [] } : yield* decode(text).pipe(
    Effect.mapError(() =>
      new Errors.ValidationError({
        reason: `'${folder.path}/${fileName}' cannot be read: it is no record of promotions`,
        field: "folder",
        hint: "Bring it back from git: a merge may have left marks in it."
      })
    )
  )
  const isRoute = (route: Route) => route.from === from && route.to === to
  const route: Route = routes.find(isRoute) ?? { from, to, workflows: {} }
  return { route, others: routes.filter((each) => !isRoute(each)) }
})

/** One line for each workflow, sorted. */
const print = (routes: ReadonlyArray<Route>) => {
  const texts = routes.toSorted((a, b) => `${a.from} ${a.to}` < `${b.from} ${b.to}` ? -1 : 1).map(
    ({ from, to, workflows }) => {
      const lines = Object.keys(workflows).toSorted().map((id) =>
        `        ${JSON.stringify(id)}: ${JSON.stringify(workflows[id])}`
      )
      return `    {\n      "from": ${JSON.stringify(from)},\n      "to": ${JSON.stringify(to)},\n` +
        `      "workflows": {\n${lines.join(",\n")}\n      }\n    }`
    }
  )
  return `{\n  "version": 1,\n  "routes": [\n${texts.join(",\n")}\n  ]\n}\n`
}

/** Writes the record. */
export const write = (folder: WorkflowFolder, route: Route, others: ReadonlyArray<Route>) =>
  folder.write(fileName, print([...others, route]))
