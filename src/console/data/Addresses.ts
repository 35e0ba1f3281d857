/** The address on this origin of a file of this gateway, whose public address may be another. */
export const fileUrl = (url: string): string => {
  const at = url.indexOf("/files/")
  return at === -1 ? url : url.slice(at)
}
