/** Everything the tools need, put together as the options say. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Locale from "./Locale.ts"
import * as Minimize from "./Minimize.ts"
import * as Options from "./Options.ts"
import * as Services from "./Services.ts"
import * as Snapshots from "./Snapshots.ts"
import * as Tool from "./Tool.ts"
import * as Upstreams from "./Upstreams.ts"

/** Where files and state are: the demo's are in a folder that goes with it, unless a person names one. */
const places = Effect.fnUntraced(function*(options: Options.Options) {
  const filesRoots = Options.filesRoots(options, process.env)
  if (!options.demo) return { filesRoots, stateFolder: Snapshots.defaultFolder(process.env) }
  const folder = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "n8n-mcp-demo-" }))
  const isTheirs = options.filesRoot.length > 0 || options.transport === "http"
  return { filesRoots: isTheirs ? filesRoots : [folder], stateFolder: join(folder, ".state") }
}, Effect.orDie)

const services = (options: Options.Options) =>
  Layer.unwrap(Effect.map(places(options), (found) =>
    Services.layer({
      ...found,
      nodes: Options.nodePackages(options, process.env),
      maxBodyBytes: options.maxExecutionMb * 1_000_000
    })))

/** Everything the tools need but an n8n. */
export const shared = (options: Options.Options) =>
  Layer.unwrap(
    Effect.gen(function*() {
      if (options.maxResultChars < Minimize.minResultChars) {
        return yield* new Options.InvalidOption({
          message: `--max-result-chars must be at least ${Minimize.minResultChars}`
        })
      }
      if (options.maxExecutionMb < 1) {
        return yield* new Options.InvalidOption({ message: "--max-execution-mb must be at least 1" })
      }
      return Layer.mergeAll(
        services(options),
        Layer.succeed(Locale.CurrentLocale, options.locale),
        Layer.succeed(Minimize.MaxResultChars, options.maxResultChars),
        Layer.succeed(Tool.RedactSecrets, !options.showSecrets)
      )
    })
  )

/** Everything the tools need, as the options say. Starts with n8n down, and without `N8N_URL`. */
export const layer = (options: Options.Options) =>
  Layer.unwrap(
    Effect.gen(function*() {
      const { upstreams, usual } = yield* Upstreams.all(options)
      if (usual === undefined) {
        const names = upstreams.map(({ name }) => `'${name}'`).join(", ")
        return yield* new Options.InvalidOption({ message: `Which n8n is meant? Give --profile: ${names}` })
      }
      return Layer.merge(shared(options), Upstreams.layerOf(usual))
    })
  )
