/** Reads receipts over HTTP, untyped, for assertions. */
import { Effect, Schedule } from "effect"
import { get, json, type Service } from "./Service.ts"

type Api = Pick<Service, "api">

/** Reads the receipt of a request. */
export const receiptOf = ({ api }: Api, key: string, id: string | null) =>
  Effect.flatMap(get(`${api}/requests/${id}`, key), json)

/** Reads the receipt of the request that a response answers. */
export const receiptOfResponse = (service: Api, key: string, { headers }: Response) =>
  receiptOf(service, key, headers.get("x-request-id"))

/** Polls the receipt of a request until the request has ended. */
export const endedReceiptOf = (service: Api, key: string, id: string | null) =>
  Effect.repeat(receiptOf(service, key, id), {
    until: ({ status }) => status !== "open",
    schedule: Schedule.spaced("10 millis")
  })
