/** The output names in n8n's packages, read without the catalogue. */
import * as OutputNames from "../../src/catalogue/OutputNames.ts"
import { lookups } from "../workflow/check/lookups.ts"

export const namesOf = OutputNames.of(lookups.find, lookups.evaluate)
