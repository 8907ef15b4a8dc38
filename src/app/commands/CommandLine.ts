/** Whole command line. */
import * as Command from "effect/cli/Command"
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

export const commandLine = serve.pipe(
  Command.withSubcommands([tools, call, doctor, audit, credential, test, pull, status, diff, push, promote, picture])
)
