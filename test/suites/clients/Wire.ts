/** The messages between a client and our server over stdio, as recorded by `relay.mjs`. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { fileURLToPath } from "node:url"
import { arr, obj, str } from "../../../src/base/Json.ts"
import { main } from "./Served.ts"

/** The command with which a client starts the built server behind the relay. */
export const command = (log: string, args: ReadonlyArray<string>): ReadonlyArray<string> => [
  process.execPath,
  fileURLToPath(new URL("relay.mjs", import.meta.url)),
  log,
  process.execPath,
  main,
  ...args
]

/** A tool call and the text of our answer. */
export interface Call {
  readonly tool: string
  readonly text: string
}

/** A recorded session. */
export interface Wire {
  /** The methods of the client's messages, in order. */
  readonly methods: ReadonlyArray<string>
  readonly calls: ReadonlyArray<Call>
  /** The lines of our server's stderr. */
  readonly stderr: ReadonlyArray<string>
}

const textOf = (result: unknown) =>
  arr(obj(result)?.["content"]).map((block) => str(obj(block)?.["text"]) ?? "").join("\n")

/** Reads a recording, which is empty if the client did not start the server. */
export const read = Effect.fn("Wire.read")(function*(log: string) {
  const fs = yield* FileSystem.FileSystem
  const lines = (yield* fs.exists(log)) ? (yield* fs.readFileString(log)).trimEnd().split("\n") : []
  const entries = lines.map((line) => JSON.parse(line) as readonly [kind: "in" | "out" | "err", line: string])
  const messages = (kind: "in" | "out") =>
    entries.flatMap(([from, line]) => from === kind ? [obj(JSON.parse(line)) ?? {}] : [])
  const answers = new Map(messages("out").map(({ id, result }) => [id, result]))
  const requests = messages("in").filter(({ method }) => method !== undefined)
  return {
    methods: requests.map(({ method }) => str(method) ?? ""),
    calls: requests.flatMap(({ id, method, params }) =>
      method === "tools/call" ? [{ tool: str(obj(params)?.["name"]) ?? "", text: textOf(answers.get(id)) }] : []
    ),
    stderr: entries.flatMap(([from, line]) => from === "err" ? [line] : [])
  } satisfies Wire
})
