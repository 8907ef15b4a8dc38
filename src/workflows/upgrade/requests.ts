/** Mappings of nodes that send, receive or start, and of nodes for files. */
import { request } from "./http.ts"
import type { Steps, Successors } from "./mapping.ts"

export const steps: Steps = {
  "n8n-nodes-base.httpRequest": request
}

export const successors: Successors = {}
