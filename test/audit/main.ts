/**
 * Fails when a package that the service installs has a known vulnerability of high severity. A registry that cannot be asked does not
 * fail it: a build must not depend on one.
 */
import { spawnSync } from "node:child_process"

interface Report {
  readonly message?: string
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>
}

const SEVERE: ReadonlySet<string> = new Set(["high", "critical"])

const reportIn = (text: string): Report => {
  try {
    return JSON.parse(text) as Report
  } catch {
    return { message: "npm audit printed no report" }
  }
}

const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], { encoding: "utf8" })
const { message, vulnerabilities } = reportIn(stdout)
if (vulnerabilities === undefined) {
  process.stderr.write(
    `*** SKIPPED: known vulnerabilities are not looked up: ${message ?? "npm audit printed no report"} ***\n`
  )
} else {
  const severe = Object.entries(vulnerabilities).filter(([, { severity }]) => SEVERE.has(severity))
  for (const [name, { severity }] of severe) process.stderr.write(`${name}: ${severity}\n`)
  if (severe.length > 0) {
    process.stderr.write("These packages have known vulnerabilities: update them, or see `npm audit --omit=dev`.\n")
    process.exitCode = 1
  } else process.stdout.write("No package of the service has a known vulnerability of high severity.\n")
}
