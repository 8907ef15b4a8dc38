import { suite } from "./suite.ts"

suite("1.123.81")
