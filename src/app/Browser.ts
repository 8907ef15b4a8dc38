/** The browser of the person at the terminal. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { join } from "node:path"

/** Program that opens a file as a double click does; without a shell, so that a name is never a command. */
const openers: { readonly [platform: string]: readonly [program: string, ...ReadonlyArray<string>] } = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"]
}

/** Time after which a program that has not failed has opened the file, although it runs on as long as the browser. */
const patience = "2 seconds"

/** Opens a file in a browser, which stays open when this program ends, and returns whether that worked. */
const open = (file: string) => {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"]
  return Effect.callback<boolean>((resume) => {
    const child = spawn(program, [...args, file], { detached: true, stdio: "ignore" })
    child.on("error", () => resume(Effect.succeed(false)))
    child.on("exit", (code) => resume(Effect.succeed(code === 0)))
    child.unref()
  }).pipe(Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed(true) }))
}

/** Opens a file, and returns a sentence about it. */
export const show = (file: string): Effect.Effect<string> =>
  Effect.map(open(file), (isOpen) => isOpen ? `${file} is open in the browser` : `No browser opens: see ${file}`)

/** Writes a page into a folder that only this user can read, until the system clears its temporary files. */
export const temporary = Effect.fn("Browser.temporary")(function*(name: string, html: string) {
  const fs = yield* FileSystem.FileSystem
  const file = join(yield* fs.makeTempDirectory({ prefix: "effect-n8n-mcp-" }), name)
  yield* fs.writeFileString(file, html, { mode: 0o600 })
  return file
}, Effect.orDie)
