/** Script of the page: pan, zoom, search and details, standalone or in an MCP client. */
import { isPictureMessage, metaKey } from "../Message.ts"
import type { Shown } from "../PicturePage.ts"

interface Message {
  readonly jsonrpc?: string
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly [key: string]: unknown }
  readonly result?: { readonly [key: string]: unknown }
}

const height = 560

/** Receives tool answers from the client and shows their pictures. */
const connect = (show: (shown: Shown, svg: string) => void, say: (text: string) => void): void => {
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

type ShownNode = Shown["nodes"][number]

const byId = <E extends HTMLElement>(id: string): E => {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`#${id}`)
  return element as E
}

const stage = byId("stage")
const nav = byId("nodes")
const menu = byId("menu")
const list = byId("list")
const details = byId("details")
const search = byId<HTMLInputElement>("search")

let view = { x: 0, y: 0, width: 1, height: 1 }
let whole = view
let nodes: ReadonlyArray<ShownNode> = []
let about: Shown | undefined
let opener: Element | null = null

const svg = () => stage.querySelector("svg")

const inPicture = (id: string) => stage.querySelector<SVGGElement>(`[data-node="${CSS.escape(id)}"]`)

const showList = (wanted: boolean) => {
  const isOpen = wanted && menu.getClientRects().length > 0
  nav.classList.toggle("open", isOpen)
  menu.setAttribute("aria-expanded", String(isOpen))
}

const element = <K extends keyof HTMLElementTagNameMap>(name: K, text: string, className = "") => {
  const made = document.createElement(name)
  made.textContent = text
  made.className = className
  return made
}

// Pan and zoom

const leastScale = 0.35

