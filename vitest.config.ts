import { defineConfig } from "vitest/config"

/** `pnpm test` runs everything but test/n8n; `pnpm test:n8n` (N8N_TEST=1) runs only that, against a real n8n. */
const real = process.env["N8N_TEST"] !== undefined

export default defineConfig({
  test: real
    ? { include: ["test/n8n/**/*.test.ts"], fileParallelism: false, testTimeout: 60_000, hookTimeout: 900_000 }
    : { include: ["test/**/*.test.ts"], exclude: ["test/n8n/**"], testTimeout: 15_000, hookTimeout: 60_000 }
})
