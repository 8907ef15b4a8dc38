/** Calls of tools that need nothing but an n8n, before the rest of the program is loaded. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { version } from "../base/Version.ts"
import * as McpServer from "../mcp/McpServer.ts"
import * as Methods from "../mcp/Methods.ts"
import { credentialTest } from "../tools/credentials/credentialTest.ts"
import { listCredentials } from "../tools/credentials/listCredentials.ts"
import { stopExecution } from "../tools/executions/stopExecution.ts"
import { projectList } from "../tools/projects/projectList.ts"
import { listWorkflows } from "../tools/workflows/listWorkflows.ts"
import { workflowMap } from "../tools/workflows/workflowMap.ts"
import * as Options from "./config/Options.ts"
import type * as PlainOptions from "./config/PlainOptions.ts"
import * as Upstreams from "./config/Upstreams.ts"
import * as Environment from "./Environment.ts"

export const tools = [listWorkflows, workflowMap, stopExecution, listCredentials, credentialTest, projectList] as const

/** Answers `tools/call`; fails where the program explains what is wrong with its options. */
export const make = Effect.fnUntraced(
  function*(values: PlainOptions.Values, declarations: ReadonlyArray<PlainOptions.Option>) {
    const options = Options.fromPlain(values, declarations)
    const { defaultUpstream } = yield* Upstreams.load(options)
    if (defaultUpstream === undefined) return yield* Options.refuse("several profiles")
    const context = yield* Layer.build(Layer.merge(Options.layerAnswers(options), Upstreams.layerOf(defaultUpstream)))
    const environment = yield* Effect.context<never>()
    const { methods } = yield* McpServer.makeServed(
      { name: Environment.name, version, tools },
      () => Effect.succeed(context)
    )
    const answer: Methods.Method = (request) =>
      Effect.provideContext(Methods.run(methods, "tools/call", request), environment)
    return answer
  },
  Effect.provide(Environment.layer)
)
