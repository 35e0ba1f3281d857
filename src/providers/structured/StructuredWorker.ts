/** The thread that checks answers, so that no schema of a caller can block the service. */
import { parentPort } from "node:worker_threads"
import { type CheckJob, verdictOf } from "./StructuredVerdict.ts"

parentPort?.on("message", (job: CheckJob) => parentPort?.postMessage(verdictOf(job), []))
parentPort?.postMessage("ready", [])
