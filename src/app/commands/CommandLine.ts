/** The whole command line. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Doctor from "../Doctor.ts"
import * as Options from "../Options.ts"
import { audit } from "./audit.ts"
import { call } from "./call.ts"
import { credential } from "./credential.ts"
import { doctor } from "./doctor.ts"
import { picture } from "./picture.ts"
import { promote } from "./promote.ts"
import { serve } from "./serve.ts"
import { diff, pull, push, status } from "./sync.ts"
import { test } from "./test.ts"
import { tools } from "./tools.ts"

const checkNode = (version: string) => {
  const { cure, detail, status } = Doctor.checkNode(version)
  return status === "failed"
    ? Effect.fail(new Options.InvalidOption({ message: `Node ${detail} is too old. ${cure}` }))
    : Effect.void
}

/** Every command, on this version of Node: on one that is too old each refuses, instead of failing halfway. */
export const make = (nodeVersion: string) =>
  serve.pipe(
    Command.withSubcommands([tools, call, doctor, audit, credential, test, pull, status, diff, push, promote, picture]),
    Command.provideEffectDiscard(checkNode(nodeVersion))
  )
