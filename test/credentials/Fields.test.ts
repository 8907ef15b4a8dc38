import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import * as CredentialValues from "../../src/credentials/CredentialValues.ts"

/** Names in the hosts of URLs that n8n's nodes and credentials put together: `https://${credentials.subdomain}.example`. */
const inHosts = (): ReadonlySet<string> => {
  const names = new Set<string>()
  for (const root of ["node_modules/n8n-nodes-base", "node_modules/@n8n/n8n-nodes-langchain"]) {
    for (const file of globSync(`${root}/dist/{nodes,credentials,utils}/**/*.js`)) {
      for (const [, host = ""] of readFileSync(file, "utf8").matchAll(/["'`=]https?:\/\/([^/"'`\s]*[{][^/"'`\s]*)/g)) {
        for (const [expression] of host.matchAll(/\{[^}]*\}/g)) {
          for (const [name] of expression.matchAll(/[A-Za-z_$][\w$]*/g)) names.add(name)
        }
      }
    }
  }
  return names
}

describe("Fields", () => {
  it("takes for harmless no text that is in the host of a URL of n8n's packages", () => {
    const names = inHosts()
    assert.includeMembers([...names], ["appName", "subdomain", "region"])
    const plain = [...names].filter((name) =>
      CredentialValues.fields({ [name]: { type: "string" } }, { [name]: false }).some(({ kind }) => kind === "plain")
    )
    assert.deepStrictEqual(plain, [])
  })
})
