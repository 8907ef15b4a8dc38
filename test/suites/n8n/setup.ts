/** Installs the releases before the files, which run side by side. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import build from "../../support/setup.ts"
import * as elsewhere from "./elsewhere.ts"
import { install } from "./install.ts"
import { asked } from "./releases.ts"

export default async () => {
  build()
  if (elsewhere.named !== undefined) return
  await Effect.runPromise(Effect.forEach(asked, install).pipe(Effect.provide(NodeServices.layer)))
}
