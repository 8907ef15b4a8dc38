import { assert, it } from "@effect/vitest"
import { nodeCommand } from "../../src/base/NodeCommand.ts"

it("names no Node that npx may remove", () => {
  const npx = ["npx", "-y", "-p", "node@24", "node"]
  assert.deepStrictEqual(nodeCommand("/home/a/.npm/_npx/0a1b/node_modules/node/bin/node"), npx)
  assert.deepStrictEqual(nodeCommand("C:\\Users\\a\\npm-cache\\_npx\\0a1b\\node_modules\\node\\bin\\node.exe"), npx)
  for (const path of ["/usr/bin/node", "/home/a_npx/node"]) assert.deepStrictEqual(nodeCommand(path), [path])
})
