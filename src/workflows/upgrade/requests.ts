/** Mappings of nodes that send, receive or start, and of nodes for files. */
import { request } from "./http.ts"
import * as mapping from "./mapping.ts"
import data from "./requests.json" with { type: "json" }
import { fromCron, fromInterval, scheduleTrigger } from "./schedule.ts"
import { form, formTrigger, respondToWebhook, webhook } from "./webhooks.ts"

export const steps: mapping.Steps = {
  ...mapping.steps(data),
  "n8n-nodes-base.httpRequest": request,
  "n8n-nodes-base.webhook": webhook,
  "n8n-nodes-base.respondToWebhook": respondToWebhook,
  "n8n-nodes-base.formTrigger": formTrigger,
  "n8n-nodes-base.form": form,
  "n8n-nodes-base.scheduleTrigger": scheduleTrigger
}

export const successors: mapping.Successors = {
  "n8n-nodes-base.cron": { to: ["n8n-nodes-base.scheduleTrigger"], change: fromCron },
  "n8n-nodes-base.interval": { to: ["n8n-nodes-base.scheduleTrigger"], change: fromInterval }
}
