import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { LegacyAccess, LegacyEnvelope } from "../Access.ts"
import { textOf } from "../Bounds.ts"
import { LegacyConflictError, LegacyIdempotencyError, LegacyNotFoundError } from "../LegacyErrors.ts"
import { operation } from "../Operation.ts"
import { idempotency } from "./ChatGroup.ts"
import { Session, SessionExport, SessionRequest } from "./Sessions.ts"

const free = { limit: "default", charge: "free" } as const

/** Sessions of the legacy chat, which stay available. With newer endpoints, the client keeps the history. */
export class SessionsGroup extends HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.post("createSession", "/sessions", {
      headers: idempotency,
      payload: SessionRequest,
      success: Session,
      error: [LegacyConflictError, LegacyIdempotencyError]
    }).annotateMerge(operation("sessions.create", "Open a session, or return the one with this `session_id`", free)),
    HttpApiEndpoint.get("exportSession", "/sessions/:id/export", {
      params: {
        /** The session's own `id`. */
        id: textOf(1, 160)
      },
      success: SessionExport,
      error: LegacyNotFoundError
    }).annotateMerge(operation("sessions.export", "Retrieve a session with its messages", free))
  )
  .middleware(LegacyAccess)
  .middleware(LegacyEnvelope) {}
