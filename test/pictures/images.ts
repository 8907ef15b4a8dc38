/** `node test/pictures/images.ts`: draws the README's pictures from recorded workflows into `.github/images`. */
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Pictures from "../../src/pictures/Pictures.ts"
import * as Svg from "../../src/pictures/Svg.ts"
import * as workflows from "./workflows.ts"

/** The pictures by the names of their files. */
export const images = Effect.gen(function*() {
  const execution = yield* workflows.failed
  return {
    "execution.svg": Svg.render(yield* Pictures.make(workflows.orders, { overlay: { _tag: "Execution", execution } })),
    "difference.svg": Svg.render(
      yield* Pictures.make(workflows.mended, { overlay: { _tag: "Difference", before: workflows.orders } })
    )
  }
}).pipe(Effect.provide(workflows.world))

/** Where they are. */
export const folder = fileURLToPath(new URL("../../.github/images/", import.meta.url))

if (process.argv[1] === import.meta.filename) {
  mkdirSync(folder, { recursive: true })
  for (const [name, svg] of Object.entries(await Effect.runPromise(images))) writeFileSync(folder + name, `${svg}\n`)
}
