/** What a folder and n8n had in common when they last met: the file `.n8n-sync.json`. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import type { WorkflowFolder } from "../workflows/files/WorkflowFiles.ts"

/** One workflow, as it was on both sides. */
export const Base = Schema.Struct({
  /** Relative to the folder, with slashes. */
  file: Schema.String,
  versionId: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String),
  /** Of its content. */
  hash: Schema.String,
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  /** It was pushed without being published: a push that publishes does so. */
  unpublished: Schema.optionalKey(Schema.Literal(true))
})
export type Base = typeof Base.Type

/** The whole state of a folder. */
export const State = Schema.Struct({
  version: Schema.Literal(1),
  /** The address of n8n's editor. */
  host: Schema.String,
  pinData: Schema.optionalKey(Schema.Boolean),
  staticData: Schema.optionalKey(Schema.Boolean),
  /** Long code lies in files beside the workflows. */
  splitCode: Schema.optionalKey(Schema.Boolean),
  /** The files whose workflows were being created when it was written. */
  creating: Schema.optionalKey(Schema.Array(Schema.String)),
  /** By id. */
  workflows: Schema.Record(Schema.String, Base)
})
export type State = typeof State.Type

/** The name of its file. */
export const fileName = ".n8n-sync.json"

const decode = Schema.decodeEffect(Schema.fromJsonString(State))

const hostOf = (url: string) => URL.canParse(url) ? new URL(url).href.replace(/\/$/, "") : url

const refuse = (reason: string, hint: string) => new Errors.ValidationError({ reason, field: "folder", hint })

/** The state of the folder, empty where there is none; that of another n8n is refused. */
export const read = Effect.fnUntraced(function*(folder: WorkflowFolder) {
  const { instance } = yield* N8nClient
  const host = hostOf(instance.url)
  const text = yield* folder.read(fileName)
  if (text === undefined) return { text, state: { version: 1, host, workflows: {} } satisfies State as State }
  const state = yield* decode(text).pipe(
    Effect.mapError(() =>
      refuse(
        `'${folder.path}/${fileName}' cannot be read: it is no state of a synced folder`,
        "Bring it back from git (a merge may have left marks in it), or remove it: what is equal on both sides is then found again."
      )
    )
  )
  return state.host === host ? { text, state } : yield* refuse(
    `'${folder.path}' is in step with ${state.host}, not with ${host}`,
    "Use the n8n that the folder belongs to, or another folder for this one."
  )
})

/** One line for each workflow, sorted: small diffs, and merges that git can do. */
const print = ({ workflows, ...rest }: State) => {
  const lines = Object.keys(workflows).toSorted().map((id) =>
    `    ${JSON.stringify(id)}: ${JSON.stringify(workflows[id])}`
  )
  const head = Object.entries(rest).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
  return `{\n${head.join("")}  "workflows": {${lines.length === 0 ? "" : `\n${lines.join(",\n")}\n  `}}\n}\n`
}

/** Writes the state unless it is what the file says. */
export const write = Effect.fnUntraced(function*(folder: WorkflowFolder, state: State, text: string | undefined) {
  const next = print(state)
  if (next !== text) yield* folder.write(fileName, next)
  return next
})
