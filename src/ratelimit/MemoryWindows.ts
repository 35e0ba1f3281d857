import {
  isUnlimited,
  type PolicyName,
  requestsAt,
  type Subject,
  windowOf,
  type WindowName,
  windowSeconds
} from "./Limits.ts"
import { type Verdict, verdictOf } from "./Store.ts"

const windowMillis = windowSeconds * 1000

/** The most windows per kind of subject. They take about 20 MB when full. */
const maxWindows = 100_000

interface Window {
  readonly name: WindowName
  readonly id: string
  openedAt: number
  used: number
  older: Window | undefined
  newer: Window | undefined
}

/**
 * The windows of one kind of subject, found by name and ID, and linked in the order in which they opened. All last equally long, so
 * the oldest ends first, and making room never needs a search.
 */
class SubjectWindows {
  readonly #byName: { readonly [Name in WindowName]: Map<string, Window> } = {
    default: new Map(),
    chat: new Map(),
    search: new Map(),
    images: new Map(),
    video: new Map(),
    files: new Map(),
    management_reads: new Map(),
    management_writes: new Map(),
    operator_reads: new Map(),
    operator_writes: new Map(),
    console_reads: new Map(),
    console_writes: new Map()
  }
  readonly #capacity: number
  #oldest: Window | undefined
  #newest: Window | undefined
  size = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Returns the open window, if there is one. */
  find(name: WindowName, id: string, now: number): Window | undefined {
    const window = this.#byName[name].get(id)
    return window !== undefined && now - window.openedAt < windowMillis ? window : undefined
  }

  /** Opens a window with one request in it and replaces an ended one. */
  open(name: WindowName, id: string, now: number): Window {
    const ended = this.#byName[name].get(id)
    if (ended !== undefined) this.#remove(ended)
    this.#makeRoom(now)
    const window: Window = { name, id, openedAt: now, used: 1, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = window
    else this.#newest.newer = window
    this.#newest = window
    this.#byName[name].set(id, window)
    this.size++
    return window
  }

  // Removes up to two ended windows for each new one. The shelf shrinks again after a rush, and no single request pays for all of
  // it.
  #makeRoom(now: number): void {
    for (let removed = 0; removed < 2 && this.#oldest !== undefined; removed++) {
      const ended = now - this.#oldest.openedAt >= windowMillis
      if (!ended && this.size < this.#capacity) return
      this.#remove(this.#oldest)
    }
  }

  #remove(window: Window): void {
    this.#byName[window.name].delete(window.id)
    if (window.older === undefined) this.#oldest = window.newer
    else window.older.newer = window.newer
    if (window.newer === undefined) this.#newest = window.older
    else window.newer.older = window.older
    this.size--
  }
}

/**
 * Exact windows in this process's memory, bounded per kind of subject. When all windows are open, the shelf drops the one that
 * opened first, and its subject starts afresh. Keys, accounts and addresses have separate limits. A client can invent addresses but
 * no keys, so a flood of addresses cannot displace the windows of keys.
 */
export class MemoryWindows {
  readonly #windowsByKind: { readonly [Kind in Subject["kind"]]: SubjectWindows }

  constructor(capacity: number = maxWindows) {
    this.#windowsByKind = {
      key: new SubjectWindows(capacity),
      account: new SubjectWindows(capacity),
      address: new SubjectWindows(capacity)
    }
  }

  /** The number of windows, including ended ones that are not yet removed. */
  get size(): number {
    return this.#windowsByKind.key.size + this.#windowsByKind.account.size + this.#windowsByKind.address.size
  }

  /** Counts one request at `now`, in milliseconds of a monotonic clock. */
  consume(policy: PolicyName, subject: Subject, scale: number, now: number): Verdict {
    if (isUnlimited(policy)) return this.peek(policy, subject, scale, now)
    const name = windowOf(policy)
    const limit = requestsAt(name, scale)
    const windows = this.#windowsByKind[subject.kind]
    const window = windows.find(name, subject.id, now)
    if (window === undefined) {
      windows.open(name, subject.id, now)
      return verdictOf(name, true, limit, 1, windowMillis)
    }
    const admitted = window.used < limit
    if (admitted) window.used++
    return verdictOf(name, admitted, limit, window.used, window.openedAt + windowMillis - now)
  }

  /** Returns what `consume` would decide, without counting or opening a window. */
  peek(policy: PolicyName, subject: Subject, scale: number, now: number): Verdict {
    const name = windowOf(policy)
    const limit = requestsAt(name, scale)
    const window = this.#windowsByKind[subject.kind].find(name, subject.id, now)
    if (window === undefined) return verdictOf(name, true, limit, 0, windowMillis)
    const admitted = isUnlimited(policy) || window.used < limit
    return verdictOf(name, admitted, limit, window.used, window.openedAt + windowMillis - now)
  }
}
