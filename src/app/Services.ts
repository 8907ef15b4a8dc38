/**
 * Services that the tools need besides an n8n.
 *
 * A service owns state of the process: locks, caches, folders. Modules of functions (`Workflows`, `WorkflowValidation`,
 * `NodeLookups`, `WorkflowTesting`) only combine services and name them in their requirements.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import type { Database } from "../base/Database.ts"
import * as Documents from "../base/Documents.ts"
import * as Errors from "../base/Errors.ts"
import type { UnreadablePackage } from "../catalogue/data/Packages.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import * as Executions from "../executions/Executions.ts"
import * as RetryLog from "../executions/RetryLog.ts"
import * as TestRuns from "../executions/TestRuns.ts"
import * as WorkflowFiles from "../workflows/files/WorkflowFiles.ts"
import * as FormerSnapshots from "../workflows/store/FormerSnapshots.ts"
import * as Snapshots from "../workflows/store/Snapshots.ts"
import * as Versions from "../workflows/store/Versions.ts"
import * as WorkflowStore from "../workflows/store/WorkflowStore.ts"

// A service of some tools, named here for the types of tools.
export { type RetryLog } from "../executions/RetryLog.ts"

/** Services that the tools need except the `N8nClient`. */
export type Services =
  | Documents.Documents
  | Executions.Executions
  | NodeCatalogue.NodeCatalogue
  | RetryLog.RetryLog
  | Snapshots.Snapshots
  | Versions.Versions
  | WorkflowFiles.WorkflowFiles
  | WorkflowStore.WorkflowStore

/** Services of the platform that {@link layerWith} requires. */
export type Platform = FileSystem.FileSystem | Path.Path

export interface Options extends Executions.Options, NodeCatalogue.Options {
  /** Absolute folders whose `.json` files may be read and written. Default: none, and the file tools refuse. */
  readonly filesRoots?: ReadonlyArray<string>
  /** Folder of snapshots, plans and executions of tests. Default: `effect-n8n-mcp` in `$XDG_STATE_HOME` or `~/.local/state`. */
  readonly stateFolder?: string
}

const stateful = <R1, R2>(
  executions: Layer.Layer<Executions.Executions, never, Documents.Documents>,
  snapshots: Layer.Layer<Snapshots.Snapshots, never, Documents.Documents | R1>,
  documents: Layer.Layer<Documents.Documents, never, R2>
): Layer.Layer<
  Exclude<Services, NodeCatalogue.NodeCatalogue | WorkflowFiles.WorkflowFiles>,
  never,
  NodeCatalogue.NodeCatalogue | Exclude<R1, Documents.Documents> | R2
> =>
  Layer.mergeAll(RetryLog.layer, executions, WorkflowStore.layer, Versions.layer).pipe(
    Layer.provideMerge(snapshots),
    Layer.provideMerge(documents)
  )

/** Executions of which those of tests outlive the process. */
const executions = (options: Executions.Options) => Layer.provide(Executions.layer(options), TestRuns.layer)

/** State in a folder: snapshots, executions of tests, and the services that use them. @internal */
export const stateInFolder = (folder: string, options: Executions.Options) =>
  stateful(executions(options), Snapshots.layer(FormerSnapshots.adopt(folder)), Documents.layerFolder(folder))

/** State in a database. @internal */
export const stateInDatabase = (database: Layer.Layer<Database>, options: Executions.Options) =>
  stateful(executions(options), Snapshots.layer(), Layer.provide(Documents.layerDatabase, database))

/** Files below these roots; without any, everything is refused. @internal */
export const files = (roots: ReadonlyArray<string>): Layer.Layer<WorkflowFiles.WorkflowFiles, never, Platform> =>
  roots.length === 0 ? noFiles : WorkflowFiles.layer({ roots })

/**
 * The services of {@link layer} on a platform of the program's choice: Node's, Bun's, or a `FileSystem` in memory.
 *
 * **Example** (State that ends with the process, in a folder in memory)
 *
 * ```ts
 * import { Services, tools } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as FileSystem from "effect/FileSystem"
 * import * as Layer from "effect/Layer"
 * import * as Path from "effect/Path"
 *
 * const platform = Layer.merge(FileSystem.layerNoop({}), Path.layer)
 * const services = Services.layerWith({ stateFolder: "/state" }).pipe(Layer.provide(platform))
 *
 * export const test = tools.listWorkflows.call({}).pipe(
 *   Effect.map(({ count }) => count), // 0
 *   Effect.provide(Layer.merge(FakeN8n.layer(), services))
 * )
 * ```
 */
export const layerWith = (options: Options = {}): Layer.Layer<Services, UnreadablePackage, Platform> =>
  Layer.merge(
    files(options.filesRoots ?? []),
    Layer.provideMerge(
      Layer.suspend(() => stateInFolder(options.stateFolder ?? Documents.defaultFolder(process.env), options)),
      NodeCatalogue.layer(options)
    )
  )

/**
 * Services of a program in production on Node, with everything that a tool, `Executions` or `WorkflowStore` needs besides
 * a client. Snapshots and plans are in a folder, so that a change can be taken back after a restart; a program that only
 * reads may use {@link layerMemory}. Fails if a package of `nodes` cannot be read.
 */
export const layer = (options: Options = {}): Layer.Layer<Services, UnreadablePackage> =>
  Layer.provide(layerWith(options), NodeServices.layer)

const refuse = () =>
  Effect.fail(
    new Errors.ValidationError({
      reason: "This server has no files root",
      field: "filePath",
      hint: { _tag: "PassWorkflow" }
    })
  )

const noFiles = Layer.succeed(WorkflowFiles.WorkflowFiles, {
  instance: { url: "", key: "" },
  read: refuse,
  locate: refuse,
  create: refuse,
  createDraft: refuse,
  update: refuse,
  save: refuse,
  remove: refuse,
  folder: refuse,
  list: refuse,
  paths: refuse,
  presence: refuse,
  workflow: refuse,
  inspect: refuse
})

/** The same services in memory, for tests and programs that only read: the next process knows nothing of this one. */
export const layerMemory: Layer.Layer<Services> = Layer.merge(
  noFiles,
  Layer.provideMerge(stateful(Executions.layer(), Snapshots.layer(), Documents.layerMemory), NodeCatalogue.layer())
).pipe(Layer.orDie, Layer.provide(NodeServices.layer))
