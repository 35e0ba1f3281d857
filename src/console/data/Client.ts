/** The clients of the gateway. Scripts cannot read the cookies of the sessions, and only memory holds their CSRF tokens. */
import { type Client, createClient, TollgateError } from "../../client/Package.ts"

/** The origin of the gateway's API. */
export const origin = location.origin

/** Creates a client that sends the cookie and the CSRF token of one kind of session. */
const makeSessionClient = () => {
  const session: { csrf: string | undefined } = { csrf: undefined }
  const fromHere: typeof fetch = (input, init = {}) => {
    const headers = new Headers(init.headers)
    if ((init.method ?? "GET") !== "GET" && session.csrf !== undefined) headers.set("x-csrf-token", session.csrf)
    return fetch(input, { ...init, headers, credentials: "same-origin" })
  }
  return {
    client: createClient({ baseUrl: origin, fetch: fromHere, maxRetries: 1 }),
    keep: (token: string | undefined): void => {
      session.csrf = token
    }
  }
}

const ownerClient = makeSessionClient()
const operatorClient = makeSessionClient()

/** Calls as the signed-in owner. */
export const api: Client = ownerClient.client

/** Keeps the CSRF token for the owner's requests other than GET. */
export const keepCsrfToken = ownerClient.keep

/** Calls as the signed-in operator. */
export const operatorApi: Client = operatorClient.client

/** Keeps the CSRF token for the operator's requests other than GET. */
export const keepOperatorCsrfToken = operatorClient.keep

/** Creates a client with an inference key and without the cookie. `seen` gets each response before the client reads its body. */
export const clientWithKey = (apiKey: string, seen: (response: Response) => void = () => undefined): Client =>
  createClient({
    apiKey,
    baseUrl: origin,
    maxRetries: 0,
    fetch: async (input, init) => {
      const response = await fetch(input, { ...init, credentials: "omit" })
      seen(response)
      return response
    }
  })

/** Whether a call failed because the session has ended. The error codes differ, because some operations also accept keys. */
export const isSignedOut = (error: unknown): boolean => error instanceof TollgateError && error.status === 401

/** Whether the same call will fail again, because it names something that does not exist or has a wrong form. */
export const isFinal = (error: unknown): boolean =>
  error instanceof TollgateError && [400, 404, 410, 422].includes(error.status)

/** The message of a failed call, with the id by which an operator finds it. */
export const wordsOf = (error: unknown): { readonly message: string; readonly requestId: string | undefined } => {
  if (error instanceof TollgateError) return { message: error.message, requestId: error.requestId }
  return {
    message: error instanceof Error ? "The gateway did not answer. Check the connection and try again." : String(error),
    requestId: undefined
  }
}
