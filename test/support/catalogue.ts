/** The catalogue of node types from `dist`, opened once per test file. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as NodeCatalogue from "../../src/catalogue/NodeCatalogue.ts"

const runtime = ManagedRuntime.make(NodeCatalogue.layer().pipe(Layer.provide(NodeServices.layer), Layer.orDie))

export const catalogue = Layer.succeed(
  NodeCatalogue.NodeCatalogue,
  await runtime.runPromise(NodeCatalogue.NodeCatalogue)
)
