/** What the tools run with, as the options say. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import * as Locale from "../answer/Locale.ts"
import * as Minimize from "../answer/Minimize.ts"
import * as Tool from "../answer/Tool.ts"
import { CredentialEnv } from "../tools/shared/CredentialValues.ts"
import * as Policy from "../workflows/Policy.ts"
import * as Options from "./Options.ts"
import * as PolicyFile from "./PolicyFile.ts"
import * as Services from "./Services.ts"
import * as State from "./State.ts"
import * as Upstreams from "./Upstreams.ts"

/** The folders of files and state; the demo's are temporary, unless `--files-root` names one. */
const places = Effect.fnUntraced(function*(options: Options.Options) {
  const filesRoots = Options.filesRoots(options, process.env)
  const place = yield* State.place(options, process.env)
  if (place._tag === "Database") return { filesRoots, stateFolder: "", database: place.database }
  if (!options.demo) return { filesRoots, stateFolder: place.folder }
  const folder = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "n8n-mcp-demo-" }))
  const isChosen = options.filesRoot.length > 0 || options.transport === "http"
  return {
    filesRoots: isChosen ? filesRoots : [folder],
    stateFolder: Option.isSome(options.state) ? place.folder : join(folder, ".state")
  }
}, Effect.catchTag("PlatformError", Effect.die))

/** The operator's rules for writes, if there are any. */
const policy = ({ policy }: Options.Options) =>
  Layer.unwrap(Option.match(policy, {
    onNone: () => Effect.succeed(Layer.empty),
    onSome: (file) => Effect.map(PolicyFile.load(file), Policy.layer)
  }))

/** The values of the variables that the operator lists, read once. */
const credentialEnv = ({ credentialEnv }: Options.Options) => {
  const variables = Options.variables(process.env)
  return Layer.succeed(
    CredentialEnv,
    new Map(credentialEnv.map((name) => {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined
      return [name, value === undefined ? undefined : Redacted.make(value)]
    }))
  )
}

/** Everything the tools need but an n8n. */
export const shared = (options: Options.Options) =>
  Layer.mergeAll(
    Layer.provideMerge(
      policy(options),
      Layer.unwrap(Effect.map(places(options), (folders) =>
        Services.layer({ ...folders, nodes: options.nodes, maxBodyBytes: options.maxExecutionMb * 1_000_000 })))
    ),
    credentialEnv(options),
    Layer.succeed(Locale.CurrentLocale, options.locale),
    Layer.succeed(Minimize.MaxResultChars, options.maxResultChars),
    Layer.succeed(Tool.RedactSecrets, !options.showSecrets)
  )

/** Everything the tools need, with n8n down or `N8N_URL` unset too. */
export const layer = (options: Options.Options) =>
  Layer.unwrap(
    Effect.gen(function*() {
      const { defaultUpstream, upstreams } = yield* Upstreams.load(options)
      if (defaultUpstream === undefined) {
        const names = upstreams.map(({ name }) => `'${name}'`).join(", ")
        return yield* new Options.InvalidOption({ message: `Several profiles: choose one with --profile: ${names}` })
      }
      return Layer.merge(shared(options), Upstreams.layerOf(defaultUpstream))
    })
  )
