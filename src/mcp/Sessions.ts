/**
 * The sessions of MCP clients that use a revision with sessions. The MCP server keeps a session in the memory of the node that opened
 * it, and for ever. Here a session belongs to one key, any node continues one that another node or process opened, and unused ones
 * are dropped.
 */
import { Effect } from "effect"

/** The most sessions that one node keeps. A dropped session is opened again when its client comes back. */
const MAX_SESSIONS = 2_000

/** The most ended sessions that one node remembers, so that it does not continue them. */
const MAX_ENDED = 10_000

/** A session's id at the client. UUIDs have 36 characters. */
const ID = /^[\x21-\x7e]{1,128}$/

interface Session {
  /** Its id in the MCP server of this node. */
  readonly inner: Effect.Effect<string | undefined>
  /** How many of its requests are running. */
  requests: number
}

/** Opens and ends sessions in the MCP server of this node. */
export interface InnerSessions {
  /** Opens one for a client that speaks this revision; undefined when the server refuses. */
  readonly open: (revision: string) => Effect.Effect<string | undefined>
  readonly end: (inner: string) => Effect.Effect<void>
}

/** The revision of a client that names none, by the specification. */
export const DEFAULT_REVISION = "2025-03-26"

/** The sessions of one node. */
export class McpSessions {
  readonly #inner: InnerSessions
  readonly #most: number
  readonly #sessions = new Map<string, Session>()
  readonly #ended = new Set<string>()

  constructor(inner: InnerSessions, most = MAX_SESSIONS) {
    this.#inner = inner
    this.#most = most
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Records a session that the MCP server has opened under this id for a client with this key. */
  opened(keyId: string, id: string): Effect.Effect<void> {
    return this.#keep(nameOf(keyId, id), Effect.succeed(id))
  }

  /**
   * Runs a request of a session with the id that the session has in the MCP server of this node; undefined when the session has
   * ended or the id is not valid.
   */
  within<A, E, R>(
    keyId: string,
    id: string,
    revision: string,
    run: (inner: string | undefined) => Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const name = nameOf(keyId, id)
      if (!ID.test(id) || this.#ended.has(name)) return run(undefined)
      const known = this.#sessions.get(name)
      const kept =
        known === undefined
          ? Effect.flatMap(Effect.cached(this.#inner.open(revision)), (inner) => this.#keep(name, inner))
          : Effect.sync(() => this.#touch(name, known))
      return Effect.flatMap(kept, () => {
        const session = this.#sessions.get(name)
        if (session === undefined) return run(undefined)
        session.requests += 1
        return Effect.ensuring(
          Effect.flatMap(session.inner, run),
          Effect.sync(() => void (session.requests -= 1))
        )
      })
    })
  }

  /** Ends a session for its client. */
  end(keyId: string, id: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const name = nameOf(keyId, id)
      const session = this.#sessions.get(name)
      this.#sessions.delete(name)
      const [oldest] = this.#ended
      if (this.#ended.size >= MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest)
      this.#ended.add(name)
      return session === undefined ? Effect.void : this.#endInner(session)
    })
  }

  #endInner({ inner }: Session): Effect.Effect<void> {
    return Effect.flatMap(inner, (id) => (id === undefined ? Effect.void : this.#inner.end(id)))
  }

  #touch(name: string, session: Session): void {
    this.#sessions.delete(name)
    this.#sessions.set(name, session)
  }

  /** Keeps a session, and drops the one that was unused the longest when there are too many. */
  #keep(name: string, inner: Session["inner"]): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#sessions.has(name)) return Effect.void
      this.#sessions.set(name, { inner, requests: 0 })
      if (this.#sessions.size <= this.#most) return Effect.void
      for (const [old, session] of this.#sessions) {
        if (session.requests > 0 || old === name) continue
        this.#sessions.delete(old)
        return this.#endInner(session)
      }
      return Effect.void
    })
  }
}

const nameOf = (keyId: string, id: string): string => `${keyId} ${id}`
