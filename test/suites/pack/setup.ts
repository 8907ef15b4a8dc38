/** Builds the installable packages once, as for a release, and notes whether the program was away meanwhile. */
import { spawn } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../src/packaging/metadata.ts"
import { printed } from "./artifacts.ts"

const main = join(root, "dist/main.js")

export default () =>
  new Promise<void>((resolve, reject) => {
    const wasThere = existsSync(main)
    const child = spawn("pnpm", ["package"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] })
    let output = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text))
    let absent = 0
    const look = setInterval(() => void (wasThere && !existsSync(main) && absent++), 20)
    child.on("close", (code) => {
      clearInterval(look)
      if (code !== 0) return reject(new Error(`pnpm package exited with ${code}\n${output}`))
      writeFileSync(printed, `${output}absent: ${absent}\n`)
      resolve()
    })
  })
