/** Everything the tools need, put together as the options say. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Locale from "./Locale.ts"
import * as Minimize from "./Minimize.ts"
import * as Options from "./Options.ts"
import * as Services from "./Services.ts"
import * as Snapshots from "./Snapshots.ts"
import * as Tool from "./Tool.ts"
import * as Upstreams from "./Upstreams.ts"

const services = (options: Options.Options) => {
  const nodes = Options.nodePackages(options, process.env)
  return options.demo && options.filesRoot.length === 0
    ? Services.memory({ nodes })
    : Services.layer({
      nodes,
      filesRoots: Options.filesRoots(options, process.env),
      stateFolder: Snapshots.defaultFolder(process.env),
      maxBodyBytes: options.maxExecutionMb * 1_000_000
    })
}

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
