/** Of one account, bytes of turns that are asked or on their way to the database: two of the largest sessions there are. */
export const MAX_ACCOUNT_RESERVED_BYTES = 32 * 1_048_576

/** The same of all accounts, for what is answered is kept in memory until the database has it. */
export const MAX_RESERVED_BYTES = 128 * 1_048_576

/** What a turn takes. */
export interface Size {
  readonly messages: number
  readonly bytes: number
}

/** How much is left of a session and of its account, as the database has them. */
export interface Left {
  readonly session: Size
  readonly accountBytes: number
}

interface Place {
  readonly accountId: string
  readonly session: string
}

const nothing: Size = { messages: 0, bytes: 0 }

/** Adds to what is kept under a name, of which nothing is left over once it is nothing. */
const add = (sizes: Map<string, Size>, name: string, { bytes, messages }: Size): void => {
  const before = sizes.get(name) ?? nothing
  const after = { messages: before.messages + messages, bytes: before.bytes + bytes }
  if (after.messages === 0) sizes.delete(name)
  else sizes.set(name, after)
}

/** Room that this node has promised to turns which are not recorded yet. */
export class Reserved {
  readonly #sessions = new Map<string, Size>()
  readonly #accounts = new Map<string, Size>()
  #bytes = 0

  /** Bytes promised in all. */
  get bytes(): number {
    return this.#bytes
  }

  /** Promises room to a turn, unless with what was promised before there is not enough; gives back how to give it back, once. */
  take(place: Place, size: Size, left: Left): (() => void) | undefined {
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

  #add(place: Place, size: Size): void {
    add(this.#sessions, place.session, size)
    add(this.#accounts, place.accountId, size)
    this.#bytes += size.bytes
  }
}
