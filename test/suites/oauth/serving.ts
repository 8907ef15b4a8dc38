/** The built server behind an identity provider. */
import * as Effect from "effect/Effect"
import { type Obj, obj } from "../../../src/base/Json.ts"
import { headersOf, request } from "../../mcp/eras/modern.ts"
import { freePort, start } from "../../support/Process.ts"

export interface Answer {
  readonly status: number
  readonly challenge: string
  readonly json: Obj
}

const send = (url: string, body: object, token: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async (): Promise<Answer> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(body)
    })
    return {
      status: response.status,
      challenge: response.headers.get("www-authenticate") ?? "",
      json: obj(await response.json()) ?? {}
    }
  })

/** A server that has said where it listens. */
export const serving = Effect.fnUntraced(function*(
  issuer: string,
  { args = ["--demo"], port, publicUrl, state }: {
    readonly args?: ReadonlyArray<string>
    readonly port?: number
    /** Default: its own address. */
    readonly publicUrl?: string
    readonly state: string
  }
) {
  const own = port ?? (yield* freePort)
  const url = `http://127.0.0.1:${own}`
  const { child, ended, errors } = start(
    ["--transport", "http", "--port", String(own), "--oauth-issuer", issuer, "--public-url", publicUrl ?? url, ...args],
    { XDG_STATE_HOME: state }
  )
  yield* Effect.addFinalizer(() => Effect.andThen(Effect.sync(() => child.kill("SIGKILL")), ended))
  yield* Effect.callback<void, string>((resume) => {
    child.stderr.on("data", () => /address=/.test(errors()) ? resume(Effect.void) : undefined)
    child.once("exit", () => resume(Effect.fail(errors())))
  })
  return {
    url,
    resource: `${url}/mcp`,
    errors,
    execute: (token: string, name: string, parameters: object = {}) =>
      send(`${url}/mcp/execute`, { name, parameters }, token),
    call: (token: string, params: object) => {
      const message = request("tools/call", params, { elicitation: {} })
      return send(`${url}/mcp`, message, token, headersOf(message))
    }
  }
})
