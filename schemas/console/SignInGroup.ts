import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OwnerAccess, SignInAccess } from "../Access.ts"
import { NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { OwnerSessionList, OwnerSessionPage } from "./Sessions.ts"
import { ConsoleSession, SessionsEnded, SignInCode, SignInRequest, SignInSent } from "./SignIn.ts"

const open = { limit: "default", charge: "free" } as const
const reads = { limit: "console_reads", charge: "free" } as const
const writes = { limit: "console_writes", charge: "free" } as const

/** Signing in to the console with a code sent by email. */
export class ConsoleSignInGroup extends HttpApiGroup.make("consoleSignIn")
  .add(
    HttpApiEndpoint.post("requestCode", "/console/sign-in", {
      payload: SignInRequest,
      success: SignInSent
    }).annotateMerge(operation("console.sign_in.create", "Send a code for signing in or up", open)),
    HttpApiEndpoint.post("verifyCode", "/console/sign-in/verify", {
      payload: SignInCode,
      success: ConsoleSession
    }).annotateMerge(
      operation(
        "console.sign_in.verify",
        "Sign in with a code, which sets a cookie; a new address gets a new account",
        open
      )
    )
  )
  .middleware(SignInAccess) {}

/** The sessions of the console. */
export class ConsoleSessionGroup extends HttpApiGroup.make("consoleSession")
  .add(
    HttpApiEndpoint.get("getSession", "/console/session", { success: ConsoleSession }).annotateMerge(
      operation("console.session.get", "Retrieve the current session", reads)
    ),
    HttpApiEndpoint.delete("endSession", "/console/session", { success: SessionsEnded }).annotateMerge(
      operation("console.session.delete", "Sign out", writes)
    ),
    HttpApiEndpoint.get("listSessions", "/console/sessions", {
      query: OwnerSessionPage,
      success: OwnerSessionList
    }).annotateMerge(operation("console.sessions.list", "List the sessions that have not ended, newest first", reads)),
    HttpApiEndpoint.delete("endListedSession", "/console/sessions/:session_id", {
      params: {
        /** The id of a session. */
        session_id: ResourceId
      },
      success: SessionsEnded,
      error: NotFoundError
    }).annotateMerge(operation("console.sessions.end", "End a session", writes)),
    HttpApiEndpoint.delete("endOtherSessions", "/console/sessions/others", { success: SessionsEnded }).annotateMerge(
      operation("console.sessions.end_others", "Sign out everywhere else", writes)
    ),
    HttpApiEndpoint.delete("endSessions", "/console/sessions", { success: SessionsEnded }).annotateMerge(
      operation("console.sessions.delete", "Sign out everywhere", writes)
    )
  )
  .middleware(OwnerAccess) {}
