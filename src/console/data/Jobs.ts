/** Videos, batches and files of the account, which keys made. */
import { queryOptions } from "@tanstack/react-query"
import type { BatchObject, FileObject, VideoJob } from "../../client/Contract.ts"
import { api } from "./Client.ts"

/** While something runs, a page reads this often, in milliseconds. */
const WHILE_RUNNING = 2_000
const AT_REST = 15_000

const LONGEST_LIST = 100

export const isVideoRunning = ({ status }: VideoJob): boolean => status === "queued" || status === "processing"

export const isBatchRunning = ({ status }: BatchObject): boolean =>
  ["validating", "in_progress", "finalizing", "cancelling"].includes(status)

export const videosQuery = (limit: number = LONGEST_LIST) =>
  queryOptions({
    queryKey: ["videos", limit],
    refetchInterval: ({ state }) => (state.data?.some(isVideoRunning) === true ? WHILE_RUNNING : AT_REST),
    queryFn: async (): Promise<ReadonlyArray<VideoJob>> => (await api.call("videos.list", { query: { limit } })).data
  })

export const batchesQuery = queryOptions({
  queryKey: ["batches"],
  refetchInterval: ({ state }) => (state.data?.some(isBatchRunning) === true ? WHILE_RUNNING : AT_REST),
  queryFn: async (): Promise<ReadonlyArray<BatchObject>> =>
    (await api.call("batches.list", { query: { limit: LONGEST_LIST } })).data
})

export const filesQuery = queryOptions({
  queryKey: ["files"],
  queryFn: async (): Promise<ReadonlyArray<FileObject>> =>
    (await api.call("files.list", { query: { limit: LONGEST_LIST } })).data
})

/** Saves a file of the account under its name. */
export const download = async ({ filename, id }: { readonly id: string; readonly filename: string }): Promise<void> => {
  const content = await api.call("files.content", { path: { file_id: id } })
  const url = URL.createObjectURL(content)
  const link = document.createElement("a")
  link.href = url
  link.download = filename
  link.click()
  URL.revokeObjectURL(url)
}
