/** Short guides to topics that n8n's node descriptions leave out: `n8n://guide/{topic}`. */
import { agents } from "./agents.ts"
import { errors } from "./errors.ts"
import { expressions } from "./expressions.ts"
import type { Guide } from "./guide.ts"
import { loops } from "./loops.ts"
import { pagination } from "./pagination.ts"
import { webhooks } from "./webhooks.ts"

export type { Guide, GuideWorkflow } from "./guide.ts"

/** All guides. */
export const all: ReadonlyArray<Guide> = [errors, loops, webhooks, agents, expressions, pagination]
