/** Calls of tools that need nothing but an n8n, before the rest of the program is loaded; each is loaded by itself. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Tool from "../answer/Tool.ts"
import { version } from "../base/Version.ts"
import * as Methods from "../mcp/Methods.ts"
import * as Protocol from "../mcp/Protocol.ts"
import type { N8nClient } from "../n8n/N8nClient.ts"
import * as Options from "./config/Options.ts"
import type * as PlainOptions from "./config/PlainOptions.ts"
import * as Upstreams from "./config/Upstreams.ts"
import * as Environment from "./Environment.ts"
import * as Telemetry from "./Telemetry.ts"

/** Loads each of these tools, by its name. */
export const tools: ReadonlyMap<string, () => Promise<Tool.Any<N8nClient>>> = new Map([
  ["list_workflows", () => import("../tools/workflows/listWorkflows.ts").then(({ listWorkflows }) => listWorkflows)],
  ["stop_execution", () => import("../tools/executions/stopExecution.ts").then(({ stopExecution }) => stopExecution)],
  [
    "list_credentials",
    () => import("../tools/credentials/listCredentials.ts").then(({ listCredentials }) => listCredentials)
  ],
  [
    "credential_test",
    () => import("../tools/credentials/credentialTest.ts").then(({ credentialTest }) => credentialTest)
  ],
  ["project_list", () => import("../tools/projects/projectList.ts").then(({ projectList }) => projectList)]
])

/** Answers `tools/call` for one of `tools`; fails if only the program can answer, or explain the error. */
export const make = Effect.fnUntraced(
  function*(values: PlainOptions.Values, declarations: ReadonlyArray<PlainOptions.Option>) {
    const options = Options.fromPlain(values, declarations)
    // An n8n in memory would not see what a second one changed; a second exporter would count twice.
    if (options.demo || Telemetry.isExporting(Options.variables(process.env))) return yield* Effect.fail("not alone")
    const environment = yield* Layer.build(Environment.layer)
    const { defaultUpstream } = yield* Effect.provideContext(Upstreams.load(options), environment)
    if (defaultUpstream === undefined) return yield* Effect.fail("several profiles")
    const context = yield* Layer.build(Layer.merge(Options.layerAnswers(options), Upstreams.layerOf(defaultUpstream)))
    const answer: Methods.Method = Effect.fnUntraced(function*(request) {
      const load = tools.get(String(request.params["name"]))
      const own = load === undefined ? [] : [yield* Effect.promise(load)]
      const { methods } = yield* Protocol.make({ name: Environment.name, version, tools: own }, context)
      return yield* Methods.run(methods, "tools/call", request)
    }, Effect.provideContext(environment))
    return answer
  }
)
