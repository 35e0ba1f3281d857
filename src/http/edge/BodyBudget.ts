import { Context } from "effect"

/** The maximum bytes of request bodies that a node holds at one time: 256 MiB, or eight of the largest bodies. */
export const BODY_BUDGET_BYTES = 256 * 1_048_576

/** A memory budget shared by the bodies that are being received and parsed. */
export class BodyBudget {
  readonly #limit: number
  #used = 0

  constructor(limitBytes: number) {
    this.#limit = limitBytes
  }

  /** The bytes currently taken. */
  get used(): number {
    return this.#used
  }

  /** Whether this many bytes are left. */
  has(bytes: number): boolean {
    return this.#used + bytes <= this.#limit
  }

  /** Takes this many bytes, or returns false when fewer are left. */
  take(bytes: number): boolean {
    if (!this.has(bytes)) return false
    this.#used += bytes
    return true
  }

  give(bytes: number): void {
    this.#used -= bytes
  }
}

/** The budget of this node, shared by all its requests. */
export const NodeBodyBudget = Context.Reference<BodyBudget>("tollgate/http/NodeBodyBudget", {
  defaultValue: () => new BodyBudget(BODY_BUDGET_BYTES)
})
