/** An in-memory n8n behind the real client, for tests here and in applications that use these tools. */
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as N8nClient from "../n8n/N8nClient.ts"
import * as N8nApi from "./n8nApi/N8nApi.ts"

/** A reserved host name; requests never leave the process. */
const url = new URL("https://n8n.example.test/")

/** A client of an in-memory n8n that holds `seed`; each build of the layer has its own. */
export const layer = (seed: N8nApi.Seed, options: N8nApi.Options = {}): Layer.Layer<N8nClient.N8nClient> =>
  N8nClient.layer({ url, apiKey: Redacted.make(options.apiKey ?? "fake-key") }).pipe(
    Layer.provide(N8nApi.layer(seed, options))
  )
