/** A real browser: the Chromium of an npm package, unless `N8N_MCP_BROWSER` names another one. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import { createReadStream, createWriteStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { createBrotliDecompress } from "node:zlib"
import { type Browser, chromium, type Page } from "playwright-core"
import * as npm from "../../support/npm.ts"
import { BrowserError } from "./BrowserError.ts"

/** A build of Chromium 153 for Linux on x64 that needs no display. */
const source = { name: "@sparticuz/chromium", version: "153.0.0" }

const refuse = (reason: string) => (cause: unknown) =>
  new BrowserError({
    message: `No browser: ${reason} (${
      String(cause).split("\n")[0]
    }). Set N8N_MCP_BROWSER to the path of a Chromium or Chrome, such as /usr/bin/chromium.`
  })

/** The browser's program, from the npm registry once, then from the cache. */
const install = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(yield* npm.cache("browsers"), `chromium-${source.version}`)
  const program = path.join(folder, "chromium")
  if (yield* fs.exists(program)) return program
  const modules = yield* npm.install(folder, source, { arguments: ["--ignore-scripts"] })
  const temporary = `${program}.unpacking-${process.pid}`
  yield* Effect.promise(() =>
    pipeline(
      createReadStream(path.join(modules, source.name, "bin/chromium.br")),
      createBrotliDecompress(),
      createWriteStream(temporary, { mode: 0o755 })
    )
  )
  yield* fs.rename(temporary, program)
  return program
}).pipe(Effect.mapError(refuse(`${source.name} ${source.version} cannot be installed from the npm registry`)))

/** Starts the browser; it is closed with the scope. */
const launch = Effect.gen(function*() {
  const program = process.env["N8N_MCP_BROWSER"] || (yield* install)
  return yield* Effect.acquireRelease(
    Effect.tryPromise({
      // In containers there is no sandbox to be had, and all that is opened is made here.
      try: () => chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] }),
      catch: refuse(`'${program}' does not start`)
    }),
    (browser) => Effect.promise(() => browser.close())
  )
})

/** The browser that the tests of a file share. */
export class TheBrowser extends Context.Service<TheBrowser, Browser>()("test/TheBrowser") {
  static readonly layer = Layer.effect(TheBrowser, launch).pipe(Layer.provide(NodeServices.layer))
}

/** A page, and what it asked for, said and failed at. */
export interface Opened {
  readonly page: Page
  /** URLs of all requests. */
  readonly requests: ReadonlyArray<string>
  /** Errors, violations of the page's policy, dialogs. */
  readonly faults: ReadonlyArray<string>
}

/** Opens HTML in a page from which no request gets out. */
export const open = Effect.fnUntraced(function*(
  html: string,
  colorScheme: "light" | "dark" = "light",
  viewport = { width: 1400, height: 900 }
) {
  const browser = yield* TheBrowser
  return yield* Effect.acquireRelease(
    Effect.promise(async (): Promise<Opened & { readonly close: () => Promise<void> }> => {
      const context = await browser.newContext({ viewport, colorScheme })
      const [requests, faults]: [Array<string>, Array<string>] = [[], []]
      const page = await context.newPage()
      page.on("pageerror", (error) => faults.push(error.message))
      page.on("console", (message) => message.type() === "error" && faults.push(message.text()))
      page.on("dialog", (dialog) => {
        faults.push(`dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      const address = "http://picture.test/"
      await context.route("**", (route) => {
        const url = route.request().url()
        if (url === address) return route.fulfill({ body: html, contentType: "text/html; charset=utf-8" })
        requests.push(url)
        return route.abort()
      })
      await page.goto(address)
      return { page, requests, faults, close: () => context.close() }
    }),
    ({ close }) => Effect.promise(close)
  )
})
