import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { metadata, root } from "../../src/packaging/metadata.ts"
import { tagsOf } from "../../src/packaging/stability.ts"

const isStable = (module: string) => tagsOf(module)["@stability"] === "stable"

const entries = Object.values(metadata.exports).flatMap((file) =>
  file?.endsWith(".ts") === true && !file.includes("*") ? [file.replace("./src/", "").replace(".ts", "")] : []
)

describe("the stability of exports", () => {
  it("is that of the module that exports them again", () => {
    const stable = entries.filter(isStable)
    assert.includeMembers(stable, [
      "app/Services",
      "executions/Executions",
      "fleet/Fleet",
      "mcp/index",
      "n8n/N8nClient",
      "workflows/store/WorkflowStore"
    ])
    for (const module of stable) {
      const text = readFileSync(join(root, "src", `${module}.ts`), "utf8")
      const again = [...text.matchAll(/^export (?:type )?(?:\{[^}]*\}|\* as \w+) from "(\..*)\.ts"$/gm)]
        .map(([, path = ""]) => join(dirname(module), path))
      assert.deepStrictEqual(again.filter((each) => !isStable(each)), [], module)
    }
  })
})
