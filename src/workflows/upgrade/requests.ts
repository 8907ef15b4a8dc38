/** Mappings of nodes that send, receive or start, and of nodes for files. */
import * as files from "./files.ts"
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
  "n8n-nodes-base.scheduleTrigger": scheduleTrigger,
  "n8n-nodes-base.html": files.html,
  "n8n-nodes-base.compression": files.compression,
  "n8n-nodes-base.convertToFile": files.convertToFile,
  "n8n-nodes-base.git": files.git,
  "n8n-nodes-base.rssFeedRead": files.rssFeedRead,
  "n8n-nodes-base.editImage": files.editImage
}

export const successors: mapping.Successors = {
  "n8n-nodes-base.cron": { to: ["n8n-nodes-base.scheduleTrigger"], change: fromCron },
  "n8n-nodes-base.interval": { to: ["n8n-nodes-base.scheduleTrigger"], change: fromInterval },
  "n8n-nodes-base.htmlExtract": { to: ["n8n-nodes-base.html"], change: files.fromHtmlExtract },
  "n8n-nodes-base.iCal": { to: ["n8n-nodes-base.convertToFile"], change: files.fromICal },
  "n8n-nodes-base.readBinaryFile": { to: ["n8n-nodes-base.readWriteFile"], change: files.fromReadBinaryFile },
  "n8n-nodes-base.readBinaryFiles": { to: ["n8n-nodes-base.readWriteFile"], change: files.fromReadBinaryFiles },
  "n8n-nodes-base.workflowTrigger": { to: ["n8n-nodes-base.n8nTrigger"], change: files.fromWorkflowTrigger },
  "n8n-nodes-base.readPDF": { to: ["n8n-nodes-base.extractFromFile"], change: files.fromReadPdf },
  "n8n-nodes-base.writeBinaryFile": { to: ["n8n-nodes-base.readWriteFile"], change: files.fromWriteBinaryFile },
  "n8n-nodes-base.spreadsheetFile": { to: ["n8n-nodes-base.convertToFile"], change: files.fromSpreadsheet }
}
