/** Builds `dist/picture.html`, the page of pictures, of the sources in `src/pictures/page`. */
import { buildSync } from "esbuild"
import { createHash } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { places } from "../pictures/Page.ts"
import * as Svg from "../pictures/Svg.ts"
import { root } from "./metadata.ts"

const folder = join(root, "src/pictures/page")

const [bundle] = buildSync({
  absWorkingDir: root,
  entryPoints: [join(folder, "main.ts")],
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
  `style-src ${hash(css)} ${hash(Svg.style)}`,
  "base-uri 'none'",
  "form-action 'none'"
].join("; ")

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${places.title}</title>
<style>${css}</style>
</head>
<body>
<header>
<div><h1 id="title" dir="auto">${places.title}</h1><p id="subtitle"></p></div>
<span id="found" role="status"></span>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search nodes">
<button id="whole" type="button" hidden>Whole workflow</button>
<button id="out" type="button" aria-label="Zoom out">−</button>
<button id="fit" type="button" aria-label="Show all">Fit</button>
<button id="in" type="button" aria-label="Zoom in">+</button>
</header>
<main>
<nav aria-label="Nodes"><ul id="list"></ul></nav>
<div id="stage">${places.picture}</div>
<aside id="details" aria-label="Details" hidden></aside>
</main>
<script type="application/json" id="data">${places.data}</script>
<script>${script}</script>
</body>
</html>
`

mkdirSync(join(root, "dist"), { recursive: true })
writeFileSync(join(root, "dist/picture.html"), page)
