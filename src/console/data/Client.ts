/** The way to the gateway: the cookies of sessions, which no script reads, and their CSRF tokens, which only memory holds. */
import { type Client, createClient, TollgateError } from "../../client/Package.ts"

/** Where the gateway's API is, without `/api/v1`. */
export const origin = location.origin

/** A client with the cookie of one kind of session. */
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

const ofOwner = makeSessionClient()
const ofOperator = makeSessionClient()

/** Calls as the signed-in owner. */
export const api: Client = ofOwner.client

/** Keeps the token that an owner's requests other than GET send. */
export const keepCsrfToken = ofOwner.keep

/** Calls as the signed-in operator. */
export const operatorApi: Client = ofOperator.client

/** Keeps the token that an operator's requests other than GET send. */
export const keepOperatorCsrfToken = ofOperator.keep

/** Calls with an inference key, without the cookie. `seen` gets each response before its body is read. */
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

/** Whether a call failed because no owner is signed in. Operations that take keys as well name the key as what is missing. */
export const isSignedOut = (error: unknown): boolean => error instanceof TollgateError && error.status === 401

/** A failed call in words, with what the operator needs to find it. */
export const wordsOf = (error: unknown): { readonly message: string; readonly requestId: string | undefined } => {
  if (error instanceof TollgateError) return { message: error.message, requestId: error.requestId }
  return {
    message: error instanceof Error ? "The gateway did not answer. Check the connection and try again." : String(error),
    requestId: undefined
  }
}
