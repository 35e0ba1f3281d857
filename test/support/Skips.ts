/** Says on standard error, past any capture by the test runner, that tests are left out, and why. Says nothing without a reason. */
export const announceSkip = (what: string, reason: string | undefined): void => {
  if (reason !== undefined) process.stderr.write(`\n*** SKIPPED: ${what}: ${reason} ***\n\n`)
}
