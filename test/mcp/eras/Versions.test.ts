import { assert, it } from "@effect/vitest"
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js"
import { legacy } from "../../../src/mcp/eras/Versions.ts"

it("the older versions are the SDK's", () => {
  assert.deepStrictEqual(legacy, SUPPORTED_PROTOCOL_VERSIONS)
})
