/** The thread in which answers are checked, so that nothing a caller can write into a schema stops the service. */
import { parentPort } from "node:worker_threads"
import { type CheckJob, verdictOf } from "./StructuredVerdict.ts"

parentPort?.on("message", (job: CheckJob) => parentPort?.postMessage(verdictOf(job), []))
parentPort?.postMessage("ready", [])
