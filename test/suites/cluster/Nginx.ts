/** Debian's nginx with the configuration that the repository gives to people: only hosts and ports are others. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "../../support/Process.ts"

/** nginx is missing, or does not take the configuration. */
export class NginxError extends Data.TaggedError("NginxError")<{ readonly message: string }> {}

const file = fileURLToPath(new URL("../../../.docker/nginx.conf", import.meta.url))

const program = () =>
  [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin"].map((folder) => join(folder, "nginx")).find((path) =>
    existsSync(path)
  )

/** Replaces what must be there; a configuration that has changed is not tested by halves. */
const rewrite = (text: string, from: string, to: string) => {
  if (text.split(from).length !== 2) throw new Error(`${file} has not exactly one '${from}'`)
  return text.replace(from, to)
}

const configuration = (folder: string, port: number, servers: ReadonlyArray<number>) => {
  let text = rewrite(readFileSync(file, "utf8"), "listen 80;", `listen 127.0.0.1:${port};`)
  servers.forEach((server, index) => {
    text = rewrite(text, `mcp${index + 1}:3000`, `127.0.0.1:${server}`)
  })
  writeFileSync(join(folder, "default.conf"), text)
  // What the image's own nginx.conf is around it.
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
    `${name}_temp_path ${folder}/${name};`
  )
  return `pid ${folder}/nginx.pid; error_log stderr warn; daemon off;
events { worker_connections 1024; }
http { access_log off; ${temporary.join(" ")} include ${folder}/default.conf; }`
}

const answers = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resume(Effect.succeed(true))).once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => socket.destroy())
  })

/** Runs before these ports until the scope ends; its address. */
export const start = Effect.fnUntraced(function*(servers: ReadonlyArray<number>, port: number | undefined = undefined) {
  const nginx = program()
  if (nginx === undefined) return yield* new NginxError({ message: "There is no nginx here: apt-get install nginx" })
  const own = port ?? (yield* freePort)
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-n8n-mcp-nginx-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const main = join(folder, "nginx.conf")
  yield* Effect.sync(() => writeFileSync(main, configuration(folder, own, servers)))
  let log = ""
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(nginx, ["-p", folder, "-e", "stderr", "-c", main], { stdio: ["ignore", "ignore", "pipe"] })
      child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text))
      return child
    }),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGTERM")
      })
  )
  yield* Effect.suspend(() =>
    child.exitCode === null
      ? Effect.filterOrFail(answers(own), (isThere) => isThere, () => new NginxError({ message: log }))
      : Effect.die(new NginxError({ message: log }))
  ).pipe(Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 100 }))
  return { url: `http://127.0.0.1:${own}`, log: () => log }
})
