import { HTTP_SECONDS } from "./Buckets.ts"
import { family, type Instruments } from "./Instruments.ts"

/** The figures of an HTTP request that has ended. */
export interface HttpFigures {
  readonly method: string
  /** The path of the operation with names in place of ids; undefined when no operation matched. */
  readonly route: string | undefined
  /** The status of the response; 0 when the connection closed before it. */
  readonly status: number
  /** The code of the error in the response, if there was one. */
  readonly error: string | undefined
  readonly durationMs: number
}

/** Counts the requests of the public server. */
export const httpInstruments = (instruments: Instruments) => {
  let inFlight = 0
  let count = 0
  instruments.gauge("http.server.active_requests", "Requests being answered", "{request}", () => inFlight)
  const requests = family((statusClass) =>
    instruments.counter("svc.http.requests", "Requests answered, by class of status", "{request}", {
      "http.response.status_class": statusClass!
    })
  )
  const durations = family((method, route, status, error) =>
    instruments.histogram(
      "http.server.request.duration",
      "Requests, from their headers to the last byte of the response",
      "s",
      HTTP_SECONDS,
      {
        "http.request.method": method!,
        ...(route === "" ? {} : { "http.route": route! }),
        ...(status === "0" ? {} : { "http.response.status_code": status! }),
        ...(error === "" ? {} : { "error.type": error! })
      }
    )
  )
  return {
    arrived: () => {
      inFlight++
      count++
    },
    /** How many requests arrived so far, and how many of them are being answered. */
    seen: () => ({ count, inFlight }),
    left: ({ durationMs, error = "", method, route = "", status }: HttpFigures) => {
      inFlight--
      requests(status === 0 ? "none" : `${Math.floor(status / 100)}xx`)(1)
      durations(method, route, String(status), error)(durationMs / 1_000)
    }
  }
}
