/** The thread that makes a sandbox clip. It posts its bytes as a message. */
import { parentPort, workerData } from "node:worker_threads"
import { clipOf } from "./FilmClip.ts"
import type { Scene } from "./FilmTicket.ts"

const clip = await clipOf(workerData as Scene)
parentPort?.postMessage(clip, [])
