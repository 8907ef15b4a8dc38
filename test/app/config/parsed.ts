/** Options as the command line reads them. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { flags } from "../../../src/app/config/Declarations.ts"
import * as Options from "../../../src/app/config/Options.ts"

const quiet: CliOutput.Presenter = { present: () => Effect.void }

/** Options that a command line and an environment make; fails if it refuses them, or shows help. */
export const parse = Effect.fnUntraced(
  function*(args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) {
    const parsed = yield* Ref.make(Option.none<Options.Options>())
    const command = Command.make("test", flags, (options) => Ref.set(parsed, Option.some(options)))
    const environment = ConfigProvider.layer(ConfigProvider.fromEnv({ env: Options.variables(env) }))
    yield* Effect.provide(Command.runWith(command, { version: "0" })(args), environment)
    const options = Option.getOrUndefined(yield* Ref.get(parsed))
    return options ?? (yield* Options.refuse("help"))
  },
  Effect.provide(Layer.merge(NodeServices.layer, Layer.succeed(CliOutput.Presenter, quiet)))
)
