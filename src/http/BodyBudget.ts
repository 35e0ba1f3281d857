import { Context } from "effect"

/** Bytes of request bodies held at one time by a node: a quarter of a gigabyte, or eight of the largest bodies there are. */
export const BODY_BUDGET_BYTES = 256 * 1_048_576

/** Memory shared by the bodies that are being received and parsed. */
export class BodyBudget {
  readonly #limit: number
  #used = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  /** Bytes taken and not given back. */
  get used(): number {
    return this.#used
  }

  /** Whether there are so many left. */
  has(bytes: number): boolean {
    return this.#used + bytes <= this.#limit
  }

  /** Takes so many bytes, unless there are not so many left. */
  take(bytes: number): boolean {
    if (!this.has(bytes)) return false
    this.#used += bytes
    return true
  }

  give(bytes: number): void {
    this.#used -= bytes
  }
}

/** The budget of this node, which all its requests share. */
export const NodeBodyBudget = Context.Reference<BodyBudget>("tollgate/http/NodeBodyBudget", {
  defaultValue: () => new BodyBudget(BODY_BUDGET_BYTES)
})
