import { suite } from "./suite.ts"

suite("2", "running")
