/** The browser of the person at the terminal. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { basename, dirname, join, resolve } from "node:path"
import { WorkflowFiles } from "../workflows/files/WorkflowFiles.ts"
import * as Options from "./config/Options.ts"
import * as Terminal from "./Terminal.ts"

/** Program that opens a file as a double click does; without a shell, so that a name is never a command. */
const openers: { readonly [platform: string]: readonly [program: string, ...ReadonlyArray<string>] } = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"]
}

/** Time after which a program that has not failed has opened the file, although it runs on as long as the browser. */
const patience = "2 seconds"

/** Opens a file in a browser, which stays open when this program ends, and returns whether that worked. */
const launch = (file: string) => {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"]
  return Effect.callback<boolean>((resume) => {
    const child = spawn(program, [...args, file], { detached: true, stdio: "ignore" })
    child.on("error", () => resume(Effect.succeed(false)))
    child.on("exit", (code) => resume(Effect.succeed(code === 0)))
    child.unref()
  }).pipe(Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed(true) }))
}

/** Destination of a page or a drawing. */
export interface Target {
  readonly format: "html" | "svg"
  readonly open: boolean
  readonly out: string | undefined
}

/** Target by the flags of a command; `undefined` if no page was asked for. A drawing is one also without them. */
export const targetOf = Effect.fnUntraced(function*(
  { open = false, out }: { readonly open?: boolean; readonly out?: string | undefined },
  isDrawing: boolean,
  form: string | undefined
): Effect.fn.Return<Target | undefined, Options.InvalidOption> {
  if (out === undefined && !open && !isDrawing) return undefined
  if (form !== undefined) return yield* Options.refuse(`Choose one: ${form}, or a page with --out or --open`)
  const format = out === undefined
    ? open || !Terminal.isPiped() ? "html" : "svg"
    : /\.(html|svg)$/i.exec(out)?.[1]?.toLowerCase()
  if (format === "html" || format === "svg" && isDrawing) return { format, open, out }
  return yield* Options.refuse(
    `--out '${out}': ${
      isDrawing
        ? "a picture's name ends in .svg or .html"
        : "the name of a page ends in .html; --json prints the data"
    }`
  )
})

/** Writes a page into a folder that only this user can read, until the system clears its temporary files. */
const temporary = Effect.fn("Browser.temporary")(function*(name: string, html: string) {
  const fs = yield* FileSystem.FileSystem
  const file = join(yield* fs.makeTempDirectory({ prefix: "effect-n8n-mcp-" }), name)
  yield* fs.writeFileString(file, html, { mode: 0o600 })
  return file
}, Effect.orDie)

/** Beginning of a page of ours: its policy names the digests of its own scripts. */
const beginning = 200

/**
 * Writes a page or a drawing, opens it if that was asked for, and returns lines about it. At a terminal, a page without a name has
 * that of its kind, and replaces only an earlier one of ours; in a pipe, a drawing goes to stdout.
 */
export const write = Effect.fnUntraced(function*(
  { format, open, out }: Target,
  { about, name, text }: { readonly name: string; readonly about: string; readonly text: string }
) {
  if (out === undefined && format === "svg") return [text.trimEnd()]
  const file = out ?? `${name}.html`
  const isTemporary = out === undefined && open
  if (!isTemporary) {
    const folder = yield* WorkflowFiles.use((files) => files.folder(dirname(resolve(file))))
    const before = out === undefined ? yield* folder.read(basename(file)) : undefined
    if (before !== undefined && before.slice(0, beginning) !== text.slice(0, beginning)) {
      return yield* Options.refuse(
        `'${file}' is here, and is not a page of this program: name another file with --out, or use --open`
      )
    }
    yield* folder.write(basename(file), text)
  }
  const first = `${isTemporary ? name : file}: ${about}`
  if (!open) return [first]
  const shown = isTemporary ? yield* temporary(file, text) : resolve(file)
  return [first, (yield* launch(shown)) ? `${shown} is open in the browser` : `No browser opens: see ${shown}`]
})
