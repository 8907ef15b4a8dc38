/** Installs npm packages once into a cache outside the repository. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { homedir } from "node:os"
import * as processes from "./processes.ts"

/** The cache's folder of a kind of packages. */
export const cache = (kind: string) =>
  Effect.map(
    Path.Path,
    (path) => path.join(process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache"), "effect-n8n-mcp", kind)
  )

/**
 * Variables of the test run that would affect npm, pnpm or a compiler.
 *
 * **Gotchas**
 *
 * npm hands its own `--call` and `--package` down as variables, and an `npx` inside of `npx -c` refuses to start with
 * them. Variables of its configuration stay, such as the registry.
 */
const excluded =
  /^(NODE_ENV|NODE_OPTIONS|NODE_PATH|INIT_CWD|VITEST.*|TEST|PROD|DEV|MODE|npm_(?!config_).*|npm_config_(call|package|local_prefix)|pnpm_.*)$/i

/** The environment of the test run for npm, pnpm and compilers, with further variables. */
export const environment = (extra: Record<string, string> = {}): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) =>
      value === undefined || excluded.test(key) ? [] : [[key, value]]
    )
  ),
  ...extra
})

/**
 * The `node_modules` with one package, which is installed if needed.
 *
 * **Details**
 *
 * It is installed in a temporary folder and renamed when complete, so that an interrupted or concurrent installation
 * does no harm.
 */
export const install = Effect.fn("npm.install")(function*(
  folder: string,
  { name, version }: { readonly name: string; readonly version: string },
  options: { readonly arguments?: ReadonlyArray<string>; readonly env?: Record<string, string> } = {}
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const modules = path.join(folder, "node_modules")
  if (yield* fs.exists(modules)) return modules
  yield* processes.say(`installing ${name} ${version} into ${folder}, once`)
  const temporary = `${folder}.installing-${process.pid}`
  yield* fs.makeDirectory(temporary, { recursive: true })
  return yield* Effect.gen(function*() {
    yield* fs.writeFileString(
      path.join(temporary, "package.json"),
      JSON.stringify({ private: true, dependencies: { [name]: version } })
    )
    yield* processes.run(
      `installing ${name} ${version}`,
      "npm",
      ["install", "--no-audit", "--no-fund", "--loglevel=error", ...(options.arguments ?? [])],
      { cwd: temporary, env: environment(options.env) }
    )
    yield* fs.rename(temporary, folder).pipe(
      // Another run may have installed it first.
      Effect.catch((error) => Effect.flatMap(fs.exists(modules), (there) => there ? Effect.void : Effect.fail(error)))
    )
    return modules
  }).pipe(Effect.ensuring(Effect.ignore(fs.remove(temporary, { recursive: true, force: true }))))
})
