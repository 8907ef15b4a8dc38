/** The expected verdict of each scenario of the official conformance suite. */

/**
 * The servers under test, all on the real transport.
 *
 * **Details**
 *
 * `demo` is the program itself, `ours` is `McpServer` with the suite's fixtures, and `byHand` is methods by hand with
 * features that `McpServer` does not have: it tests the eras and the transport.
 */
export type Server = "demo" | "ours" | "byHand"

/** A verdict; `untested` scenarios were skipped by the suite itself. */
export type Verdict = "passed" | "failed" | "untested"

/** A scenario and its expected verdict. */
export interface Expected {
  readonly scenario: string
  readonly server: Server
  readonly verdict: Verdict
  /** Why it does not pass, or why passing means nothing. */
  readonly why?: string
  /** The only protocol version to run it at, which the suite need not have for it; all of its own if absent. */
  readonly at?: string
}

const passing = (server: Server, scenarios: ReadonlyArray<string>): ReadonlyArray<Expected> =>
  scenarios.map((scenario) => ({ scenario, server, verdict: "passed" }))

/** Runs scenarios without a version at the newest one that begins with `initialize`. */
const older = (expected: ReadonlyArray<Expected>) => expected.map((each) => ({ ...each, at: "2025-11-25" }))

/** Scenarios for any server with tools, resources and prompts, such as the program itself. */
export const program: ReadonlyArray<Expected> = [
  ...passing("demo", [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "sep-2164-resource-not-found",
    "caching",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest"
  ]),
  ...older(passing("demo", ["sep-2640-skills-enumeration", "sep-2640-skills-manifest"]))
]

/** Scenarios that need the suite's own tools, resources and prompts. */
export const fixtures: ReadonlyArray<Expected> = [
  ...passing("ours", [
    "tools-call-simple-text",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "resources-read-text",
    "resources-templates-read",
    "prompts-get-simple",
    "prompts-get-with-args",
    "completion-complete"
  ]),
  ...passing("byHand", [
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "resources-read-binary",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "server-stateless",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-missing-input-response",
    "input-required-result-non-tool-request",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input"
  ]),
  ...passing("demo", ["server-sse-multiple-streams"]).map((each) => ({ ...each, at: "2026-07-28" }))
]

const except = (
  server: Server,
  verdict: Verdict,
  because: string,
  scenarios: Readonly<Record<string, string>>
): ReadonlyArray<Expected> =>
  Object.entries(scenarios).map(([scenario, why]) => ({ scenario, server, verdict, why: `${because}: ${why}` }))

const stateless = "each request stands alone"
const noQuestions = "over HTTP nobody is asked before 2026-07-28"
const optional = "a feature that servers need not have"
const extension = "an extension that is not declared"

/** Scenarios that do not pass, with the reason; one with another verdict must be removed from this list. */
export const exceptions: ReadonlyArray<Expected> = [
  ...except("demo", "untested", stateless, {
    "server-session-lifecycle": "no session is given out, so none can be ended"
  }),
  ...except("demo", "failed", stateless, {
    "server-sse-polling": "no stream is kept that a client could come back to",
    "logging-set-level": "a level would have to last; the log goes to stderr",
    "tools-call-with-logging": "it sets a level first; the log goes to stderr",
    "resources-subscribe": "nobody is left to tell, and GET /mcp is 405",
    "resources-unsubscribe": "there is no subscription to end"
  }),
  ...older(except("demo", "failed", stateless, {
    "server-sse-multiple-streams": "the streams are looked for in a session; at 2026-07-28 they are not"
  })),
  ...except("ours", "failed", noQuestions, {
    "tools-call-elicitation": "the tool is told `unasked`, as where a client cannot ask"
  }),
  ...except("byHand", "failed", noQuestions, {
    "tools-call-sampling": "what the client can do was said in another request",
    "elicitation-sep1034-defaults": "what the client can do was said in another request",
    "elicitation-sep1330-enums": "what the client can do was said in another request"
  }),
  ...except("demo", "failed", optional, {
    "http-custom-header-server-validation": "no tool wants its arguments repeated as Mcp-Param headers"
  }),
  ...except("demo", "failed", extension, {
    "tasks-lifecycle": "tasks",
    "tasks-wire-fields": "tasks",
    "tasks-request-state-removal": "tasks",
    "tasks-mrtr-input": "tasks",
    "tasks-request-headers": "tasks",
    "tasks-dispatch-and-envelope": "tasks",
    "tasks-required-task-error": "tasks",
    "tasks-mrtr-composition": "tasks"
  }),
  ...except("demo", "untested", extension, {
    "tasks-status-notifications": "tasks, and the suite leaves it out by itself"
  }),
  // At 2026-07-28 these end without a verdict.
  ...older(except("demo", "failed", extension, {
    "tasks-capability-negotiation": "tasks"
  })),
  ...older(except("demo", "untested", extension, {
    "sep-2640-skills-directory": "folders of skills are an optional feature"
  }))
]

/** All scenarios. */
export const all: ReadonlyArray<Expected> = [...program, ...fixtures, ...exceptions]
