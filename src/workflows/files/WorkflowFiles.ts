/** Workflow files and drafts below the files roots only; a draft is a file there with an id, `draft-…`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as Errors from "../../base/Errors.ts"
import type { Obj } from "../../base/Json.ts"
import type { Instance } from "../../n8n/N8nClient.ts"
import { draftId, draftName } from "../Reference.ts"
import * as CodeFiles from "./codeFiles.ts"
import * as Folder from "./folder.ts"
import * as List from "./list.ts"
import * as Locate from "./locate.ts"
import * as Lock from "./lock.ts"
import * as Read from "./read.ts"
import * as Write from "./write.ts"

export type { CodePlace, CodePlaces } from "../../workflow/CodePlaces.ts"
export { type Beside, type CodeOptions, codePlaces, secretPlaces } from "./codeFiles.ts"
export type { WorkflowFolder } from "./folder.ts"
export type { Listed, Listing, Page, Presence } from "./list.ts"
export { isIgnored } from "./locate.ts"
export type { ReadOptions, Unreadable, WorkflowFile } from "./read.ts"
export { noWorkflows, type Other } from "./refusals.ts"
export type { Keep, Written } from "./write.ts"

/**
 * Reads and writes files and drafts. Every refusal is a `ValidationError` of the field `filePath`, or `directoryPath`
 * in `list`. A path may be a draft's id: `draft-plan` is `plan.json` directly under the first root.
 */
export interface Service {
  readonly instance: Instance
  /**
   * Reads the JSON in a file under a files root; a relative path starts at the first root. Regular `.json` files of at
   * most 10 MB in UTF-8, UTF-16 or UTF-32. A byte order mark, comments, trailing commas, lists and wrappers around a
   * workflow are repaired; `FILE.json#ID` or `#NAME` is one of several in a file. In the parameters of nodes
   * `{"$file": "code.js"}` stands for the text of that file beside the workflow, and anywhere `{"$secret": "key"}` for a value of `.n8n-secrets.json`;
   * callers see text and value. A link may lead
   * to another place under a root. A link that leads out is refused before anything outside is touched, so that no
   * answer shows what exists there.
   */
  readonly read: (path: string, options?: Read.ReadOptions) => Effect.Effect<Read.WorkflowFile, Errors.ValidationError>
  /** Reads a file that is one workflow, or `FILE.json#ID`; fails for what is something else. */
  readonly workflow: (
    path: string
  ) => Effect.Effect<Read.WorkflowFile & { readonly value: Obj }, Errors.ValidationError>
  /** Reads a file like `read`; one that cannot be read is broken, and no error. @internal */
  readonly inspect: (
    path: string,
    options?: Read.ReadOptions
  ) => Effect.Effect<Read.WorkflowFile | Read.Unreadable, Errors.ValidationError>
  /** Real path of an existing or new file; a new one is never hidden, below a dot folder or in node_modules. */
  readonly locate: (path: string) => Effect.Effect<string, Errors.ValidationError>
  /** Writes a new file and its folders; returns its real path. */
  readonly create: (
    path: string,
    text: string,
    options?: CodeFiles.CodeOptions
  ) => Effect.Effect<{ readonly path: string }, Errors.ValidationError>
  /** Creates a draft, named after a workflow: `請求書 (2)!` becomes `draft-請求書-2`, `draft-請求書-2-2` … */
  readonly createDraft: (
    name: string,
    text: string
  ) => Effect.Effect<{ readonly id: string; readonly path: string }, Errors.ValidationError>
  /**
   * Replaces a workflow's text by the result of `change`, unless that is undefined. Runs one at a time for each file,
   * across the processes of one user. The file is replaced atomically and keeps its mode; of a link the target is
   * replaced. `keep` runs before. Code in files beside it stays there. Fails with a `ValidationError` if others write
   * while `change` runs. An `update` of the same file within `change` never returns.
   */
  readonly update: <E, R, E2 = never, R2 = never>(
    path: string,
    change: (file: Read.WorkflowFile) => Effect.Effect<string | undefined, E, R>,
    keep?: Write.Keep<E2, R2>,
    options?: CodeFiles.CodeOptions
  ) => Effect.Effect<Write.Written & { readonly before: string }, Errors.ValidationError | E | E2, R | R2>
  /** Creates a file, or replaces a workflow, by the result of `content`, as `update` does; refuses other files. */
  readonly save: <E, R, E2 = never, R2 = never>(
    path: string,
    content: (before: Read.WorkflowFile | undefined) => Effect.Effect<string, E, R>,
    keep?: Write.Keep<E2, R2>
  ) => Effect.Effect<Write.Written, Errors.ValidationError | E | E2, R | R2>
  /** Removes a workflow's file and its code files; `keep` runs before, and its failure prevents the removal. */
  readonly remove: <E = never, R = never>(
    path: string,
    keep: (file: Read.WorkflowFile) => Effect.Effect<void, E, R>
  ) => Effect.Effect<void, Errors.ValidationError | E, R>
  /** Opens a folder of workflows, which may not exist yet; the first root is `.`. */
  readonly folder: (path: string) => Effect.Effect<Folder.WorkflowFolder, Errors.ValidationError>
  /** Lists workflows below a folder, by path, without node_modules and dot folders; at most 20,000 `.json` files. */
  readonly list: (directory?: string, page?: List.Page) => Effect.Effect<List.Listing, Errors.ValidationError>
  /** Real paths of the `.json` files that `list` reads, workflows or not. */
  readonly paths: (directory?: string) => Effect.Effect<ReadonlyArray<string>, Errors.ValidationError>
  /**
   * Searches a folder for ids of workflows, in files of every name and format, also hidden and broken ones; not in
   * node_modules, folders of version control, and our own `.n8n-` files.
   */
  readonly presence: (
    directory: string,
    ids: ReadonlyArray<string>
  ) => Effect.Effect<List.Presence, Errors.ValidationError>
}

