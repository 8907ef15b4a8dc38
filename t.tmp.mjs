import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { readFileSync } from "node:fs"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
const data = readFileSync("/tmp/kCpack/effect-n8n-mcp-0.1.0.tgz")
const { messages, pkg } = await publint({
  pack: { tarball: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) },
  strict: true
})
console.log(messages.map((m) => m.type + ": " + formatMessage(m, pkg)))
console.time("attw")
const r = await checkPackage(createPackageFromTarballData(new Uint8Array(data)), {
  excludeEntrypoints: ["./nodes.data"]
})
console.timeEnd("attw")
const by = {}
for (const p of r.problems) {
  const k = p.kind + " " + (p.resolutionKind ?? p.resolutionOption ?? "")
  ;(by[k] ??= []).push(p.entrypoint ?? p.fileName)
}
console.log(Object.keys(r.entrypoints).length, by)