const look = (next: typeof view) => {
  view = next
  svg()?.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`)
}

const onCanvas = (x: number, y: number) => {
  const matrix = svg()?.getScreenCTM()
  return matrix === null || matrix === undefined ? undefined : new DOMPoint(x, y).matrixTransform(matrix.inverse())
}

const zoom = (factor: number, at?: { readonly x: number; readonly y: number }) => {
  const { x, y } = at ?? { x: view.x + view.width / 2, y: view.y + view.height / 2 }
  const scale = Math.min(Math.max(view.width * factor, 120), whole.width * 4) / view.width
  look({
    x: x - (x - view.x) * scale,
    y: y - (y - view.y) * scale,
    width: view.width * scale,
    height: view.height * scale
  })
}

const move = (x: number, y: number) => look({ ...view, x: view.x + x, y: view.y + y })

const scaleOf = ({ height, width }: typeof view) => Math.min(stage.clientWidth / width, stage.clientHeight / height)

/** Box of a node on the canvas, with its name. */
const boxOf = (id: string) => {
  const box = inPicture(id)?.getBoundingClientRect()
  const [start, end] = [box && onCanvas(box.left, box.top), box && onCanvas(box.right, box.bottom)]
  return start && end && { x: start.x, y: start.y, width: end.x - start.x, height: end.y - start.y }
}

const around = (x: number, y: number, scale: number) => {
  const [width, height] = [stage.clientWidth / scale, stage.clientHeight / scale]
  look({ x: x - width / 2, y: y - height / 2, width, height })
}

const [readable, leastOnNarrow] = [0.7, 0.55]

const centre = (id: string) => {
  const box = boxOf(id)
  if (box === undefined) return
  const scale = scaleOf(view)
  around(box.x + box.width / 2, box.y + box.height / 2, scale < leastScale ? readable : scale)
}

/** Room around nodes that are shown closely, in pixels of the canvas. */
const surroundings = 160

/** The view that a page opens with: all, what is near, or on a narrow screen where the picture begins. */
const start = ({ focus, near = [] }: Shown) => {
  look(whole)
  const boxes = near.flatMap((id) => boxOf(id) ?? [])
  const [left, top] = [Math.min(...boxes.map(({ x }) => x)), Math.min(...boxes.map(({ y }) => y))]
  const right = Math.max(...boxes.map(({ width, x }) => x + width))
  const bottom = Math.max(...boxes.map(({ height, y }) => y + height))
  const close = {
    x: left - surroundings,
    y: top - surroundings,
    width: right - left + 2 * surroundings,
    height: bottom - top + 2 * surroundings
  }
  const scale = boxes.length === 0 ? 0 : Math.min(1, scaleOf(close))
  const isNarrow = stage.clientWidth < 500
  if (scale > Math.max(scaleOf(whole), isNarrow ? leastScale : 0)) {
    return around(close.x + close.width / 2, close.y + close.height / 2, scale)
  }
  if (!isNarrow || scaleOf(whole) >= leastOnNarrow) return
  const [first] = nodes.flatMap(({ id }) => boxOf(id) ?? []).toSorted((a, b) => a.x - b.x || a.y - b.y)
  const at = focus === undefined ? undefined : boxOf(focus)
  if (at !== undefined) around(at.x + at.width / 2, at.y + at.height / 2, readable)
  else if (first !== undefined) {
    const half = stage.clientHeight / readable / 2
    around(
      first.x - 24 + stage.clientWidth / readable / 2,
      // Not above the picture.
      Math.max(first.y + first.height / 2, whole.y + half),
      readable
    )
  }
}

type Place = { readonly x: number; readonly y: number }

const middle = (places: ReadonlyArray<Place>): Place => ({
  x: places.reduce((sum, { x }) => sum + x, 0) / places.length,
  y: places.reduce((sum, { y }) => sum + y, 0) / places.length
})

const spread = ([a, b]: ReadonlyArray<Place>) =>
  a === undefined || b === undefined ? 1 : Math.max(1, Math.hypot(a.x - b.x, a.y - b.y))

const listenToPointer = () => {
  const pointers = new Map<number, Place>()
  let hasMoved = false
  stage.addEventListener("pointerdown", ({ button, clientX, clientY, pointerId }) => {
    if (button !== 0) return
    if (pointers.size === 0) hasMoved = false
    pointers.set(pointerId, { x: clientX, y: clientY })
  })
  stage.addEventListener("pointermove", ({ buttons, clientX, clientY, pointerId }) => {
    const last = pointers.get(pointerId)
    if (last === undefined || buttons === 0) return
    if (!hasMoved && Math.hypot(clientX - last.x, clientY - last.y) < 4) return
    if (!hasMoved) stage.setPointerCapture(pointerId)
    hasMoved = true
    const before = [...pointers.values()]
    const after = [...pointers.set(pointerId, { x: clientX, y: clientY }).values()]
    const [from, to] = [middle(before), middle(after)]
    const [start, end] = [onCanvas(from.x, from.y), onCanvas(to.x, to.y)]
    if (start === undefined || end === undefined) return
    move(start.x - end.x, start.y - end.y)
    if (after.length > 1) zoom(spread(before) / spread(after), start)
  })
  for (const end of ["pointerup", "pointercancel"] as const) {
    // The capture ends with the pointer, and so may leave the page.
    window.addEventListener(end, ({ pointerId }) => pointers.delete(pointerId))
  }
  stage.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-node]") : null
    if (!hasMoved && target !== null) pick(target.getAttribute("data-node") ?? "", target)
  })
  stage.addEventListener("wheel", (event) => {
    // Within a conversation the wheel scrolls the conversation.
    if (document.body.classList.contains("app") && !event.ctrlKey && !event.metaKey) return
    event.preventDefault()
    zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) / 300), onCanvas(event.clientX, event.clientY))
  }, { passive: false })
}

// Details

const lineElement = (line: string) => {
  const sign = line.startsWith("+") ? "new" : line.startsWith("-") ? "old" : ""
  return element("span", `${line}\n`, sign)
}

const sectionElements = ({ isDiff, text, title }: ShownNode["sections"][number]) => {
  const body = document.createElement("pre")
  // Focusable, so that it can be scrolled with the keyboard.
  body.tabIndex = 0
  if (isDiff === true) body.append(...text.split("\n").map(lineElement))
  else body.textContent = text
  return [element("h3", title), body]
}

const close = () => {
  details.hidden = true
  for (const node of stage.querySelectorAll(".picked")) node.classList.remove("picked")
  for (const button of list.querySelectorAll("[aria-current]")) button.removeAttribute("aria-current")
  if (opener instanceof HTMLElement || opener instanceof SVGElement) opener.focus()
  opener = null
}

const open = (title: string, facts: ReadonlyArray<string>, sections: ShownNode["sections"]) => {
  const button = element("button", "×", "close")
  button.setAttribute("aria-label", "Close")
  button.addEventListener("click", close)
  const heading = element("h2", title)
  heading.tabIndex = -1
  heading.dir = "auto"
  details.replaceChildren(
    button,
    heading,
    ...facts.map((fact) => element("p", fact)),
    ...sections.flatMap(sectionElements),
    ...(sections.length === 0 ? [element("p", "There are no further details.")] : [])
  )
  details.hidden = false
  details.scrollTop = 0
  return heading
}

const pick = (id: string, from: Element | null) => {
  const node = nodes.find((each) => each.id === id)
  if (node === undefined) return
  close()
  opener = from
  inPicture(id)?.classList.add("picked")
  list.querySelector(`[data-id="${CSS.escape(id)}"]`)?.setAttribute("aria-current", "true")
  const facts = [
    node.label,
    ...(node.formerName === undefined ? [] : [`formerly ${node.formerName}`]),
    ...(node.statusText === undefined ? [] : [node.statusText])
  ]
  const heading = open(node.name, facts, node.sections)
  if (from !== null) heading.focus()
}

// List and search

const fillList = () => {
  list.replaceChildren(...nodes.map((node) => {
    const button = element("button", node.name, node.status === undefined ? "" : `s-${node.status}`)
    button.type = "button"
    button.dir = "auto"
    button.dataset["id"] = node.id
    if (node.statusText !== undefined) {
      const status = element("small", node.statusText)
      status.dir = "auto"
      button.append(status)
    }
    button.addEventListener("click", () => {
      const isDrawer = nav.classList.contains("open")
      showList(false)
      pick(node.id, isDrawer ? menu : button)
      centre(node.id)
    })
    const item = document.createElement("li")
    item.append(button)
    return item
  }))
}

const matches = (node: ShownNode, words: string) =>
  [node.name, node.label, node.formerName ?? "", node.statusText ?? "", ...node.sections.map(({ text }) => text)]
    .some((text) => text.toLowerCase().includes(words))

const find = () => {
  const words = search.value.trim().toLowerCase()
  let count = 0
  for (const [index, node] of nodes.entries()) {
    const isFound = words === "" || matches(node, words)
    if (isFound) count++
    inPicture(node.id)?.classList.toggle("found", words !== "" && isFound)
    inPicture(node.id)?.classList.toggle("missed", !isFound)
    const item = list.children[index]
    if (item instanceof HTMLElement) item.hidden = !isFound
  }
  byId("found").textContent = words === "" ? "" : `${count} of ${nodes.length}`
}

// Start

const show = (shown: Shown, picture?: string) => {
  if (picture !== undefined) {
    const parsed = new DOMParser().parseFromString(picture, "image/svg+xml").documentElement
    if (parsed.localName !== "svg") return
    stage.replaceChildren(document.importNode(parsed, true))
  }
  close()
  about = shown
  nodes = shown.nodes
  document.title = shown.title
  byId("title").textContent = shown.title
  byId("subtitle").textContent = shown.subtitle
  const canvas = svg()
  const [x = 0, y = 0, width = 1, height = 1] = (canvas?.getAttribute("viewBox") ?? "").split(" ").map(Number)
  whole = { x, y, width, height }
  canvas?.removeAttribute("width")
  canvas?.removeAttribute("height")
  byId("whole").hidden = shown.sections.length === 0
  search.value = ""
  fillList()
  find()
  look(whole)
  if (shown.focus !== undefined) pick(shown.focus, null)
  else if (shown.near !== undefined) open(shown.title, [shown.subtitle], shown.sections)
  // After the details, which take a part of the screen.
  start(shown)
}

/** Closes the last thing opened: the search, the list on a narrow screen, or the details. */
const closeOne = () => {
  if (search === document.activeElement) {
    search.value = ""
    find()
    return showList(false)
  }
  if (!nav.classList.contains("open")) return close()
  showList(false)
  menu.focus()
}

const press = (event: KeyboardEvent) => {
  if (event.key === "Escape") return closeOne()
  const target = event.target
  if (target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return
  if (target instanceof SVGElement && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault()
    pick(target.getAttribute("data-node") ?? "", target)
    return
  }
  const step = view.width / 10
  const keys: { readonly [key: string]: () => void } = {
    "+": () => zoom(0.8),
    "=": () => zoom(0.8),
    "-": () => zoom(1.25),
    "0": () => look(whole),
    "/": () => (event.preventDefault(), search.focus()),
    ...(target instanceof SVGElement || target === stage
      ? {
        ArrowLeft: () => move(-step, 0),
        ArrowRight: () => move(step, 0),
        ArrowUp: () => move(0, -step),
        ArrowDown: () => move(0, step)
      }
      : {})
  }
  keys[event.key]?.()
}

byId("in").addEventListener("click", () => zoom(0.8))
byId("out").addEventListener("click", () => zoom(1.25))
byId("fit").addEventListener("click", () => look(whole))
byId("whole").addEventListener("click", (event) => {
  if (about === undefined) return
  close()
  opener = event.currentTarget as Element
  open(about.title, [about.subtitle], about.sections).focus()
})
menu.addEventListener("click", () => showList(!nav.classList.contains("open")))
stage.addEventListener("pointerdown", () => showList(false))
search.addEventListener("input", () => {
  find()
  showList(search.value !== "")
})
search.addEventListener("keydown", ({ key }) => {
  const first = list.querySelector<HTMLButtonElement>("li:not([hidden]) button")
  if (key === "Enter") first?.click()
})
document.addEventListener("keydown", press)
listenToPointer()

const embedded = JSON.parse(byId("data").textContent ?? "null") as Shown | null
if (embedded === null) {
  connect((shown, picture) => show(shown, picture), (text) => (byId("subtitle").textContent = text))
} else show(embedded)
