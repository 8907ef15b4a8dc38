/** Modules that are loaded when they are first needed. */
import * as Effect from "effect/Effect"

/** Imports a module once: Node resolves each import again, which can take longer than a call. */
export const load = <Module extends object>(importing: () => Promise<Module>): Effect.Effect<Module> => {
  let module: Module | undefined
  const loading = Effect.tap(Effect.promise(importing), (loaded) => Effect.sync(() => void (module = loaded)))
  return Effect.suspend(() => module === undefined ? loading : Effect.succeed(module))
}
