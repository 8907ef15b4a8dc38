/** The releases of n8n that the suite runs against, and what came of it: what README says of versions is made of this. */

/** A major version of n8n that is supported. */
export type Major = "2" | "1"

/** The releases of CI. */
export const inCi: Readonly<Record<Major, string>> = { "2": "2.41.1", "1": "1.123.81" }

/** What came of the suite with a release that CI does not test. */
interface Run {
  readonly version: string
  /** ISO 8601. */
  readonly date: string
  readonly passed: number
  readonly failed: number
  /** What to know about it. */
  readonly note?: string
}

/** The latest run of each, newest release first. */
export const runs: ReadonlyArray<Run> = []

/** The releases that cannot be tested, and why. */
export const notInstallable: Readonly<Record<string, string>> = {
  "2.41.3": "its own packages of 0.26.2 and later (`@n8n/agents`, `@n8n/ai-node-sdk`) are not in the registry"
}

/** The releases to test now: those of `N8N_MCP_VERSIONS`, with commas between, or CI's. */
const asked = (process.env["N8N_MCP_VERSIONS"] ?? Object.values(inCi).join()).split(",").map((version) =>
  version.trim()
)

/** Those of a major version. */
export const ofMajor = (major: Major): ReadonlyArray<string> =>
  asked.filter((version) => version.startsWith(`${major}.`))

/** Those that are not a version which there is a recipe for, such as `2.30`. */
export const notTestable: ReadonlyArray<string> = asked.filter((version) => !/^[12]\.\d+\.\d+$/.test(version))
