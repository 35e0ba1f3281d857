/** A member of an `ActiveSet`, as `add` returns it and `remove` needs it. */
export interface ActiveEntry<A> {
  readonly member: A
  /** Changes as other members are removed. */
  index: number
}

/**
 * A set of members that come and go with every request. A built-in `Set` would do, but for V8's garbage collector. When a `Set` grows,
 * its old table stays linked to the new one. Once one table is in the old generation, all later tables and everything that was in them
 * stay alive until the next full collection, including requests that ended long ago.
 */
export class ActiveSet<A> {
  readonly #entries: Array<ActiveEntry<A>> = []

  get size(): number {
    return this.#entries.length
  }

  add(member: A): ActiveEntry<A> {
    const entry = { member, index: this.#entries.length }
    this.#entries.push(entry)
    return entry
  }

  /** Does nothing if the member has already been removed. */
  remove(entry: ActiveEntry<A>): void {
    if (this.#entries[entry.index] !== entry) return
    const last = this.#entries.pop()!
    if (last === entry) return
    this.#entries[entry.index] = last
    last.index = entry.index
  }

  /** The current members, in no particular order. This is a copy, so members may be removed while the caller iterates. */
  get members(): ReadonlyArray<A> {
    return this.#entries.map(({ member }) => member)
  }
}
