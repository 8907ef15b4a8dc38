import { it } from "@effect/vitest"
import { ofMajor } from "./releases.ts"
import { suite } from "./suite.ts"

const releases = ofMajor("1")
if (releases.length === 0) it.skip("no 1.x is asked for", () => undefined)
for (const version of releases) suite(version)
