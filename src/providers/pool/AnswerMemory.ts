/** Reserves memory for long provider answers, which are buffered until they are passed on. */
import { Context, Effect, type Scope } from "effect"
import { PoolError } from "./PoolError.ts"

const MEBIBYTE = 1_048_576

/** The memory of a node for such answers, and the share that one account may use. */
const defaultMemory = { mebibytes: 512, shareMebibytes: 128 }

/** Most answers have a quarter of their maximum length, because the maximum assumes the longest spelling of every number. */
const USUAL_PART = 4

/** Answers that cannot be longer than this need no reservation. */
const SHORT_BYTES = 4 * MEBIBYTE

/** The largest reservation for one answer. Two of them fit into an account's share. */
const MAX_BYTES = 64 * MEBIBYTE

/** Whether an answer of at most this many bytes needs no reservation. */
export const isShort = (maxBodyBytes: number): boolean => maxBodyBytes <= SHORT_BYTES

/** The reservation for an answer of at most this many bytes. */
export const reservedBytes = (maxBodyBytes: number): number => Math.min(MAX_BYTES, maxBodyBytes / USUAL_PART)

const overloaded = new PoolError({ reason: { _tag: "Overloaded" }, attempts: [], failures: [] })

/** The account of a reservation, and its size. */
export interface MemoryRequest {
  readonly accountId: string
  /** The maximum length of the answer, in bytes. */
  readonly maxBodyBytes: number
  /** How long to wait for free memory, in milliseconds. */
  readonly waitMs: number
}

/** A reservation that was granted or is waiting. Its memory is released when the last holder releases it. */
class MemoryReservation {
  readonly accountId: string
  readonly mebibytes: number
  readonly #giveBack: () => void
  isTaken = false
  resume: (() => void) | undefined
  #holders = 0

  constructor(accountId: string, mebibytes: number, giveBack: () => void) {
    this.accountId = accountId
    this.mebibytes = mebibytes
    this.#giveBack = giveBack
  }

  /** Keeps the reservation until the returned function is called. */
  hold(): () => void {
    this.#holders += 1
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#holders -= 1
      if (this.#holders === 0) this.#giveBack()
    }
  }
}

export type { MemoryReservation }

/** The memory of a node. A reservation beyond its account's share waits only for the account's own reservations. */
export class ReservableMemory {
  readonly #shareMebibytes: number
  #free: number
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Set<MemoryReservation>()

  constructor({ mebibytes, shareMebibytes } = defaultMemory) {
    this.#free = mebibytes
    this.#shareMebibytes = shareMebibytes
  }

  /** The free mebibytes. */
  get free(): number {
    return this.#free
  }

  /**
   * Reserves memory until the scope ends and every other holder has released it. Fails with `Overloaded` when no memory becomes free in
   * time.
   */
  take({ accountId, maxBodyBytes, waitMs }: MemoryRequest): Effect.Effect<MemoryReservation, PoolError, Scope.Scope> {
    const mebibytes = Math.ceil(reservedBytes(maxBodyBytes) / MEBIBYTE)
    return Effect.uninterruptibleMask((restore) => {
      const reservation = new MemoryReservation(accountId, mebibytes, () => this.#giveBack(reservation))
      const letGo = reservation.hold()
      const taken = Effect.suspend(() => {
        this.#waiting.add(reservation)
        this.#grant()
        if (reservation.isTaken) return Effect.void
        return restore(
          Effect.timeoutOrElse(untilGranted(reservation), { duration: waitMs, orElse: () => Effect.fail(overloaded) })
        )
      })
      return Effect.as(
        Effect.andThen(
          Effect.addFinalizer(() => Effect.sync(letGo)),
          taken
        ),
        reservation
      )
    })
  }

  #takenBy(accountId: string): number {
    return this.#taken.get(accountId) ?? 0
  }

  /** Grants waiting reservations in order, skipping those that wait for their own account's share. */
  #grant(): void {
    for (const reservation of this.#waiting) {
      const { accountId, mebibytes } = reservation
      const taken = this.#takenBy(accountId) + mebibytes
      if (taken > this.#shareMebibytes) continue
      if (mebibytes > this.#free) return
      this.#waiting.delete(reservation)
      this.#free -= mebibytes
      this.#taken.set(accountId, taken)
      reservation.isTaken = true
      reservation.resume?.()
    }
  }

  #giveBack(reservation: MemoryReservation): void {
    const { accountId, isTaken, mebibytes } = reservation
    this.#waiting.delete(reservation)
    if (isTaken) {
      const left = this.#takenBy(accountId) - mebibytes
      this.#free += mebibytes
      if (left === 0) this.#taken.delete(accountId)
      else this.#taken.set(accountId, left)
    }
    this.#grant()
  }
}

const untilGranted = (reservation: MemoryReservation): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const taken = () => resume(Effect.void)
    reservation.resume = taken
  })

/** The reservations of this node. */
export const AnswerMemory = Context.Reference<ReservableMemory>("tollgate/providers/AnswerMemory", {
  defaultValue: () => new ReservableMemory()
})
