/** Files of a synced folder, and `.n8n-sync.json`: the common state of the folder and n8n when they were last synced. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import { arr, defined, type Obj, obj, own, str } from "../base/Json.ts"
import * as Turn from "../base/Turn.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { isListed, WorkflowFiles, type WorkflowFolder } from "../workflows/files/WorkflowFiles.ts"
import * as LiteralSecrets from "../workflows/LiteralSecrets.ts"
import * as content from "./content.ts"

export const Base = Schema.Struct({
  file: Schema.String,
  versionId: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String),
  hash: Schema.String,
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Pushed without being published; a later push that publishes publishes it, too. */
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

const stateFile = ".n8n-sync.json"

const decode = Schema.decodeEffect(Schema.fromJsonString(State))

export const hostOf = (url: string) => URL.canParse(url) ? new URL(url).href.replace(/\/$/, "") : url

const refuse = (reason: string, hint: string) => Errors.invalid("folder", reason, hint)

const parsed = (folder: WorkflowFolder, text: string) =>
  decode(text).pipe(
    Effect.mapError(() =>
      refuse(
        `'${folder.path}/${stateFile}' cannot be read: it is not the state of a synced folder`,
        "Restore it from git (a merge may have left markers in it), or remove it: workflows that are equal on both sides are then matched again."
      )
    )
  )

export const hostIn = Effect.fnUntraced(function*(folder: WorkflowFolder) {
  const text = yield* folder.read(stateFile)
  return text === undefined ? undefined : (yield* parsed(folder, text)).host
})

/** Reads the state of a folder; empty by default. Fails if the folder belongs to another n8n. */
export const readState = Effect.fnUntraced(function*(folder: WorkflowFolder) {
  const { instance } = yield* N8nClient
  const host = hostOf(instance.url)
  const text = yield* folder.read(stateFile)
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

export const writeState = Effect.fnUntraced(function*(folder: WorkflowFolder, state: State, text: string | undefined) {
  const next = print(state)
  if (next !== text) yield* folder.write(stateFile, next)
  return next
})

/** A workflow's file, without its content: there may be thousands. */
export interface Local {
  /** Relative to the folder, with slashes. */
  readonly file: string
  readonly path: string
  readonly id?: string
  readonly name: string
  readonly hash: string
  readonly hasSecrets: boolean
  readonly beside: ReadonlyArray<string>
  readonly nodeIds?: ReadonlyArray<unknown>
  /** Literal secrets in it, if they are refused. */
  readonly refused?: ReadonlyArray<string>
}

export interface Fault {
  readonly name: string
  readonly file: string
  readonly fault: string
}

/** Number of workflows that are read and written at a time; a call begins at least as many, however late it is. */
export const concurrency = 8

export const nodeIds = (workflow: unknown) => arr(own(workflow, "nodes")).map((node) => own(node, "id"))

/** Content of a workflow, called `what` in the error; fails if it has changed since the comparison. */
export const unchanged = (what: string, workflow: Obj, hash: string, scope: content.Scope) => {
  const now = content.of(workflow, scope)
  return content.hash(now) === hash
    ? Effect.succeed(now)
    : Errors.invalid("folder", `${what} changed while it was being synced`, "It was not overwritten: sync again.")
}

/** Content of a file; fails if it has changed since the comparison. */
export const read = ({ file, hash, path }: Local, scope: content.Scope) =>
  Effect.flatMap(
    WorkflowFiles.use((files) => files.read(path)),
    ({ value }) => unchanged(`File '${file}'`, obj(value) ?? {}, hash, scope)
  )

export const readAll = Effect.fnUntraced(function*(
  folder: WorkflowFolder,
  userPath: string,
  { creating = [], workflows }: Pick<State, "creating" | "workflows">,
  scope: content.Scope,
  refusesSecrets = false
) {
  if (!folder.exists) return { locals: [], faults: [] }
  const files = yield* WorkflowFiles
  const readOne = (path: string) => {
    const file = path.slice(folder.path.length).replace(/^[\\/]/, "").replaceAll("\\", "/")
    const invalid = (fault: string): Fault => ({ name: file, file, fault })
    return files.read(path).pipe(
      Effect.mapError(({ reason }) => invalid(reason.replaceAll(path, file))),
      Effect.tap(Turn.pause),
      Effect.flatMap(({ beside, value }): Effect.Effect<ReadonlyArray<Local>, Fault> => {
        const workflow = obj(value)
        if (workflow === undefined || !isListed(workflow)) return Effect.succeed([])
        const [id, name] = [str(workflow["id"]), str(workflow["name"])]
        if (name === undefined) return Effect.fail(invalid("Not a workflow: a name and nodes are required."))
        const ours = content.of(workflow, scope)
        const hasSecrets = beside?.hasSecrets === true
        const parent = file.slice(0, file.lastIndexOf("/") + 1)
        return Effect.succeed([defined({
          file,
          path,
          id,
          name,
          hash: content.hash(ours),
          hasSecrets,
          beside: [...beside?.files.keys() ?? []].map((each) => `${parent}${each}`),
          nodeIds: creating.includes(file) ? nodeIds(ours) : undefined,
          refused: refusesSecrets && !hasSecrets ? LiteralSecrets.warnings(ours) : undefined
        })])
      })
    )
  }
  const [readable, faults] = yield* Effect.partition(yield* files.paths(userPath), readOne, { concurrency })
  const locals = readable.flat()
  const seen = new Set([...locals, ...faults].map(({ file }) => file))
  // A damaged file must not count as deleted.
  const broken = yield* Effect.forEach(
    Object.values(workflows).filter(({ file }) => !seen.has(file)),
    ({ file }) =>
      Effect.map(
        folder.read(file),
        (text): ReadonlyArray<Fault> => text === undefined ? [] : [{ name: file, file, fault: "No longer a workflow." }]
      ),
    { concurrency }
  )
  return { locals, faults: [...faults, ...broken.flat()] }
})
