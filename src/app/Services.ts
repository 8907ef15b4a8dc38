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
  /**
   * Where they are kept instead.
   *
   * @internal
   */
  readonly database?: Layer.Layer<Database> | undefined
}

const assemble = (
  options: NodeCatalogue.Options,
  executions: Layer.Layer<Executions.Executions>,
  snapshots: Layer.Layer<Snapshots.Snapshots>,
  files: Layer.Layer<WorkflowFiles.WorkflowFiles>
): Layer.Layer<Services, UnreadablePackage> => {
  const catalogue = NodeCatalogue.layer(options).pipe(Layer.provide(NodeServices.layer))
  return Layer.mergeAll(
    executions,
    files,
    Layer.merge(WorkflowStore.layer, Versions.layer).pipe(Layer.provideMerge(Layer.merge(snapshots, catalogue)))
  )
}

/** Where snapshots and the executions of tests are kept. */
const kept = ({ database, stateFolder }: Options) =>
  database === undefined
    ? {
      runs: Layer.provide(TestRuns.layer(join(stateFolder, "tests")), NodeServices.layer),
      snapshots: Layer.provide(Snapshots.layer({ folder: stateFolder }), NodeServices.layer)
    }
    : { runs: Layer.provide(SqlTestRuns.layer, database), snapshots: Layer.provide(SqlSnapshots.layer, database) }

/**
 * On this machine's files, and the database if there is one; fails when a package of `nodes` cannot be read.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Services, UnreadablePackage> => {
  const { runs, snapshots } = kept(options)
  return assemble(
    options,
    Executions.layer(options).pipe(Layer.provide(runs), Layer.provide(NodeServices.layer)),
    snapshots,
    options.filesRoots.length === 0
      ? noFiles
      : WorkflowFiles.layer({ roots: options.filesRoots }).pipe(Layer.provide(NodeServices.layer))
  )
}

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
  read: refuse,
  locate: refuse,
  create: refuse,
  createFree: refuse,
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
export const layerMemory: Layer.Layer<Services> = assemble(
  {},
  Executions.layer(),
  Snapshots.layerMemory,
  noFiles
).pipe(Layer.orDie)
