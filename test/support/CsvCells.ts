/** Texts with their cells of CSV, for every writer of CSV. */
export const csvCells: ReadonlyArray<readonly [text: string, cell: string]> = [
  ["", ""],
  ["name", "name"],
  ["a-b", "a-b"],
  ['a "b", c', '"a ""b"", c"'],
  ["line\nbreak", '"line\nbreak"'],
  ["=SUM(A1)", "'=SUM(A1)"],
  ["+49", "'+49"],
  ["-1+cmd", "'-1+cmd"],
  ["-5", "'-5"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t=1"],
  ["\r=1", '"\'\r=1"'],
  ['=HYPERLINK("a","b")', '"\'=HYPERLINK(""a"",""b"")"']
]
