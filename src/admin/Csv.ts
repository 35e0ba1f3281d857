/**
 * Returns a text as a cell of CSV (RFC 4180). An apostrophe precedes a text that a spreadsheet would run as a formula; numbers do not pass
 * through here, because a negative number must stay a number. The console has the same rule in `console/data/Csv.ts`.
 */
export const textCell = (text: string): string => {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
