/** Connection to an MCP client (MCP Apps, SEP-1865): JSON-RPC with the parent window. */
import { isPictureMessage, metaKey } from "../Message.ts"
import type { Shown } from "../Page.ts"

interface Message {
  readonly jsonrpc?: string
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly [key: string]: unknown }
  readonly result?: { readonly [key: string]: unknown }
}

const height = 560

/** Receives tool answers from the client and shows their pictures. */
export const connect = (show: (shown: Shown, svg: string) => void, say: (text: string) => void): void => {
  const host = window.parent
  if (host === window) return say("Nothing to show: open this page in an MCP client.")
  const send = (message: object) => host.postMessage({ jsonrpc: "2.0", ...message }, "*")
  document.body.classList.add("app")

  const dress = (context: unknown) => {
    const { theme } = (context ?? {}) as { readonly theme?: unknown }
    if (theme !== "light" && theme !== "dark") return
    document.documentElement.dataset["theme"] = theme
    document.querySelector("#stage svg")?.setAttribute("data-theme", theme)
  }
  const showResult = (params: Message["params"]) => {
    const message = (params?.["_meta"] as { readonly [key: string]: unknown } | undefined)?.[metaKey]
    if (!isPictureMessage(message)) return say("There is no picture of this answer.")
    show(message.shown as Shown, message.svg)
    dress({ theme: document.documentElement.dataset["theme"] })
  }

  window.addEventListener("message", ({ data, source }: MessageEvent<Message | null>) => {
    if (source !== host || data === null || typeof data !== "object" || data.jsonrpc !== "2.0") return
    if (data.id === 1 && data.method === undefined) {
      dress(data.result?.["hostContext"])
      send({ method: "ui/notifications/initialized" })
      send({ method: "ui/notifications/size-changed", params: { width: document.body.scrollWidth, height } })
      return
    }
    if (data.method === "ui/notifications/tool-result") return showResult(data.params)
    if (data.method === "ui/notifications/tool-cancelled") return say("The call was cancelled.")
    if (data.method === "ui/notifications/host-context-changed") return dress(data.params)
    if (data.method === "ui/resource-teardown" || data.method === "ping") return send({ id: data.id, result: {} })
  })
  say("Waiting for the answer…")
  send({
    id: 1,
    method: "ui/initialize",
    params: {
      protocolVersion: "2026-01-26",
      appInfo: { name: "n8n workflow", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] }
    }
  })
}
