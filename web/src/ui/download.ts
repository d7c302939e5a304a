/** Saves the content as a file of this name. */
export function download(name: string, content: Blob) {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser must have started reading before the URL is revoked.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
