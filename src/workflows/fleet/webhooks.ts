/** Webhooks of an n8n, and requests of its workflows to them. Pure. */
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import { nameOf, nodes, parametersOf, typeOf } from "../../n8n/model/Workflow.ts"

type Base = "webhook" | "form" | "mcp"

export interface Webhook {
  readonly base: Base
  /** A segment that begins with a colon stands for any text. */
  readonly segments: ReadonlyArray<string>
  /** Whether further segments may follow. */
  readonly isPrefix: boolean
  /** Absent if it takes any method. */
  readonly methods?: ReadonlyArray<string>
}

export interface Request {
  readonly url: string
  /** Absent if it is decided at run time. */
  readonly host?: string
  readonly base: Base
  readonly isTest: boolean
  /** A segment that is decided at run time is `undefined`. */
  readonly segments: ReadonlyArray<string | undefined>
  readonly method?: string
}

const split = (path: string) => path.split("/").filter((segment) => segment !== "")

/** Addresses of a workflow's triggers; n8n 1 puts ids before the path of a node without a `webhookId`. */
export const webhooksOf = (id: string, workflow: { readonly nodes?: unknown }): ReadonlyArray<Webhook> =>
  nodes(workflow).flatMap((node): ReadonlyArray<Webhook> => {
    if (node["disabled"] === true) return []
    const { httpMethod, multipleMethods, options, path } = parametersOf(node)
    const own = [str(path), str(obj(options)?.["path"]), str(node["webhookId"])].find(Boolean) ?? ""
    const webhookId = str(node["webhookId"])
    if (own.startsWith("=")) return []
    switch (typeOf(node)) {
      case "n8n-nodes-base.webhook": {
        const segments = split(own)
        const all = webhookId === undefined
          ? [segments, [id, nameOf(node).toLowerCase(), ...segments]]
          : [segments.some((segment) => segment.startsWith(":")) ? [webhookId, ...segments] : segments]
        const methods = multipleMethods === true
          ? arr(httpMethod ?? ["GET", "POST"]).map(String)
          : [str(httpMethod) ?? "GET"]
        return all.map((segments) => ({ base: "webhook", segments, isPrefix: false, methods }))
      }
      case "n8n-nodes-base.formTrigger":
        return [{ base: "form", segments: split(own), isPrefix: true }]
      case "@n8n/n8n-nodes-langchain.mcpTrigger":
        return [{ base: "mcp", segments: split(own), isPrefix: true }]
    }
    return webhookId === undefined ? [] : [{ base: "webhook", segments: [webhookId], isPrefix: true }]
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
  const type = typeOf(node)
  if (!hasUrl.has(type)) return undefined
  const parameters = parametersOf(node)
  const url = ["url", "endpointUrl", "sseEndpoint"].map((name) => str(parameters[name])).find(Boolean) ?? ""
  const [, before = "", base, test, path = ""] = bases.exec(literalParts(url)) ?? []
  if (base === undefined) return undefined
  const [, host] = /^\s*https?:\/\/([^/]+)/i.exec(before) ?? []
  const method = type.includes("mcp") ? undefined : str(parameters["method"] ?? parameters["requestMethod"] ?? "GET")
  return {
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
