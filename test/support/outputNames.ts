/** The names of outputs as n8n's packages say, read without the catalogue. */
import * as OutputNames from "../../src/catalogue/OutputNames.ts"
import { lookups } from "../workflows/check/lookups.ts"

export const namesOf = OutputNames.of(lookups.find, lookups.evaluate)
