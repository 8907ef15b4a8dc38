/** Modules of trials that are loaded when they are first needed: most servers and programs never prove, retry or drill. */
import * as Lazy from "../base/Lazy.ts"

export const batchProof = Lazy.load(() => import("./proof/BatchProof.ts"))

export const callersProof = Lazy.load(() => import("./proof/CallersProof.ts"))

export const caseSet = Lazy.load(() => import("./CaseSet.ts"))

export const drill = Lazy.load(() => import("./drill/Drill.ts"))

export const proof = Lazy.load(() => import("./proof/Proof.ts"))

export const retry = Lazy.load(() => import("./Retry.ts"))
