/** The bundled server over HTTP, as a process of its own. */
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import { headersOf, request } from "../mcp/eras/modern.ts"
import { main, start } from "./Process.ts"

/** An answer of the server. */
export interface Answer {
  readonly status: number
  readonly challenge: string
  readonly json: Obj
}

/** Starts a server, on any port unless the arguments name one, and waits for its address. */
export const serving = Effect.fnUntraced(function*(
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  program = main
) {
  const port = args.includes("--port") ? [] : ["--port", "0"]
  const { child, ended, errors } = start(["--transport", "http", ...port, ...args], { ...env }, program)
  yield* Effect.addFinalizer(() => Effect.andThen(Effect.sync(() => child.kill("SIGKILL")), ended))
  const url = yield* Effect.callback<string, string>((resume) => {
    child.stderr.on("data", () => {
      const address = /address=(\S+)/.exec(errors())?.[1]
      if (address !== undefined) resume(Effect.succeed(address))
    })
    child.once("exit", () => resume(Effect.fail(errors())))
  })
  const send = (path: string, body: object, token?: string, headers: Readonly<Record<string, string>> = {}) =>
    Effect.promise(async (): Promise<Answer> => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...authorization, ...headers },
        body: JSON.stringify(body)
      })
      const challenge = response.headers.get("www-authenticate") ?? ""
      return { status: response.status, challenge, json: obj(await response.json()) ?? {} }
    })
  return {
    url,
    errors,
    health: Effect.promise(async () => obj(await (await fetch(`${url}/health`)).json()) ?? {}),
    /** Names of the tools that a token gives. */
    tools: (token?: string) =>
      Effect.map(
        send("/mcp/tools", {}, token),
        ({ json }) => arr(json["tools"]).map((tool) => String(obj(tool)?.["name"]))
      ),
    execute: (name: string, parameters: object = {}, token?: string) =>
      send("/mcp/execute", { name, parameters }, token),
    /** Calls a tool by MCP. */
    call: (params: object, token?: string) => {
      const message = request("tools/call", params, { elicitation: {} })
      return send("/mcp", message, token, headersOf(message))
    }
  }
})
