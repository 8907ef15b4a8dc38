/** Mappings of nodes that shape and route data. */
import type { Steps, Successors } from "./mapping.ts"
import { filterNodes, ifs, switches } from "./routes.ts"
import { set } from "./set.ts"

const base = "n8n-nodes-base."

export const steps: Steps = {
  [`${base}set`]: set,
  [`${base}if`]: ifs,
  [`${base}filter`]: filterNodes,
  [`${base}switch`]: switches
}

export const successors: Successors = {}
