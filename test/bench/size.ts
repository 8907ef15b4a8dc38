/** What the library costs its users: `pnpm package && pnpm bench size [TARBALL …]`, bundles in kB, loading and checking in ms. */
import { execFileSync, spawnSync } from "node:child_process"
import { globSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { metadata, root } from "../../src/packaging/metadata.ts"
import { codeOf, install, sizes, uses } from "../support/consumer.ts"

const rounds = 9

const say = (line: string) => process.stdout.write(`${line}\n`)

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const timed = (run: () => void) => {
  const start = performance.now()
  run()
  return performance.now() - start
}

const load = (app: string, code: string) =>
  timed(() => void execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: app }))

const check = (app: string, code: string) => {
  writeFileSync(join(app, "app.ts"), code)
  const tsc = join(root, "node_modules/.bin/tsc")
  const options =
    "--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck --target ES2024 --module nodenext --types node --typeRoots"
  return timed(() => spawnSync(tsc, [...options.split(" "), join(root, "node_modules/@types"), "app.ts"], { cwd: app }))
}

const measure = async (tarball: string) => {
  const app = mkdtempSync(join(tmpdir(), "effect-n8n-mcp-size-"))
  try {
    install(tarball, app)
    const installed = join(app, "node_modules", metadata.name)
    const files = globSync("**/*", { cwd: installed }).map((file) => statSync(join(installed, file)))
      .filter((stat) => stat.isFile())
    const types = statSync(join(installed, "dist/tools/index.d.ts")).size
    const all = {
      files: files.length,
      packed: statSync(tarball).size,
      unpacked: files.reduce((n, { size }) => n + size, 0)
    }
    const rows = []
    for (const use of uses) rows.push({ use, ...await sizes(app, codeOf(use)) })
    return { app, all, types, rows }
  } catch (error) {
    rmSync(app, { recursive: true, force: true })
    throw error
  }
}

const named = process.argv.slice(2).map((file) => resolve(file))
const tarballs = named.length > 0 ? named : globSync("dist/*.tgz", { cwd: root }).map((file) => join(root, file))
const results = []
for (const tarball of tarballs) results.push(await measure(tarball))
try {
  const kB = (bytes: number) => String(Math.round(bytes / 1000)).padStart(6)
  for (const [index, { use }] of (results[0]?.rows ?? []).entries()) {
    // Interleaved, so that a busy moment of the machine meets all of them.
    const times = results.map((): Array<number> => [])
    for (let round = 0; round < rounds; round++) {
      for (const [at, { app }] of results.entries()) {
        times[at]?.push(load(app, `await import("${metadata.name}${use.from}")`))
      }
    }
    const cells = results.map(({ rows }, at) =>
      `${kB(rows[index]?.whole ?? 0)}, ${kB(rows[index]?.atOnce ?? 0)} at once ${
        median(times[at] ?? []).toFixed(0).padStart(5)
      } ms`
    )
    say(`${`${use.name} of "${use.from}"`.padEnd(52)} ${cells.join(" | ")}`)
  }
  say(`tools/index.d.ts ${results.map(({ types }) => `${kB(types)} kB`).join(" | ")}`)
  say(
    `package ${
      results.map(({ all }) => `${all.files} files, ${kB(all.packed)} kB packed, ${kB(all.unpacked)} kB`).join(" | ")
    }`
  )
  for (const code of ["N8nClient", "tools"]) {
    const once = (app: string) => check(app, `export { ${code} } from "${metadata.name}"\n`)
    const times = results.map((): Array<number> => [])
    for (let round = 0; round < 5; round++) for (const [at, { app }] of results.entries()) times[at]?.push(once(app))
    say(`types of ${code} ${times.map((each) => `${median(each).toFixed(0)} ms`).join(" | ")}`)
  }
} finally {
  for (const { app } of results) rmSync(app, { recursive: true, force: true })
}
