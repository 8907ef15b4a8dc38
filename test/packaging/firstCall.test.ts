import { assert, it } from "@effect/vitest"
import { build } from "esbuild"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** Files that are loaded with these of `src`, apart from what is loaded later. */
const loadedWith = async (...files: ReadonlyArray<string>) => {
  const { metafile } = await build({
    absWorkingDir: root,
    stdin: { contents: files.map((file) => `export * from "./src/${file}"`).join("\n"), resolveDir: root },
    bundle: true,
    splitting: true,
    treeShaking: true,
    write: false,
    outdir: root,
    metafile: true,
    format: "esm",
    platform: "node",
    mainFields: ["module", "main"],
    logLevel: "silent"
  })
  const all = new Set(
    Object.keys(metafile.outputs).filter((file) => metafile.outputs[file]?.entryPoint === "<stdin>")
  )
  for (const output of all) {
    for (const { kind, path } of metafile.outputs[output]?.imports ?? []) if (kind === "import-statement") all.add(path)
  }
  return [...all].flatMap((file) =>
    Object.entries(metafile.outputs[file]?.inputs ?? {})
      .flatMap(([name, { bytesInOutput }]) => bytesInOutput > 0 ? name : [])
  )
}

const first = loadedWith("app/FirstCalls.ts", "tools/workflows/listWorkflows.ts")

it("the first list of workflows loads no module that it does not use", async () => {
  const files = await first
  assert.isTrue(files.includes("src/n8n/workflows.ts"))
  const unused =
    /jsonc-parser|effect\/dist\/(?:cli|Graph)\b|src\/(?:workflow|sync|trials|catalogue\/code)\/|src\/app\/(?:report|Terminal|config\/Profiles)/
  assert.deepStrictEqual(files.filter((file) => unused.test(file)), [])
})

it("neither a start nor its first call reads the data of languages, which takes 15 ms", async () => {
  const files = [...await loadedWith("app/LeanStart.ts"), ...await first].filter((file) => /^src\/.*\.ts$/.test(file))
  const reading = files.filter((file) =>
    /\bIntl\.|toLocale\w+\(|localeCompare/.test(readFileSync(`${root}${file}`, "utf8"))
  )
  assert.deepStrictEqual(reading, [])
})
