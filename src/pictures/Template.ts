/** Page template, built from `page/`. */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import * as Errors from "../base/Errors.ts"

export const file: string = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../dist/picture.html" : "./picture.html", import.meta.url)
)

/** Template of the installed package, for an app that bundles only the code. */
const installedFile = () => fileURLToPath(import.meta.resolve("effect-n8n-mcp/picture.html"))

/** Reads the template; fails if it has not been built. */
export const read: Effect.Effect<string, Errors.ValidationError> = Effect.tryPromise({
  try: () => readFile(file, "utf8").catch(() => readFile(installedFile(), "utf8")),
  catch: () =>
    new Errors.ValidationError({
      reason: `The page of pictures is missing: ${file}`,
      hint: "Install the package again, or build it: pnpm build.",
      isServerFault: true
    })
})
