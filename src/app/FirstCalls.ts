/** Calls of tools that need nothing but an n8n, before the rest of the program is loaded. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { version } from "../base/Version.ts"
import * as Methods from "../mcp/Methods.ts"
import * as Protocol from "../mcp/Protocol.ts"
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
import * as Telemetry from "./Telemetry.ts"

export const tools = [listWorkflows, workflowMap, stopExecution, listCredentials, credentialTest, projectList] as const

/** Answers `tools/call`; fails if only the program can answer, or explain the error. */
export const make = Effect.fnUntraced(
  function*(values: PlainOptions.Values, declarations: ReadonlyArray<PlainOptions.Option>) {
    const options = Options.fromPlain(values, declarations)
    // An n8n in memory would not see what a second one changed; a second exporter would count twice.
    if (options.demo || Telemetry.isExporting(Options.variables(process.env))) return yield* Effect.fail("not alone")
    const environment = yield* Layer.build(Environment.layer)
    const { defaultUpstream } = yield* Effect.provideContext(Upstreams.load(options), environment)
    if (defaultUpstream === undefined) return yield* Effect.fail("several profiles")
    const context = yield* Layer.build(Layer.merge(Options.layerAnswers(options), Upstreams.layerOf(defaultUpstream)))
    const { methods } = yield* Protocol.make({ name: Environment.name, version, tools }, context)
    const answer: Methods.Method = (request) =>
      Effect.provideContext(Methods.run(methods, "tools/call", request), environment)
    return answer
  }
)
