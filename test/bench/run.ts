/** `pnpm bench NAME`: runs one benchmark; without a name the comparison with other servers. */
const benches = {
  servers: () => import("./servers.ts"),
  starts: () => import("./starts.ts"),
  load: () => import("./load.ts"),
  growth: () => import("./growth.ts"),
  instance: () => import("./instance.ts"),
  runs: () => import("./runs.ts"),
  page: () => import("./page.ts"),
  changes: () => import("./changes.ts"),
  proof: () => import("./proof.ts"),
  upgrade: () => import("./upgrade.ts")
}

const isBench = (name: string): name is keyof typeof benches => Object.hasOwn(benches, name)

const name = process.argv.slice(2).find((argument) => !argument.startsWith("-")) ?? "servers"
if (isBench(name)) {
  // The rest of the line is the benchmark's own.
  process.argv = process.argv.filter((argument, index) => index < 2 || argument !== name)
  await benches[name]()
} else {
  process.stderr.write(`No benchmark is called '${name}': ${Object.keys(benches).join(", ")}\n`)
  process.exitCode = 1
}
