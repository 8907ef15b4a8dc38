/** The file `.n8n-sync.json`: the common state of a folder and n8n when they were last synced. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import type { WorkflowFolder } from "../workflows/files/WorkflowFiles.ts"

export const Base = Schema.Struct({
  /** Relative to the folder, with slashes. */
  file: Schema.String,
  versionId: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String),
  hash: Schema.String,
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Pushed without being published; a later push that publishes makes up for it. */
  unpublished: Schema.optionalKey(Schema.Literal(true))
})
export type Base = typeof Base.Type

export const State = Schema.Struct({
  version: Schema.Literal(1),
  host: Schema.String,
  pinData: Schema.optionalKey(Schema.Boolean),
  staticData: Schema.optionalKey(Schema.Boolean),
  /** Long code is in files beside the workflows. */
  splitCode: Schema.optionalKey(Schema.Boolean),
  /** Literal secrets are in a file that git ignores. */
  extractSecrets: Schema.optionalKey(Schema.Boolean),
  /** Files whose workflows were being created when the state was written. */
  creating: Schema.optionalKey(Schema.Array(Schema.String)),
  workflows: Schema.Record(Schema.String, Base)
})
export type State = typeof State.Type

export const fileName = ".n8n-sync.json"

const decode = Schema.decodeEffect(Schema.fromJsonString(State))

export const hostOf = (url: string) => URL.canParse(url) ? new URL(url).href.replace(/\/$/, "") : url

const refuse = (reason: string, hint: string) => Errors.invalid("folder", reason, hint)

const parsed = (folder: WorkflowFolder, text: string) =>
  decode(text).pipe(
    Effect.mapError(() =>
      refuse(
        `'${folder.path}/${fileName}' cannot be read: it is not the state of a synced folder`,
        "Restore it from git (a merge may have left markers in it), or remove it: workflows that are equal on both sides are then matched again."
      )
    )
  )

/** Address of the n8n that a folder is synced with, if it is. */
export const hostIn = Effect.fnUntraced(function*(folder: WorkflowFolder) {
  const text = yield* folder.read(fileName)
  return text === undefined ? undefined : (yield* parsed(folder, text)).host
})

/** Reads the state of a folder; empty by default. Fails if the folder belongs to another n8n. */
export const read = Effect.fnUntraced(function*(folder: WorkflowFolder) {
  const { instance } = yield* N8nClient
  const host = hostOf(instance.url)
  const text = yield* folder.read(fileName)
  if (text === undefined) return { text, state: { version: 1, host, workflows: {} } satisfies State as State }
  const state = yield* parsed(folder, text)
  return state.host === host ? { text, state } : yield* refuse(
    `'${folder.path}' is synced with ${state.host}, not with ${host}`,
    "Use the n8n that the folder belongs to, or another folder for this n8n; promote --from-folder copies its files to another n8n."
  )
})

/** Prints a line for each entry, sorted, so that diffs are small and git can merge them. */
export const linesOf = (entries: Readonly<Record<string, unknown>>, indent: string): ReadonlyArray<string> =>
  Object.keys(entries).toSorted().map((id) => `${indent}${JSON.stringify(id)}: ${JSON.stringify(entries[id])}`)

const print = ({ workflows, ...rest }: State) => {
  const lines = linesOf(workflows, "    ")
  const head = Object.entries(rest).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
  return `{\n${head.join("")}  "workflows": {${lines.length === 0 ? "" : `\n${lines.join(",\n")}\n  `}}\n}\n`
}

export const write = Effect.fnUntraced(function*(folder: WorkflowFolder, state: State, text: string | undefined) {
  const next = print(state)
  if (next !== text) yield* folder.write(fileName, next)
  return next
})
