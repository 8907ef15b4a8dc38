/** The server's version: that of package.json, which `src/packaging/manifests.ts` writes here. */
export const version = "0.2.0"
