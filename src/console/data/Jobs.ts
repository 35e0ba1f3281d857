/** The videos, batches and files of the account. */
import { queryOptions } from "@tanstack/react-query"
import type { BatchObject, FileObject, VideoJob } from "../../client/Contract.ts"
import { api } from "./Client.ts"
import { download } from "./Download.ts"

/** How often a page reads its list while a job runs, and while none does. */
const RUNNING_MS = 2_000
const IDLE_MS = 15_000

/** The maximum number of videos, batches or files that a page lists. */
export const MAX_JOBS = 100

/** Whether a video still waits or renders. */
export const isVideoRunning = ({ status }: VideoJob): boolean => status === "queued" || status === "processing"

/** Whether a batch still changes. */
export const isBatchRunning = ({ status }: BatchObject): boolean =>
  ["validating", "in_progress", "finalizing", "cancelling"].includes(status)

export const videosQuery = (limit: number = MAX_JOBS) =>
  queryOptions({
    queryKey: ["videos", limit],
    refetchInterval: ({ state }) => (state.data?.some(isVideoRunning) === true ? RUNNING_MS : IDLE_MS),
    queryFn: async (): Promise<ReadonlyArray<VideoJob>> => (await api.call("videos.list", { query: { limit } })).data
  })

export const batchesQuery = queryOptions({
  queryKey: ["batches"],
  refetchInterval: ({ state }) => (state.data?.some(isBatchRunning) === true ? RUNNING_MS : IDLE_MS),
  queryFn: async (): Promise<ReadonlyArray<BatchObject>> =>
    (await api.call("batches.list", { query: { limit: MAX_JOBS } })).data
})

export const filesQuery = queryOptions({
  queryKey: ["files"],
  queryFn: async (): Promise<ReadonlyArray<FileObject>> =>
    (await api.call("files.list", { query: { limit: MAX_JOBS } })).data
})

/** Reads a file of the account and saves it as a file of the reader. */
export const saveFile = async ({ filename, id }: { readonly id: string; readonly filename: string }): Promise<void> =>
  download(filename, await api.call("files.content", { path: { file_id: id } }))
