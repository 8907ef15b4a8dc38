/**
 * What the tools need besides an n8n.
 *
 * **Details**
 *
 * A service holds something while the process lives: locks, caches, folders. What only combines services is a module
 * of functions (`Workflows`, `WorkflowValidation`, `NodeLookups`, `WorkflowTesting`), and its requirements name them.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import type { Database } from "../base/Database.ts"
import * as Errors from "../base/Errors.ts"
import type { UnreadablePackage } from "../catalogue/data/Packages.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import * as Executions from "../executions/Executions.ts"
import * as SqlTestRuns from "../executions/SqlTestRuns.ts"
import * as TestRuns from "../executions/TestRuns.ts"
import * as WorkflowFiles from "../workflows/files/WorkflowFiles.ts"
import * as Snapshots from "../workflows/store/Snapshots.ts"
import * as SqlSnapshots from "../workflows/store/SqlSnapshots.ts"
import * as Versions from "../workflows/store/Versions.ts"
import * as WorkflowStore from "../workflows/store/WorkflowStore.ts"

/**
 * Everything that the tools need but the `N8nClient`.
 *
 * @category models
 * @since 0.1.0
 */
export type Services =
  | Executions.Executions
  | NodeCatalogue.NodeCatalogue
  | Snapshots.Snapshots
  | Versions.Versions
  | WorkflowFiles.WorkflowFiles
  | WorkflowStore.WorkflowStore

/**
 * Where things are, and how large they may be.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Executions.Options, NodeCatalogue.Options {
  /** Absolute folders whose `.json` files may be read and written; without one the file tools refuse. */
  readonly filesRoots: ReadonlyArray<string>
  /** Where snapshots and the executions of tests are kept; usually `Snapshots.defaultFolder(process.env)`. */
  readonly stateFolder: string
}

/** What is kept somewhere, or cached of it. */
const stateful = (
  executions: Layer.Layer<Executions.Executions>,
  snapshots: Layer.Layer<Snapshots.Snapshots>
): Layer.Layer<
  Executions.Executions | Snapshots.Snapshots | Versions.Versions | WorkflowStore.WorkflowStore,
  never,
  NodeCatalogue.NodeCatalogue
> => Layer.merge(executions, Layer.provideMerge(Layer.merge(WorkflowStore.layer, Versions.layer), snapshots))

/**
 * Snapshots and the executions of tests in a folder, and what works with them.
 *
 * @internal
 */
export const stateInFolder = (folder: string, options: Executions.Options) =>
  stateful(
    Executions.layer(options).pipe(
      Layer.provide(TestRuns.layer(join(folder, "tests"))),
      Layer.provide(NodeServices.layer)
    ),
    Layer.provide(Snapshots.layer({ folder }), NodeServices.layer)
  )

/**
 * The same in a database.
 *
 * @internal
 */
export const stateInDatabase = (database: Layer.Layer<Database>, options: Executions.Options) =>
  stateful(
    Layer.provide(Executions.layer(options), Layer.provide(SqlTestRuns.layer, database)),
    Layer.provide(SqlSnapshots.layer, database)
  )

/**
 * The files below these roots; without one all is refused.
 *
 * @internal
 */
export const files = (roots: ReadonlyArray<string>): Layer.Layer<WorkflowFiles.WorkflowFiles> =>
  roots.length === 0 ? noFiles : Layer.provide(WorkflowFiles.layer({ roots }), NodeServices.layer)

/**
 * The node catalogue alone, which all share.
 *
 * @internal
 */
export const catalogue = (options: NodeCatalogue.Options) =>
  Layer.provide(NodeCatalogue.layer(options), NodeServices.layer)

/**
 * On this machine's files; fails when a package of `nodes` cannot be read.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Services, UnreadablePackage> =>
  Layer.merge(
    files(options.filesRoots),
    Layer.provideMerge(stateInFolder(options.stateFolder, options), catalogue(options))
  )

const refuse = () =>
  Effect.fail(
    new Errors.ValidationError({
      reason: "No files are served here: the server has no files root",
      field: "filePath",
      hint:
        "Give the workflow's name, nodes and connections to create_workflow instead, or have the server started with --files-root (N8N_MCP_FILES_ROOT)."
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
  list: refuse
})

/**
 * In memory, without files but the node catalogue's: for tests.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<Services> = Layer.merge(
  noFiles,
  Layer.provideMerge(stateful(Executions.layer(), Snapshots.layerMemory), catalogue({}))
).pipe(Layer.orDie)
