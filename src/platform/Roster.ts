/** Where a member stands; given when it joins, needed when it leaves. */
export interface Place<A> {
  readonly member: A
  /** Changes as others leave. */
  index: number
}

/**
 * Members that come and go with every request. A `Set` would do, but for V8's collector: each table that a `Set` grows out of
 * stays linked to the one after it, so once one of them is old all later ones, with whatever was in them, are kept as long as
 * it is: requests that ended long ago, until the next full collection.
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

  /** Nothing happens if it left before. */
  leave(place: Place<A>): void {
    if (this.#places[place.index] !== place) return
    const last = this.#places.pop()!
    if (last === place) return
    this.#places[place.index] = last
    last.index = place.index
  }

  /** Those present now, in no order; a copy, for members who leave meanwhile. */
  get members(): ReadonlyArray<A> {
    return this.#places.map(({ member }) => member)
  }
}
