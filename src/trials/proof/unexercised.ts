/** Changes that no replayed run could show. Pure. */
import { equals } from "../../base/Json.ts"
import * as Execution from "../../executions/Execution.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { isNote, type Node } from "../../n8n/model/Workflow.ts"
import type * as Groups from "./Groups.ts"

interface Version {
  readonly nodes: ReadonlyArray<Node>
  readonly connections: Connections.Connections
}

/** Recorded run and its replay, with the former names of nodes by name. */
interface Run {
  readonly record: Execution.Execution
  readonly replay: Execution.Execution
  readonly names: ReadonlyMap<string, string>
}

/** Settings that only matter when a node fails. */
const onFailure = ["onError", "continueOnFail", "retryOnFail", "maxTries", "waitBetweenTries"]

const always = ["type", "typeVersion", "parameters", "credentials", "disabled", "alwaysOutputData", "executeOnce"]

const isEqual = (one: unknown, other: unknown) => (one ?? false) === (other ?? false) || equals(one, other)

/** Names of the nodes after each main output of a node. */
const targets = ({ connections }: Version, name: string, nameOf: (name: string) => string) => {
  const all: Array<Array<string>> = []
  for (const { from, output, to } of Connections.links(connections)) {
    if (from === name && output.type === "main") (all[output.index] ??= []).push(nameOf(to))
  }
  return Array.from(all, (each = []) => each.toSorted())
}

const usedOutputs = (runs: ReadonlyArray<Execution.Run> = []) =>
  runs.flatMap(({ outputs }) =>
    outputs.flatMap(({ count, index, type }) => type === "main" && count > 0 ? [index] : [])
  )

/** Changes from one version to another of which no run reached the node, failed at it, or used its output. */
export const changes = (
  before: Version,
  after: Version,
  runs: ReadonlyArray<Run>
): ReadonlyArray<Groups.NotReplayed> => {
  const formerOf = (name: string) => runs.map(({ names }) => names.get(name)).find((each) => each !== undefined) ?? name
  const today = new Map(after.nodes.map(({ name }) => [formerOf(name), name]))
  const subNodes = new Set(
    Connections.links(after.connections).flatMap(({ from, output }) => output.type === "main" ? [] : [from])
  )
  return after.nodes.flatMap((node): ReadonlyArray<Groups.NotReplayed> => {
    const { name } = node
    if (isNote(node) || subNodes.has(name)) return []
    const former = before.nodes.find((each) => each.name === formerOf(name))
    const hasRun = runs.some(({ replay }) => replay.runs.has(name))
    if (former === undefined) return hasRun ? [] : [{ node: name, why: "new, and no run reaches it" }]
    const changed = (keys: ReadonlyArray<string>) => keys.filter((key) => !isEqual(node[key], former[key]))
    const failing = changed(onFailure)
    if (!hasRun) {
      return [...changed(always), ...failing].length === 0
        ? []
        : [{ node: name, why: "changed, and no run reaches it" }]
    }
    const hasFailed = runs.some(({ record, replay }) =>
      [record.runs.get(former.name), replay.runs.get(name)].some((all) => all?.some(({ error }) => error !== undefined))
    )
    const used = new Set(
      runs.flatMap(({ record, replay }) => [
        ...usedOutputs(record.runs.get(former.name)),
        ...usedOutputs(replay.runs.get(name))
      ])
    )
    const [old, now] = [
      targets(before, former.name, (each) => today.get(each) ?? each),
      targets(after, name, (each) => each)
    ]
    const outputs = Array.from({ length: Math.max(old.length, now.length) }, (_, index) => index)
      .filter((index) => !used.has(index) && !equals(old[index] ?? [], now[index] ?? []))
    return [
      ...(failing.length > 0 && !hasFailed
        ? [{ node: name, why: `${failing.join(", ")} changed, and it failed in no run` }]
        : []),
      ...outputs.map((index) => ({ node: name, why: `links of output ${index} changed, and no run used it` }))
    ]
  })
}
