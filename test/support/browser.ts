#!/usr/bin/env node
/** `BROWSER` of a client that logs in: opens the address that it is given, as a person at a browser would. */
import { visit } from "./IdentityProvider.ts"

await visit(process.argv[2] ?? "")
