/** Recorded answers of n8n 2.41.1. */
import { readFileSync } from "node:fs"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../fixtures/${name}.json`, import.meta.url), "utf8"))

/** The names of the recorded executions. */
export const names = ["branch", "loop", "fail", "contErr", "httpFail", "merge", "binary", "wait", "big12"] as const
export type Name = typeof names[number]

/** `GET /workflows/{id}`. */
export const workflow = (name: Name) => read(`workflow-${name}`) as N8nApi.Workflow

/** `GET /executions/{id}?includeData=true`. */
export const execution = (name: Name) => read(`execution-${name}`) as N8nApi.Execution

/** The initial state of an n8n that holds all of them. */
export const seed = { workflows: names.map(workflow), executions: names.map(execution) }

/** The id of a recorded execution. */
export const executionId = (name: Name): string => execution(name).id

/** The id of a recorded workflow. */
export const workflowId = (name: Name): string => workflow(name).id
