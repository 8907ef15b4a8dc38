/** A session with the server as a child process, as in an agent's client. */
import { assert } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import type { Progress } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { fileURLToPath } from "node:url"
import { type Obj, obj } from "../../../src/base/Json.ts"
import { RealN8n } from "./RealN8n.ts"

/** A session; with `onprogress` a call requests progress. */
export interface Session {
  /** Calls a tool and returns its answer, which must not be an error. */
  readonly call: (name: string, args: Obj, onprogress?: (progress: Progress) => void) => Effect.Effect<Obj>
  /** Sends a signal to the server and waits until it has ended. */
  readonly end: (signal: NodeJS.Signals) => Effect.Effect<void>
}

/** Opens a session with a server whose files are in a folder. */
export const open = Effect.fnUntraced(function*(folder: string) {
  const { apiKey, url } = yield* RealN8n
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [fileURLToPath(new URL("../../../src/main.ts", import.meta.url)), "--files-root", folder],
    env: {
      PATH: process.env["PATH"] ?? "",
      N8N_URL: url.href,
      N8N_API_KEY: Redacted.value(apiKey),
      XDG_STATE_HOME: `${folder}/.state`
    }
  })
  const client = new Client({ name: "agent", version: "0" })
  const gone = new Promise<void>((resolve) => (client.onclose = resolve))
  yield* Effect.acquireRelease(
    Effect.promise(() => client.connect(transport)),
    () => Effect.promise(() => client.close())
  )
  const session: Session = {
    call: (name, args, onprogress) =>
      Effect.promise(() =>
        client.callTool({ name, arguments: args }, undefined, onprogress === undefined ? {} : { onprogress })
      ).pipe(Effect.map((answer) => {
        assert.isUndefined(answer.isError, `${name}: ${JSON.stringify(answer.content)}`)
        return obj(obj(answer.structuredContent)?.["data"]) ?? {}
      })),
    end: (signal) =>
      Effect.promise(() => {
        if (transport.pid !== null) process.kill(transport.pid, signal)
        return gone
      })
  }
  return session
})
