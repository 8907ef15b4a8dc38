/** Command without a name: serves MCP. */
import * as Command from "effect/cli/Command"
import * as Serving from "../Serving.ts"
import { root } from "./root.ts"

export const serve = root.pipe(Command.withHandler((options) => Serving.serve(options)))
