/** n8n's start page and installed community packages, which 2.x lists. */
import * as Effect from "effect/Effect"
import { api, type Handler, route } from "./server.ts"

/** The only page that contains n8n's version. */
const startPage: Handler = ({ version }) => {
  const release = version === "2" ? "n8n@2.41.1" : "n8n@1.123.81"
  const config = btoa(JSON.stringify({ dsn: "", environment: "development", release }))
  return Effect.succeed(
    new Response(`<!DOCTYPE html><html><head><meta name="n8n:config:sentry" content="${config}"></head></html>`, {
      headers: { "content-type": "text/html; charset=utf-8" }
    })
  )
}

const listPackages: Handler = ({ state }) => Effect.succeed(Response.json(state.communityPackages))

export const routes = [
  route("GET", "", {}, startPage),
  api("GET", "/community-packages", { only2: true }, listPackages)
]
