/** `tools`: lists the tools. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { offeredTools, print, root } from "./root.ts"

export const tools = Command.make(
  "tools",
  {},
  Effect.fnUntraced(function*() {
    for (const tool of yield* offeredTools(yield* root)) {
      yield* print(`${tool.name.padEnd(28)}${tool.description}`)
    }
  })
).pipe(Command.withDescription("List the tools"))
