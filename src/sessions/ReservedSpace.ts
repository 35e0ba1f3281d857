/** The maximum reserved bytes per account, for turns that run or wait for their recording: twice the largest session. */
export const MAX_ACCOUNT_RESERVED_BYTES = 32 * 1_048_576

/** The maximum reserved bytes of all accounts, because responses stay in memory until the database has them. */
export const MAX_RESERVED_BYTES = 128 * 1_048_576

/** The room that a turn needs. */
export interface Size {
  readonly messages: number
  readonly bytes: number
}

/** The remaining room of a session and its account, according to the database. */
export interface RemainingSpace {
  readonly session: Size
  readonly accountBytes: number
}

interface SessionKey {
  readonly accountId: string
  readonly session: string
}

const nothing: Size = { messages: 0, bytes: 0 }

/** Adds to the amount under a name, and removes an entry that becomes zero. */
const add = (sizes: Map<string, Size>, name: string, { bytes, messages }: Size): void => {
  const before = sizes.get(name) ?? nothing
  const after = { messages: before.messages + messages, bytes: before.bytes + bytes }
  if (after.messages === 0) sizes.delete(name)
  else sizes.set(name, after)
}

/** The room that this node has promised to turns that are not recorded yet. */
export class ReservedSpace {
  readonly #sessions = new Map<string, Size>()
  readonly #accounts = new Map<string, Size>()
  #bytes = 0

  /** The total of promised bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Promises room to a turn if enough is left beside earlier promises. Returns a function that gives the room back, once. */
  take(place: SessionKey, size: Size, left: RemainingSpace): (() => void) | undefined {
    const session = this.#sessions.get(place.session) ?? nothing
    const account = this.#accounts.get(place.accountId) ?? nothing
    const fits =
      session.messages + size.messages <= left.session.messages &&
      session.bytes + size.bytes <= left.session.bytes &&
      account.bytes + size.bytes <= Math.min(left.accountBytes, MAX_ACCOUNT_RESERVED_BYTES) &&
      this.#bytes + size.bytes <= MAX_RESERVED_BYTES
    if (!fits) return undefined
    this.#add(place, size)
    let open = true
    return () => {
      if (open) this.#add(place, { messages: -size.messages, bytes: -size.bytes })
      open = false
    }
  }

  #add(place: SessionKey, size: Size): void {
    add(this.#sessions, place.session, size)
    add(this.#accounts, place.accountId, size)
    this.#bytes += size.bytes
  }
}
