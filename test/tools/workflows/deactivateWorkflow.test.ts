import * as tools from "../../../src/tools/index.ts"
import { changesPublication } from "./publishing.ts"

changesPublication(tools.deactivateWorkflow, false)
