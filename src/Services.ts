/** What the tools need besides an n8n, put together. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Executions from "./Executions.ts"
import * as N8nError from "./N8nError.ts"
import * as NodeCatalogue from "./NodeCatalogue.ts"
import type { UnreadablePackage } from "./NodeCatalogue/packages.ts"
import * as Snapshots from "./Snapshots.ts"
import * as TestRuns from "./TestRuns.ts"
import * as WorkflowFiles from "./WorkflowFiles.ts"
import * as WorkflowStore from "./WorkflowStore.ts"

/** Everything that tools ask for but the `N8nClient`. */
export type Services =
  | Executions.Executions
  | NodeCatalogue.NodeCatalogue
  | Snapshots.Snapshots
  | WorkflowFiles.WorkflowFiles
  | WorkflowStore.WorkflowStore

/** Where things are, and how large they may be. */
export interface Options extends Omit<Executions.Options, "testRuns">, NodeCatalogue.Options {
  /** Absolute folders whose `.json` files may be read and written; no files are served where there is none. */
  readonly filesRoots: ReadonlyArray<string>
  /** Where snapshots and the executions of tests are kept; `Snapshots.defaultFolder(process.env)` is the usual place. */
  readonly stateFolder: string
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
    Layer.provideMerge(WorkflowStore.layer, Layer.merge(snapshots, catalogue))
  )
}

/** On this machine's files; fails when a package of `nodes` cannot be read. */
export const layer = (options: Options): Layer.Layer<Services, UnreadablePackage> =>
  assemble(
    options,
    TestRuns.make(join(options.stateFolder, "tests")).pipe(
      Effect.map((testRuns) => Executions.layer({ ...options, testRuns })),
      Layer.unwrap,
      Layer.provide(NodeServices.layer)
    ),
    Snapshots.layer({ folder: options.stateFolder }).pipe(Layer.provide(NodeServices.layer)),
    options.filesRoots.length === 0
      ? noFiles
      : WorkflowFiles.layer({ roots: options.filesRoots }).pipe(Layer.provide(NodeServices.layer))
  )

const unserved = () =>
  Effect.fail(
    new N8nError.Validation({
      reason: "No files are served here",
      field: "filePath",
      hint:
        "Give the workflow's name, nodes and connections to create_workflow instead, or have the server started with --files-root."
    })
  )

const noFiles = Layer.succeed(WorkflowFiles.WorkflowFiles, {
  read: unserved,
  locate: unserved,
  create: unserved,
  createFree: unserved,
  update: unserved,
  save: unserved,
  list: unserved
})

/** In memory, without files but the node catalogue's: for tests. */
export const layerMemory: Layer.Layer<Services> = assemble(
  {},
  Executions.layer(),
  Snapshots.layerMemory,
  noFiles
).pipe(Layer.orDie)
