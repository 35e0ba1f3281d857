/** Keeps the evidence of a run in a file, so that it can be audited again. */
import { readFileSync, writeFileSync } from "node:fs"
import type { Evidence } from "./Notes.ts"

const FOREVER = "for ever"

/** JSON has neither big integers nor the end of what goes on. */
const plain = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint") return `${value}n`
  return value === Number.POSITIVE_INFINITY ? FOREVER : value
}

const revived = (_: string, value: unknown): unknown => {
  if (typeof value !== "string") return value
  if (/^-?\d+n$/.test(value)) return BigInt(value.slice(0, -1))
  return value === FOREVER ? Number.POSITIVE_INFINITY : value
}

export const keepEvidence = (path: string, evidence: Evidence): void =>
  writeFileSync(path, JSON.stringify(evidence, plain))

export const readEvidence = (path: string): Evidence => JSON.parse(readFileSync(path, "utf8"), revived) as Evidence
