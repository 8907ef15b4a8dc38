/** The three servers, and their calls for the same tasks. */
import { buildSync } from "esbuild"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Call, Command } from "./McpProcess.ts"
import type * as peer from "./peer.ts"

/** Our server, npm's `n8n-mcp`, and a minimal one. */
export const names = ["ours", "peer", "floor"] as const

/** The name of a contender. */
export type Name = typeof names[number]

/** The address and API key of n8n. */
export interface Target {
  readonly url: URL
  readonly apiKey: string
}

/** A large execution: `node` ran late and returned `items` items, whose ids are their positions. */
export interface Execution {
  readonly id: string
  readonly node: string
  readonly items: number
}

/** A measured server. */
export interface Contender {
  readonly title: string
  readonly command: (target: Target) => Command
  /** Lists all workflows; the answer contains `workflow`. */
  readonly listWorkflows: (workflow: string) => Call
  /** Reads the summary of an execution. */
  readonly getExecution: (execution: Execution) => Call
  /** Searches nodes for a task. */
  readonly searchNodes?: (task: string) => Call
  /** The node types in an answer of `searchNodes`, best first. */
  readonly typesIn?: (answer: string) => ReadonlyArray<string>
  /** Reads 50 items of its late node from far inside, or from the start if the server cannot skip. */
  readonly getNode?: (execution: Execution) => Call
}

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const itemLimit = 50

const captureAll = (pattern: RegExp) => (answer: string) =>
  Array.from(answer.matchAll(pattern), ([, type = ""]) => type.replace(/^.*\./, ""))

/** Bundles the floor as our server is bundled, into `folder`. */
const bundledFloor = (folder: string) => {
  const outfile = join(folder, "floor.mjs")
  buildSync({
    entryPoints: [file("floor.mjs")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node22",
    mainFields: ["module", "main"],
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: "error",
    banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" }
  })
  return outfile
}

/** Makes the contenders; `home` is an empty folder that serves as the user's home. */
export const make = (home: string, installed: peer.Installed): Readonly<Record<Name, Contender>> => {
  const floor = bundledFloor(home)
  const command = (main: string, env: Readonly<Record<string, string>>): Command => ({
    args: [main],
    env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home, ...env },
    cwd: home
  })
  return {
    ours: {
      title: "effect-n8n-mcp",
      command: ({ apiKey, url }) =>
        command(file("../../dist/main.js"), { N8N_URL: url.href, N8N_API_KEY: apiKey, LOG_LEVEL: "error" }),
      listWorkflows: (workflow) => ({ tool: "list_workflows", args: { limit: 100 }, expect: workflow }),
      getExecution: ({ id, node }) => ({ tool: "get_execution", args: { id }, expect: node }),
      searchNodes: (keyword) => ({ tool: "node_search", args: { keyword }, expect: "\"success\":true" }),
      typesIn: captureAll(/"id":"([^"]+)"/g),
      getNode: ({ id, items, node }) => {
        const itemOffset = Math.floor(items * 0.9)
        return {
          tool: "get_execution_by_node",
          args: { id, nodeName: node, itemOffset, itemLimit },
          expect: `{"id":${itemOffset},`
        }
      }
    },
    peer: {
      title: "n8n-mcp",
      command: ({ apiKey, url }) =>
        command(installed.main, {
          N8N_API_URL: url.href.replace(/\/$/, ""),
          N8N_API_KEY: apiKey,
          MCP_MODE: "stdio",
          LOG_LEVEL: "error",
          DISABLE_CONSOLE_OUTPUT: "true",
          N8N_MCP_TELEMETRY_DISABLED: "true",
          // Otherwise it refuses an n8n on this machine.
          WEBHOOK_SECURITY_MODE: "moderate"
        }),
      listWorkflows: (workflow) => ({ tool: "n8n_list_workflows", args: { limit: 100 }, expect: workflow }),
      getExecution: ({ id, node }) => ({
        tool: "n8n_executions",
        args: { action: "get", id, mode: "summary" },
        expect: node
      }),
      searchNodes: (query) => ({ tool: "search_nodes", args: { query, limit: 10 }, expect: "results" }),
      typesIn: captureAll(/"workflowNodeType":\s*"([^"]+)"/g),
      getNode: ({ id, node }) => ({
        tool: "n8n_executions",
        args: {
          action: "get",
          id,
          mode: "filtered",
          nodeNames: [node],
          itemsLimit: itemLimit,
          includeInputData: true
        },
        expect: node
      })
    },
    floor: {
      title: "floor",
      command: ({ apiKey, url }) => command(floor, { N8N_URL: url.href, N8N_API_KEY: apiKey }),
      listWorkflows: () => ({
        tool: "download",
        args: { path: "workflows?limit=100&excludePinnedData=true" },
        expect: `"status":200`
      }),
      getExecution: ({ id }) => ({
        tool: "download",
        args: { path: `executions/${id}?includeData=true` },
        expect: `"status":200`
      })
    }
  }
}
