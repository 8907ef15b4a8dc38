/** Files of a synced folder, and `.n8n-sync.json`: the common state of the folder and n8n when they were last synced. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import { arr, defined, type Obj, obj, own, str } from "../base/Json.ts"
import * as Turn from "../base/Turn.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as LiteralSecrets from "../workflow/LiteralSecrets.ts"
import { holdsWorkflow, isListed, WorkflowFiles, type WorkflowFolder } from "../workflows/files/WorkflowFiles.ts"
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

/** Refusal of a sync that finds nothing to write, which names what it found instead. */
export const noWorkflows = (place: string, others: ReadonlyArray<string>) =>
  refuse(
    `There are no workflows in ${place}${others.length === 0 ? "" : `, only ${others.slice(0, 5).join(", ")}`}${
      others.length > 5 ? ` and ${others.length - 5} more` : ""
    }`,
    "Check the folder or the profile: a workflow's file is a JSON object with name, nodes and connections."
  )

/** A file with the id of a workflow that no file is: one that is not a workflow file itself, or another workflow's. */
export interface Presence {
  readonly file: string
  readonly isOther: boolean
}

/** Number of workflows that are read and written at a time; a call begins at least as many, however late it is. */
export const concurrency = 8

export const nodeIds = (workflow: unknown) => arr(own(workflow, "nodes")).map((node) => own(node, "id"))

/** Whether a workflow has nodes with these ids; a node without an id gets one when its workflow is created. */
export const hasNodes = (workflow: unknown, ids: ReadonlyArray<unknown>) => {
  const all = nodeIds(workflow)
  return all.length === ids.length && ids.every((id, at) => id === undefined || id === all[at])
}

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

const otherForm =
  "a workflow in another form, which is not synced: the file must be its own JSON object, with name, nodes and connections"

/** Cases of `effect-n8n-mcp test`, whose data may be workflows. */
const isCases = (file: string) => file.endsWith(".test.json")

export const readAll = Effect.fnUntraced(function*(
  folder: WorkflowFolder,
  userPath: string,
  { creating = [], workflows }: Pick<State, "creating" | "workflows">,
  scope: content.Scope,
  refusesSecrets = false
) {
  const files = yield* WorkflowFiles
  const nameOf = (path: string) => path.slice(folder.path.length).replace(/^[\\/]/, "").replaceAll("\\", "/")
  const paths = folder.exists ? yield* files.paths(userPath) : []
  const readOne = (path: string) => {
    const file = nameOf(path)
    const invalid = (fault: string): Fault => ({ name: file, file, fault })
    return files.read(path).pipe(
      Effect.mapError(({ reason }) => invalid(reason.replaceAll(path, file))),
      Effect.tap(Turn.pause),
      Effect.flatMap(({ beside, value }): Effect.Effect<ReadonlyArray<Local>, Fault> => {
        const workflow = obj(value)
        if (workflow === undefined || !isListed(workflow)) {
          return isCases(file) || !holdsWorkflow(value)
            ? Effect.succeed([])
            : Effect.fail(invalid(`Contains ${otherForm}.`))
        }
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
  const [readable, faults] = yield* Effect.partition(paths, readOne, { concurrency })
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
  // Nor must one whose id is anywhere else.
  const ids = new Set(locals.map(({ id }) => id))
  const missing = Object.keys(workflows).filter((id) => !ids.has(id))
  const { filesOf, unreadable } = folder.exists && missing.length > 0
    ? yield* files.presence(userPath, missing)
    : { filesOf: new Map<string, ReadonlyArray<string>>(), unreadable: [] }
  const own = new Set(locals.map(({ path }) => path))
  const presence = new Map([...filesOf].flatMap(([id, all]): ReadonlyArray<[string, Presence]> => {
    const other = all.find((path) => !own.has(path))
    const file = other ?? all[0]
    return file === undefined ? [] : [[id, { file: nameOf(file), isOther: other !== undefined }]]
  }))
  return {
    locals,
    presence,
    faults: [
      ...faults,
      ...broken.flat(),
      ...unreadable.map(nameOf).filter((file) => !seen.has(file)).map((file) => ({
        name: file,
        file,
        fault: "Cannot be read, so it may contain a workflow."
      }))
    ],
    /** Names of `.json` files that have nothing to do with workflows. */
    others: paths.map(nameOf).filter((file) => !seen.has(file) && !file.startsWith(".n8n-"))
  }
})
