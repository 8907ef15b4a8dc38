/** Built servers, as processes of their own. */
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import { headersOf, request } from "../../mcp/eras/modern.ts"
import { installed, start } from "../../support/Process.ts"

/** A built server with this state, before this n8n. */
export const serving = Effect.fnUntraced(function*(
  state: string,
  n8n: URL,
  { args = [], env = {} }: { readonly args?: ReadonlyArray<string>; readonly env?: Readonly<Record<string, string>> } =
    {}
) {
  const { main } = yield* installed
  const { child, ended, errors } = start(["--transport", "http", "--port", "0", ...args], {
    N8N_URL: n8n.href,
    N8N_API_KEY: "key",
    N8N_MCP_STATE: state,
    ...env
  }, main)
  yield* Effect.addFinalizer(() => Effect.andThen(Effect.sync(() => child.kill("SIGKILL")), ended))
  const url = yield* Effect.callback<string, string>((resume) => {
    child.stderr.on("data", () => {
      const address = /address=(\S+)/.exec(errors())?.[1]
      if (address !== undefined) resume(Effect.succeed(address))
    })
    child.once("exit", () => resume(Effect.fail(errors())))
  })
  const send = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    Effect.promise(async (): Promise<Obj> => {
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body)
      })
      return obj(await response.json()) ?? {}
    })
  const as = (token: string | undefined) => token === undefined ? {} : { authorization: `Bearer ${token}` }
  return {
    url,
    errors,
    tools: (token?: string) =>
      Effect.map(
        send("/mcp/tools", {}, as(token)),
        ({ tools }) => arr(tools).map((tool) => String(obj(tool)?.["name"]))
      ),
    execute: (name: string, parameters: object = {}, token?: string) =>
      send("/mcp/execute", { name, parameters }, as(token)),
    health: Effect.promise(async () => obj(await (await fetch(`${url}/health`)).json()) ?? {}),
    call: (params: object) => {
      const message = request("tools/call", params, { elicitation: {} })
      return send("/mcp", message, headersOf(message))
    }
  }
})

/** One that was started. */
export type Server = Effect.Success<ReturnType<typeof serving>>
