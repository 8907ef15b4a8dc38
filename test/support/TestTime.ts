/** The test clock of our own tests, which have loaded beforehand what the program loads on first use. */
import * as Effect from "effect/Effect"
import * as Modules from "../../src/trials/Modules.ts"

export * from "../../src/testing/TestTime.ts"

// vitest transforms each module before it is loaded, which takes longer than a test's clock waits.
await Promise.all([
  import("acorn"),
  import("../../src/base/interpreter/Compile.ts"),
  import("../../src/pictures/PicturePage.ts"),
  import("../../src/pictures/Pictures.ts"),
  Effect.runPromise(Effect.all<ReadonlyArray<Effect.Effect<unknown>>, object>(Object.values(Modules)))
])
