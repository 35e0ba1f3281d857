/** Writes the evidence of a run to a file and reads it again. */
import { readFileSync, writeFileSync } from "node:fs"
import type { Evidence } from "./Evidence.ts"

const INFINITY = "for ever"

/** JSON has neither big integers nor infinity. */
const replacer = (_: string, value: unknown): unknown => {
  if (typeof value === "bigint") return `${value}n`
  return value === Number.POSITIVE_INFINITY ? INFINITY : value
}

const reviver = (_: string, value: unknown): unknown => {
  if (typeof value !== "string") return value
  if (/^-?\d+n$/.test(value)) return BigInt(value.slice(0, -1))
  return value === INFINITY ? Number.POSITIVE_INFINITY : value
}

export const writeEvidence = (path: string, evidence: Evidence): void =>
  writeFileSync(path, JSON.stringify(evidence, replacer))

export const readEvidence = (path: string): Evidence => JSON.parse(readFileSync(path, "utf8"), reviver) as Evidence
