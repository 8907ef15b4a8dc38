/** Builds `dist/picture.html`, the page of pictures, of the sources in `src/pictures/page`. */
import { buildSync } from "esbuild"
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as MapSvg from "../pictures/MapSvg.ts"
import { places } from "../pictures/PicturePage.ts"
import * as Svg from "../pictures/Svg.ts"
import { dist, root } from "./metadata.ts"

const folder = join(root, "src/pictures/page")

const [bundle] = buildSync({
  absWorkingDir: root,
  entryPoints: [join(folder, "viewer.ts")],
  bundle: true,
  write: false,
  minify: true,
  format: "iife",
  platform: "browser",
  target: "es2022",
  charset: "ascii",
  legalComments: "none",
  logLevel: "warning"
}).outputFiles
const script = bundle?.text.trim() ?? ""
const css = Svg.variables(":root") + readFileSync(join(folder, "page.css"), "utf8").replaceAll("\n", "")

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

/** Allows only the content of the file, and no requests. */
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(css)} ${hash(Svg.style)} ${hash(MapSvg.style)}`,
  "base-uri 'none'",
  "form-action 'none'"
].join("; ")

const parts = { ...places, policy, css, script }
const page = readFileSync(join(folder, "page.html"), "utf8").replace(
  /\{\{(\w+)\}\}/g,
  (_, name: keyof typeof parts) => parts[name]
)

mkdirSync(dist, { recursive: true })
writeFileSync(join(dist, "picture.html"), page)
