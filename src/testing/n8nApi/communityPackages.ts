/** Installed community packages, which 2.x lists. */
import * as Effect from "effect/Effect"
import { api } from "./server.ts"

export const routes = [
  api(
    "GET",
    "/community-packages",
    { only2: true },
    ({ state }) => Effect.succeed(Response.json(state.communityPackages))
  )
]
