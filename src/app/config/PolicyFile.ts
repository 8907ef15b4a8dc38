/** The operator's policy, from the file of `--policy`. */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Arguments from "../../answer/Arguments.ts"
import * as Tool from "../../answer/Tool.ts"
import * as Policy from "../../workflows/policy/Policy.ts"
import * as ConfigFile from "./configFile.ts"
import * as Options from "./Options.ts"

const decode = Arguments.decoder("A policy", Policy.Rules, Tool.jsonSchema(Policy.Rules))

/** Reads `{"bannedNodes": […], "minScheduleMinutes": 5, "protectedTags": […], "requireErrorWorkflow": true}`. */
export const load = (
  file: string
): Effect.Effect<Policy.Rules, Options.InvalidOption, FileSystem.FileSystem> =>
  ConfigFile.read(file, decode).pipe(
    Effect.mapError((reason) => Options.refuse(`--policy: ${file}: ${reason}`))
  )
