/** A member's position, returned by `join` and needed by `leave`. */
export interface Place<A> {
  readonly member: A
  /** Changes as other members leave. */
  index: number
}

/**
 * A set of members that come and go with every request. A built-in `Set` would do, but for V8's garbage collector. When a `Set` grows,
 * its old table stays linked to the new one. Once one table is in the old generation, all later tables and everything that was in them
 * stay alive until the next full collection, including requests that ended long ago.
 */
export class Roster<A> {
  readonly #places: Array<Place<A>> = []

  get size(): number {
    return this.#places.length
  }

  join(member: A): Place<A> {
    const place = { member, index: this.#places.length }
    this.#places.push(place)
    return place
  }

  /** Does nothing if the member has already left. */
  leave(place: Place<A>): void {
    if (this.#places[place.index] !== place) return
    const last = this.#places.pop()!
    if (last === place) return
    this.#places[place.index] = last
    last.index = place.index
  }

  /** The current members, in no particular order. This is a copy, so members may leave while the caller iterates. */
  get members(): ReadonlyArray<A> {
    return this.#places.map(({ member }) => member)
  }
}
