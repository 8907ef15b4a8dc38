/** The built server over HTTP, with the demo's n8n and a token. */
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import { serving } from "../../support/serving.ts"
import { ClientError } from "./ClientError.ts"

/** The path of the bundle, which `pnpm test:suite clients` builds. */
export const main = fileURLToPath(new URL("../../../dist/main.js", import.meta.url))

/** Environment with which our server reaches a simulated n8n. */
export const env = ({ url }: { readonly url: URL }) => ({ N8N_URL: url.href, N8N_API_KEY: "a-key" })

/** The token that clients need. */
export const token = "a-token-of-the-clients-suite"

/** A running server. */
export interface Served {
  /** The address of its `/mcp`. */
  readonly url: string
  /** The lines of stderr so far: one per request. */
  readonly stderr: () => ReadonlyArray<string>
}

/** The methods of its requests, in order. */
export const methods = ({ stderr }: Served): ReadonlyArray<string> =>
  stderr().flatMap((line) => /message=request .* call="?([^\s"]+)/.exec(line)?.[1] ?? [])

/** Starts a server with these arguments and variables that runs until the scope ends. */
export const startWith = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  serving(["--demo", ...args], env, main).pipe(
    Effect.mapError((detail) => new ClientError({ step: "starting the server", detail })),
    Effect.map(({ errors, url }): Served => ({ url: `${url}/mcp`, stderr: () => errors().split("\n") }))
  )

/** Starts a server that takes {@link token}. */
export const start = startWith([], { N8N_MCP_AUTH_TOKEN: token })
