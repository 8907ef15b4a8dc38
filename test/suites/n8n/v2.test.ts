import { assert, it } from "@effect/vitest"
import { notTestable, ofMajor } from "./releases.ts"
import { suite } from "./suite.ts"

it("N8N_MCP_VERSIONS names whole versions", () => assert.deepStrictEqual(notTestable, []))

for (const version of ofMajor("2")) suite(version)
