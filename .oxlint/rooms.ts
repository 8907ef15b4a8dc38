/** The rooms of `src`, and what a module of each may import. */

/** Rooms that a room may import besides itself; `*` is all of them. The modules beside the rooms may import anything. */
export const rooms: { readonly [room: string]: string } = {
  base: "",
  n8n: "base",
  catalogue: "base n8n",
  credentials: "base n8n catalogue",
  workflow: "base n8n catalogue",
  executions: "base n8n workflow",
  workflows: "base n8n catalogue credentials workflow",
  tables: "base n8n workflow workflows",
  fleet: "base n8n catalogue credentials workflow workflows",
  trials: "base n8n catalogue credentials executions workflow workflows fleet",
  pictures: "base n8n catalogue executions workflow workflows fleet",
  sync: "base n8n credentials workflow workflows fleet",
  watch: "base n8n catalogue credentials executions workflow workflows",
  answer: "base",
  tools: "base n8n catalogue credentials tables executions workflow workflows fleet trials pictures sync watch answer",
  mcp: "base answer",
  testing: "base n8n mcp",
  demo: "base testing",
  app:
    "base n8n catalogue credentials tables executions workflow workflows fleet trials pictures sync watch answer tools mcp testing demo",
  packaging: "*"
}

/** Packages that only some rooms see. */
const packages: ReadonlyArray<{ readonly name: string; readonly hiddenFrom: string }> = [
  {
    name: "@modelcontextprotocol/",
    hiddenFrom:
      "base n8n executions catalogue credentials tables workflow workflows fleet trials pictures sync watch answer tools"
  },
  { name: "effect/http/", hiddenFrom: "answer tools" }
]

const has = (list: string | undefined, room: string) => list === "*" || (list ?? "").split(" ").includes(room)

/** The path of an imported module below `src`. */
const resolve = (file: string, specifier: string) => new URL(specifier, `file:///${file}`).pathname.slice(1)

/** The reason why a module of `src` (its path below `src`) may not import this; `undefined` if it may. */
export const objection = (file: string, specifier: string): string | undefined => {
  const room = file.includes("/") ? file.split("/")[0] ?? "" : undefined
  if (!specifier.startsWith(".")) {
    const hidden = room !== undefined &&
      packages.find((each) => specifier.startsWith(each.name) && has(each.hiddenFrom, room))
    return hidden ? `The room '${room}' does not know ${hidden.name}**.` : undefined
  }
  const target = resolve(file, specifier)
  if (target === "main.ts") return "Nothing imports the command line."
  // A tool can be imported by its path, without the others of its folder.
  if (/(^|\/)[a-z]\w*\/(?!index\.ts$)[a-z]\w*\.ts$/.test(specifier) && !specifier.includes("/tools/")) {
    return "A lower-case file is its folder's own: enter the folder through a module with a capital."
  }
  const [entered = "", ...below] = target.split("/")
  if (room === undefined || entered === room || below.length === 0) return undefined
  if (rooms[room] === undefined) return `The room '${room}' is missing in .oxlint/rooms.ts.`
  return has(rooms[room], entered) ? undefined : `The room '${room}' does not know '${entered}': imports run downward.`
}
