/** Answers of the server before the program is loaded. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import * as Tool from "../answer/Tool.ts"
import * as Declarations from "../app/config/Declarations.ts"
import * as FirstCalls from "../app/FirstCalls.ts"
import type * as LeanStart from "../app/LeanStart.ts"
import * as Mcp from "../app/Mcp.ts"
import { arr, obj } from "../base/Json.ts"
import type { Served } from "../mcp/McpTransport.ts"
import * as Methods from "../mcp/Methods.ts"
import * as Protocol from "../mcp/Protocol.ts"
import * as tools from "../tools/index.ts"
import * as Resources from "../tools/Resources.ts"
import * as Toolsets from "../tools/Toolsets.ts"

const caller = { client: undefined }

/** Empty context: these methods use no services. */
const nothing = Context.empty() as Context.Context<Tool.Services<typeof tools.all[number]>>

/** Result of a method of a server with these tools. */
const resultOf = (method: string, served: Served) =>
  Methods.run(served.methods, method, {
    params: {},
    caller,
    capabilities: {},
    notify: () => Effect.void,
    ask: () => Effect.die(new Error(`${method} must not ask`))
  }).pipe(Effect.orDie)

/** Description of the server with all its tools and options. */
export const prepared: Effect.Effect<LeanStart.Prepared> = Effect.gen(function*() {
  const served = yield* Protocol.make(Mcp.options(tools.all), nothing)
  const { resourceTemplates } = yield* resultOf("resources/templates/list", served)
  const templates = arr(resourceTemplates).map((template) => obj(template) ?? {})
  return {
    about: served.about,
    methods: Object.keys(served.methods),
    results: { "prompts/list": yield* resultOf("prompts/list", served) },
    options: Object.values(Declarations.declarations).map((option) =>
      Struct.pick(option, [
        "name",
        "variable",
        "rivals",
        "format",
        "isSecret",
        "choices",
        "isList",
        "range",
        "fallback"
      ])
    ),
    names: Toolsets.names,
    first: [...FirstCalls.tools.keys()],
    tools: tools.all.map(Protocol.listing),
    extended: tools.all.map(Tool.extended).filter((tool, index) => tool !== tools.all[index]).map(Protocol.listing),
    templates: templates.map((template, index) => ({ tool: Resources.all[index]?.tool ?? "", template }))
  }
})
