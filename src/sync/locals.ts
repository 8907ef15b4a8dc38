/** Files of a synced folder. */
import * as Effect from "effect/Effect"
import * as Errors from "../base/Errors.ts"
import { arr, defined, obj, own, str } from "../base/Json.ts"
import { isListed, WorkflowFiles, type WorkflowFolder } from "../workflows/files/WorkflowFiles.ts"
import * as LiteralSecrets from "../workflows/LiteralSecrets.ts"
import * as content from "./content.ts"
import type * as State from "./state.ts"

/** A workflow's file, without its content: there may be thousands. */
export interface Local {
  /** Relative to the folder, with slashes. */
  readonly file: string
  readonly path: string
  readonly id?: string
  readonly name: string
  readonly hash: string
  /** Whether its secrets are in the file that git ignores. */
  readonly hasSecrets: boolean
  /** Code files that it refers to, relative to the folder. */
  readonly beside: ReadonlyArray<string>
  /** Ids of its nodes, if its workflow was being created when the state was written. */
  readonly nodeIds?: ReadonlyArray<unknown>
  /** Literal secrets in it, if they are refused. */
  readonly refused?: ReadonlyArray<string>
}

/** A file that cannot be synced. */
export interface Fault {
  readonly name: string
  readonly file: string
  readonly fault: string
}

const concurrency = 8

export const nodeIds = (workflow: unknown) => arr(own(workflow, "nodes")).map((node) => own(node, "id"))

export const movedOn = (what: string) =>
  Errors.invalid("folder", `${what} changed while it was being synced`, "It was not overwritten: sync again.")

/** Content of a file; fails if it has changed since the comparison. */
export const read = Effect.fnUntraced(function*({ file, hash, path }: Local, scope: content.Scope) {
  const { value } = yield* WorkflowFiles.use((files) => files.read(path))
  const now = content.of(obj(value) ?? {}, scope)
  return content.hash(now) === hash ? now : yield* movedOn(`File '${file}'`)
})

/** Reads all workflows of a folder, a few at a time. */
export const readAll = Effect.fnUntraced(function*(
  folder: WorkflowFolder,
  userPath: string,
  { creating = [], workflows }: Pick<State.State, "creating" | "workflows">,
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
  const [found, faults] = yield* Effect.partition(yield* files.paths(userPath), readOne, { concurrency })
  const locals = found.flat()
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
