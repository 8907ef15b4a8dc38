/** The rules by which n8n itself finds what its next release breaks, from an installed n8n. */
import { readdirSync, realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type { Obj } from "../../../src/base/Json.ts"

type Node = Readonly<Record<string, unknown>>

/** An issue that n8n names: of a rule, in a workflow, about a node or the whole workflow. */
export interface Issue {
  readonly rule: string
  readonly since: string
  readonly workflow: unknown
  readonly node: string | undefined
}

interface Report {
  readonly workflowId?: unknown
  readonly issues: ReadonlyArray<{ readonly nodeName?: string }>
}

interface Rule {
  readonly id: string
  readonly getMetadata: () => { readonly version: string }
  readonly detectWorkflow?: (workflow: Obj, nodesByType: Map<unknown, Array<Node>>) => Promise<Report>
  readonly reset?: () => void
  readonly collectWorkflowData?: (workflow: Obj, nodesByType: Map<unknown, Array<Node>>) => Promise<void>
  readonly produceReport?: () => Promise<{ readonly affectedWorkflows: ReadonlyArray<Report> }>
}

/** Type of one version, or of several. */
interface Type {
  readonly getNodeType?: (version: unknown) => unknown
}

/** n8n's node types: the classes themselves, each loaded when a rule asks for it. */
const nodeTypes = (require: NodeJS.Require, packages: string) => {
  const loaded = new Map<string, Type>()
  const load = (name: string) => {
    const [, packageName = "", type = ""] = /^(.+)\.([^.]+)$/.exec(name) ?? []
    const folder = join(packages, packageName)
    const known: Record<string, { className: string; sourcePath: string }> = require(
      join(folder, "dist", "known", "nodes.json")
    )
    const entry = known[type]
    const module: Record<string, new() => Type> = entry === undefined ? {} : require(join(folder, entry.sourcePath))
    const Type = module[entry?.className ?? ""]
    if (Type === undefined) throw new Error(`n8n has no ${name}`)
    return new Type()
  }
  const get = (name: string) => {
    const type = loaded.get(name) ?? load(name)
    loaded.set(name, type)
    return type
  }
  return {
    getByNameAndVersion: (name: string, version: unknown) => {
      const type = get(name)
      return type.getNodeType === undefined ? type : type.getNodeType(version)
    }
  }
}

/** The rules about workflows of the n8n whose program is `bin`. */
export const load = (bin: string) => {
  const root = realpathSync(join(dirname(bin), ".."))
  const require = createRequire(join(root, "package.json"))
  // These turn rules off, as they would on n8n.
  delete process.env["NODES_EXCLUDE"]
  delete process.env["N8N_BLOCK_ENV_ACCESS_IN_NODE"]
  const types = nodeTypes(require, dirname(root))
  const rules = ["v2", "v3"].flatMap((version) => {
    const folder = join(root, "dist", "modules", "breaking-changes", "rules", version)
    return readdirSync(folder).filter((name) => name.endsWith(".rule.js")).flatMap((name) =>
      Object.values<unknown>(require(join(folder, name))).flatMap((exported): ReadonlyArray<Rule> =>
        typeof exported === "function" &&
          ["detectWorkflow", "collectWorkflowData"].some((key) => key in exported.prototype)
          ? [Reflect.construct(exported, [types])]
          : []
      )
    )
  })

  /** Every issue that n8n names in these workflows; malformed nodes make n8n skip a rule, so there may be none. */
  const issues = async (workflows: ReadonlyArray<Obj>): Promise<ReadonlyArray<Issue>> => {
    const found: Array<Issue> = []
    const add = (rule: Rule, workflow: unknown, { issues }: Report) =>
      found.push(...issues.map(({ nodeName }) => ({
        rule: rule.id,
        since: rule.getMetadata().version.replace(/^v(\d+)$/, "$1.0"),
        workflow,
        node: nodeName
      })))
    for (const rule of rules) rule.reset?.()
    for (const workflow of workflows) {
      const nodesByType = Map.groupBy(workflow["nodes"] as Array<Node>, ({ type }) => type)
      for (const rule of rules) {
        if (rule.detectWorkflow !== undefined) {
          add(rule, workflow["id"], await rule.detectWorkflow(workflow, nodesByType))
        }
        await rule.collectWorkflowData?.(workflow, nodesByType)
      }
    }
    for (const rule of rules) {
      const report = await rule.produceReport?.()
      for (const each of report?.affectedWorkflows ?? []) add(rule, each.workflowId, each)
    }
    return found
  }

  return { ids: rules.map(({ id }) => id), issues }
}
