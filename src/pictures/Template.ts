/** Page template, built from `page/`. */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import * as Assets from "../base/Assets.ts"
import * as Errors from "../base/Errors.ts"

const places = () => Assets.places("picture.html")

/** Reads the template; fails if it has not been built. */
export const read: Effect.Effect<string, Errors.ValidationError> = Effect.tryPromise({
  try: () => {
    const [first, second = first] = places()
    return readFile(first, "utf8").catch(() => readFile(second, "utf8"))
  },
  catch: () =>
    new Errors.ValidationError({
      reason: `The page of pictures is missing: ${places()[0]}`,
      hint: "Install the package again, or build it: pnpm build.",
      isServerFault: true
    })
})
