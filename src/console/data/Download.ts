const KEPT_MS = 10_000

/** Saves content as a file of the reader, under this name. */
export const download = (name: string, content: Blob): void => {
  const url = URL.createObjectURL(content)
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  // Some browsers read the address only after the click, so it stays valid for a while.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}
