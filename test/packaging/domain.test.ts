import { assert, it } from "@effect/vitest"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"

it("the domain imports no module of Node, so that browsers load it", async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../../src/domain.ts", import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    external: ["effect", "node:*"],
    logLevel: "silent"
  })
  const importers = Object.entries(metafile.inputs).flatMap(([file, { imports }]) =>
    imports.filter(({ path }) => path.startsWith("node:")).map(({ path }) => `${file}: ${path}`)
  )
  assert.isAbove(Object.keys(metafile.inputs).length, 50)
  assert.deepStrictEqual(importers, [])
})