/** The files below the roots. */
export class WorkflowFiles extends Context.Service<WorkflowFiles, Service>()("effect-n8n-mcp/WorkflowFiles") {}

/** Options of the layer. */
export interface Options {
  /** Absolute paths of folders, at least one; each use checks that they exist. */
  readonly roots: ReadonlyArray<string>
}

const snapshotsOfFiles: Instance = { url: "", key: "files" }

/** Path of a draft's file, directly below the first root; other paths are unchanged. */
const fileOf = (path: string) => {
  const name = draftName(path)
  return name === undefined ? path : `${name}.json`
}

/** Reads and writes below the roots. A root that does not exist fails the call, not the layer. */
export const layer = (options: Options): Layer.Layer<WorkflowFiles, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    WorkflowFiles,
    Effect.gen(function*() {
      const path = yield* Path.Path
      const locate = yield* Locate.make(options.roots)
      const filesBelow = yield* List.filesBelow(locate)
      const lock = yield* Lock.make
      const code = yield* CodeFiles.make(locate, lock)
      const { inspect, read, source, workflow } = yield* Read.make(locate, code)
      const { create, createFree, remove, save, update } = yield* Write.make(locate, read, lock, code)
      return WorkflowFiles.of({
        instance: snapshotsOfFiles,
        read: (path, options) => read(fileOf(path), options),
        workflow: (path) => workflow(fileOf(path)),
        inspect: (path, options) => inspect(fileOf(path), options),
        locate: (userPath) => Effect.map(locate.possible(fileOf(userPath)), ({ at, rest }) => path.join(at, ...rest)),
        create: (path, text, options) => create(fileOf(path), text, options),
        createDraft: (name, text) =>
          Effect.map(createFree(name, text), ({ path, stem }) => ({ id: draftId(stem), path })),
        update: (path, change, keep = () => Effect.void, options = {}) => update(fileOf(path), change, keep, options),
        save: (path, content, keep = () => Effect.void) => save(fileOf(path), content, keep),
        remove: (path, keep) => remove(fileOf(path), keep),
        folder: yield* Folder.make(locate, lock, code),
        ...yield* List.make(filesBelow, source)
      })
    })
  )
