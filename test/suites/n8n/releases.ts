/** The releases of n8n that the suite runs against, and what came of it: what README says of versions is made of this. */
import * as elsewhere from "./elsewhere.ts"

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

const withoutDrafts = "its API writes no drafts: a change of a published workflow takes effect at once"

/** The latest run of each, newest release first. */
export const runs: ReadonlyArray<Run> = [
  {
    version: "2.30.8",
    date: "2026-11-22",
    passed: 94,
    failed: 5,
    note: `${withoutDrafts}; those that fail ask for what came later: tests of credentials, source control's status`
  },
  {
    version: "2.20.12",
    date: "2026-11-22",
    passed: 86,
    failed: 11,
    note:
      `${withoutDrafts}; its API has no data tables, packages or tests of credentials, and refuses newer settings in a push`
  }
]

/** The releases that could not be installed, and why. */
export const notInstallable: Readonly<Record<string, string>> = {
  "2.41.3":
    "could not be installed: its packages `@n8n/agents` 0.26.2 and `@n8n/ai-node-sdk` 0.31.2 were not in the registry"
}

/** What README says. */
export const table = [
  "| n8n | the suite | |",
  "| --- | --- | --- |",
  ...Object.entries(notInstallable).map(([version, why]) => `| ${version} | not run | ${why} |`),
  `| ${inCi["2"]} | at every change | |`,
  ...runs.map(({ date, failed, note = "", passed, version }) =>
    `| ${version} | ${date}: ${passed} passed, ${failed} failed | ${note} |`
  ),
  `| ${
    inCi["1"]
  } | at every change what differs, each night all | no drafts, versions or list of credentials in its API |`
].join("\n")

/** The releases to test now: that of `N8N_SUITE_URL`, those of `N8N_MCP_VERSIONS`, with commas between, or CI's. */
export const asked = elsewhere.version === undefined
  ? (process.env["N8N_MCP_VERSIONS"] ?? Object.values(inCi).join()).split(",").map((version) => version.trim())
  : [elsewhere.version]

/** Those of a major version. */
export const ofMajor = (major: Major): ReadonlyArray<string> =>
  asked.filter((version) => version.startsWith("1.") === (major === "1"))

/** Whether all is tested on a release, and not only what differs from n8n 2: then none of these is asked for. */
export const isWhole = (version: string) =>
  process.env["N8N_MCP_RELEASES"] === "all" || !version.startsWith("1.") || ofMajor("2").length === 0

/** Those that are not a version which there is a recipe for, such as `2.30`. */
export const notTestable: ReadonlyArray<string> = asked.filter((version) => !/^[1-9]\.\d+\.\d+/.test(version))
