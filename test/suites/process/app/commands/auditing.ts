/** The `audit` command in a process of its own. */
import { tmpdir } from "node:os"
import { runIn } from "../../../../support/cli.ts"

/** Audits with these arguments, in a folder without a configuration. */
export const auditing = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  runIn(tmpdir(), env, "audit", ...args)
