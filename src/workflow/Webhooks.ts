/** Addresses of triggers, requests of nodes to such addresses, and the answers that callers get. Pure. */
import { arr, type Obj, obj, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"

type Base = "webhook" | "form" | "mcp"

export const webhookType = "n8n-nodes-base.webhook"

/** Address of a trigger. */
export interface Webhook {
  /** Name of the trigger. */
  readonly node: string
  readonly base: Base
  /** A segment that begins with a colon stands for any text. */
  readonly segments: ReadonlyArray<string>
  readonly isPrefix: boolean
  readonly methods?: ReadonlyArray<string>
}

/** Request to an address that has the form of a webhook's. */
export interface Request {
  /** Parameter with the URL. */
  readonly parameter: string
  readonly url: string
  readonly host?: string
  readonly base: Base
  readonly isTest: boolean
  /** A segment that is decided at run time is `undefined`. */
  readonly segments: ReadonlyArray<string | undefined>
  readonly method?: string
}

const split = (path: string) => path.split("/").filter((segment) => segment !== "")

/** Methods that a Webhook node takes. */
export const methodsOf = (node: object): ReadonlyArray<string> => {
  const { httpMethod, multipleMethods } = Workflow.parametersOf(node)
  return multipleMethods === true ? arr(httpMethod ?? ["GET", "POST"]).map(String) : [str(httpMethod) ?? "GET"]
}

/** Segments of the path at which a node with a `webhookId` answers; `undefined` if an expression computes the path. */
export const segmentsOf = (node: object): ReadonlyArray<string> | undefined => {
  const { options, path } = Workflow.parametersOf(node)
  const webhookId = str(obj(node)?.["webhookId"])
  const own = [str(path), str(obj(options)?.["path"]), webhookId].find(Boolean) ?? ""
  if (own.startsWith("=")) return undefined
  const segments = split(own)
  const isTemplate = Workflow.typeOf(node) === webhookType && segments.some((segment) => segment.startsWith(":"))
  return isTemplate && webhookId !== undefined ? [webhookId, ...segments] : segments
}

/** Addresses of a workflow's triggers; n8n 1 puts ids before the path of a node without a `webhookId`. */
export const of = (id: string, workflow: { readonly nodes?: unknown }): ReadonlyArray<Webhook> =>
  Workflow.enabledNodes(workflow).flatMap((each): ReadonlyArray<Webhook> => {
    const node = Workflow.nameOf(each)
    const webhookId = str(each["webhookId"])
    const segments = segmentsOf(each)
    if (segments === undefined) return []
    switch (Workflow.typeOf(each)) {
      case webhookType: {
        const all = webhookId === undefined ? [segments, [id, node.toLowerCase(), ...segments]] : [segments]
        return all.map((segments) => ({ node, base: "webhook", segments, isPrefix: false, methods: methodsOf(each) }))
      }
      case "n8n-nodes-base.formTrigger":
        return [{ node, base: "form", segments, isPrefix: true }]
      case "@n8n/n8n-nodes-langchain.mcpTrigger":
        return [{ node, base: "mcp", segments, isPrefix: true }]
    }
    return webhookId === undefined ? [] : [{ node, base: "webhook", segments: [webhookId], isPrefix: true }]
  })

const hasUrl: ReadonlySet<string> = new Set([
  "n8n-nodes-base.httpRequest",
  "n8n-nodes-base.httpRequestTool",
  "@n8n/n8n-nodes-langchain.toolHttpRequest",
  "@n8n/n8n-nodes-langchain.mcpClientTool",
  "@n8n/n8n-nodes-langchain.mcpClient"
])

/** Sign for a part of a URL that is decided at run time. */
const open = "\uFFFC"
const bases = /^(.*?)\/(webhook|form|mcp)(-test)?\/([^?#]*)/s
const literalWithPath = /(["'`])((?:(?!\1).)*\/(?:webhook|form|mcp)(?:-test)?\/(?:(?!\1).)*)\1\s*(\+)?/s

/** URL whose parts decided at run time are replaced by a sign, those beside a literal path in an expression too. */
const literalParts = (url: string): string =>
  // A `{placeholder}` of an HTTP tool is filled in by the model.
  !url.startsWith("=") ?
    url.replace(/\{[^{}]*\}/g, open) :
    url.slice(1).replace(/\{\{(.*?)\}\}/gs, (_, inner: string) => {
      const [, , text = "", plus] = literalWithPath.exec(inner.replace(/\$\{[^}]*\}/g, open)) ?? []
      return text === "" ? open : `${text.startsWith("http") ? "" : open}${text}${plus === undefined ? "" : open}`
    })

const decoded = (segment: string) => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Request of a node, if the literal part of its URL has the form of a webhook's. */
export const requestOf = (node: Obj): Request | undefined => {
  const type = Workflow.typeOf(node)
  if (!hasUrl.has(type)) return undefined
  const parameters = Workflow.parametersOf(node)
  const parameter = ["url", "endpointUrl", "sseEndpoint"].find((name) => Boolean(str(parameters[name]))) ?? ""
  const url = str(parameters[parameter]) ?? ""
  const [, before = "", base, test, path = ""] = bases.exec(literalParts(url)) ?? []
  if (base === undefined) return undefined
  const [, host] = /^\s*https?:\/\/([^/]+)/i.exec(before) ?? []
  const method = type.includes("mcp") ? undefined : str(parameters["method"] ?? parameters["requestMethod"] ?? "GET")
  return {
    parameter,
    url,
    base: base as Base,
    isTest: test !== undefined,
    segments: split(path).map((segment) => segment.includes(open) ? undefined : decoded(segment)),
    ...(host === undefined || host.includes(open) ? {} : { host: host.toLowerCase() }),
    ...(method === undefined || method.startsWith("=") ? {} : { method })
  }
}

/** Whether a request goes to a webhook's address, by whatever method. */
export const isTo = ({ base, segments }: Request, webhook: Webhook): boolean =>
  base === webhook.base &&
  (webhook.isPrefix ? segments.length >= webhook.segments.length : segments.length === webhook.segments.length) &&
  webhook.segments.every((segment, index) => segment.startsWith(":") || segments[index] === segment)

export const takes = ({ methods }: Webhook, { method }: Request): boolean =>
  methods === undefined || method === undefined || methods.includes(method)

const loopback = /^(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?::(\d+))?$/

/** Whether a host is this n8n's, which may also call itself on its own machine. */
export const isHostOf = (hosts: ReadonlySet<string>) => (host: string): boolean => {
  const [, , port = "80"] = loopback.exec(host) ?? []
  return hosts.has(host) ||
    loopback.test(host) && (port === "5678" || [...hosts].some((each) => loopback.exec(each)?.[2] === port))
}

/** Whether other workflows start a workflow by this trigger. */
export const isCalled = (trigger: Obj): boolean =>
  trigger["disabled"] !== true && Workflow.typeOf(trigger) === "n8n-nodes-base.executeWorkflowTrigger"

/** Moment at which a trigger answers its caller; `undefined` if no caller waits. */
export const responseMode = (trigger: Obj): string | undefined => {
  const { options, responseMode } = Workflow.parametersOf(trigger)
  const type = Workflow.typeOf(trigger)
  const isChat = type.endsWith(".chatTrigger")
  if (!isChat && !/\.(webhook|formTrigger)$/.test(type)) return undefined
  const mode = str(responseMode) ?? str(obj(options)?.["responseMode"]) ?? (isChat ? "lastNode" : "onReceived")
  return mode === "onReceived" ? undefined : mode
}

/** Whether the caller gets the items of the last node that runs. */
export const returnsLast = (trigger: Obj): boolean => responseMode(trigger) === "lastNode" || isCalled(trigger)

/** Whether some caller of a workflow gets the items of the last node. */
export const returnsItems = (workflow: Obj): boolean => Workflow.nodes(workflow).some(returnsLast)
