/** Files of a synced folder, and `.n8n-sync.json`: the common state of the folder and n8n when they were last synced. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Hint } from "../base/Advice.ts"
import * as Errors from "../base/Errors.ts"
import { arr, defined, type Obj, obj, own, str } from "../base/Json.ts"
import * as Turn from "../base/Turn.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as Contents from "../workflow/Contents.ts"
import * as LiteralSecrets from "../workflow/LiteralSecrets.ts"
import { type Other, WorkflowFiles, type WorkflowFolder } from "../workflows/files/WorkflowFiles.ts"
import * as content from "./content.ts"

export const Base = Schema.Struct({
  file: Schema.String,
  versionId: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String),
  hash: Schema.String,
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Pushed without being published; a later push that publishes publishes it, too. */
  unpublished: Schema.optionalKey(Schema.Literal(true)),
  /** Hash of the nodes of a push that has not ended: if n8n has them, it was this push that wrote them. */
  pushing: Schema.optionalKey(Schema.String)
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

const refuse = (reason: string, hint: Hint) => Errors.invalid("folder", reason, hint)

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
  const { about, instance } = yield* N8nClient
  const host = hostOf(instance.url)
  const text = yield* folder.read(stateFile)
  if (text === undefined) return { text, state: { version: 1, host, workflows: {} } satisfies State as State }
  const state = yield* parsed(folder, text)
  // Fails with the settings that are missing.
  if (host === "") yield* about
  return state.host === host ? { text, state } : yield* refuse(
    `'${folder.path}' is synced with ${state.host}, not with ${host}`,
    { _tag: "CopyFiles" }
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
  /** Relative to the folder, with slashes; of several workflows in a file that of the chosen one, `FILE.json#ID`. */
  readonly file: string
  readonly path: string
  readonly id?: string
  readonly name: string
  readonly hash: string
  /** n8n's version and time that the file names, if it is not this program's. */
  readonly versionId?: string
  readonly updatedAt?: string
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
  /** Ids in it, of which some are those of its workflows. */
  readonly ids?: ReadonlySet<string>
}

/** Number of workflows that are read and written at a time. */
export const concurrency = 8

/** Time that a workflow of a batch needs, and that it is granted. */
export const bounds = { needs: 8_000, grants: 45_000 }

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

export const readAll = Effect.fnUntraced(function*(
  folder: WorkflowFolder,
  userPath: string,
  { creating = [], workflows }: Pick<State, "creating" | "workflows">,
  scope: content.Scope,
  only: ReadonlyArray<string> = [],
  refusesSecrets = false
) {
  const files = yield* WorkflowFiles
  const nameOf = (path: string) => path.slice(folder.path.length).replace(/^[\\/]/, "").replaceAll("\\", "/")
  const paths = folder.exists ? yield* files.paths(userPath) : []
  const others: Array<Other> = []
  const readOne = Effect.fnUntraced(function*(path: string): Effect.fn.Return<ReadonlyArray<Local>, Fault> {
    const whole = nameOf(path)
    const invalid = (fault: string): Fault => ({ name: whole, file: whole, fault })
    const inspected = yield* Effect.mapError(files.inspect(path), ({ reason }) => invalid(reason))
    yield* Turn.pause
    if ("raw" in inspected) {
      const { contents: { why }, raw = "" } = inspected
      return yield* Effect.fail({ ...invalid(why.replaceAll(path, whole)), ids: Contents.ids(raw) })
    }
    const { beside, contents } = inspected
    if (contents._tag === "Other") {
      others.push({ file: whole, what: contents.what })
      return []
    }
    const { all } = contents
    const parent = whole.slice(0, whole.lastIndexOf("/") + 1)
    const chosen = all.flatMap(({ workflow }): ReadonlyArray<Local> => {
      const [id, name] = [str(workflow["id"]), String(workflow["name"])]
      const selector = [id, name].find((each) => each !== undefined && only.includes(`${whole}#${each}`))
      if (all.length > 1 && selector === undefined) return []
      const at = all.length > 1 ? `#${selector}` : ""
      const ours = content.of(workflow, scope)
      const hasSecrets = beside?.hasSecrets === true
      return [defined({
        file: `${whole}${at}`,
        path: `${path}${at}`,
        id,
        name,
        hash: content.hash(ours),
        versionId: str(workflow["versionId"]),
        updatedAt: str(workflow["updatedAt"]),
        hasSecrets,
        beside: [...beside?.files.keys() ?? []].map((each) => `${parent}${each}`),
        nodeIds: creating.includes(`${whole}${at}`) ? nodeIds(ours) : undefined,
        refused: refusesSecrets && !hasSecrets ? LiteralSecrets.warnings(ours) : undefined
      })]
    })
    const one = Contents.one(contents)
    const fault = Result.isFailure(one) ? one.failure : Contents.faultOf(one.success.workflow)
    return chosen.length === 0 || all.length === 1 && fault !== undefined
      ? yield* Effect.fail({
        ...invalid(`Not one workflow: ${fault?.replace("FILE.json", whole)}.`),
        ids: new Set(all.flatMap(({ workflow }) => str(workflow["id"]) ?? []))
      })
      : chosen
  })
  const [readable, faults] = yield* Effect.partition(paths, readOne, { concurrency })
  const locals = readable.flat()
  const seen = new Set([...locals, ...faults].map(({ file }) => file))
  // A damaged file must not count as deleted.
  const known = new Set(Object.values(workflows).map(({ file }) => file))
  const broken = others.filter(({ file }) => known.has(file)).map(({ file, what }): Fault => ({
    name: file,
    file,
    fault: `No longer a workflow: ${what}.`
  }))
  // Nor must one whose id is anywhere else.
  const ids = new Set(locals.map(({ id }) => id))
  const missing = Object.keys(workflows).filter((id) => !ids.has(id))
  const isEmpty = locals.length + faults.length === 0
  const { files: all, filesOf, unreadable } = folder.exists && (missing.length > 0 || isEmpty)
    ? yield* files.presence(userPath, missing)
    : { filesOf: new Map<string, ReadonlyArray<string>>(), unreadable: [], files: [] }
  return {
    locals,
    /** Files with the ids of workflows that no file is. */
    presence: new Map([...filesOf].flatMap(([id, [path]]) => path === undefined ? [] : [[id, nameOf(path)] as const])),
    faults: [
      ...faults,
      ...broken,
      ...unreadable.map(nameOf).filter((file) => !seen.has(file)).map((file): Fault => ({
        name: file,
        file,
        fault: "Cannot be read, so it may contain a workflow."
      }))
    ],
    /** Files that are something else, if none is a workflow. */
    others: isEmpty
      ? all.map(nameOf).filter((file) => !/(?:^|\/)\./.test(file)).map((file) =>
        others.find((other) => other.file === file) ?? { file }
      )
      : []
  }
})
