/** The built server behind an identity provider. */
import * as Effect from "effect/Effect"
import { freePort } from "../../support/Process.ts"
import * as support from "../../support/serving.ts"

/** A server that has said where it listens. */
export const serving = Effect.fnUntraced(function*(
  issuer: string,
  { args = ["--demo"], publicUrl, state }: {
    readonly args?: ReadonlyArray<string>
    /** Default: its own address. */
    readonly publicUrl?: string
    readonly state: string
  }
) {
  const port = yield* freePort
  const url = `http://127.0.0.1:${port}`
  const options = ["--port", String(port), "--oauth-issuer", issuer, "--public-url", publicUrl ?? url]
  const { call, errors, execute } = yield* support.serving([...options, ...args], { XDG_STATE_HOME: state })
  return {
    url,
    resource: `${url}/mcp`,
    errors,
    execute: (token: string, name: string, parameters?: object) => execute(name, parameters, token),
    call: (token: string, params: object) => call(params, token)
  }
})
