import { suite } from "./suite.ts"

suite("1", "running", "proving")
