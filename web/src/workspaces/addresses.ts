/** E-mail addresses in pasted text, separated by commas, semicolons, spaces or lines, maybe as "Name <address>". */
export function addressesIn(text: string): string[] {
  const found = text
    .split(/[,;\n]/)
    .flatMap((part) => /<([^<>]*)>/.exec(part)?.[1]?.trim() ?? part.trim().split(/\s+/))
    .filter(Boolean)
  // The first spelling of each.
  return [...new Map(found.reverse().map((address) => [address.toLowerCase(), address])).values()].reverse()
}

/** The same rule as that of an input for e-mail addresses. */
export function isAddress(text: string): boolean {
  const input = document.createElement('input')
  input.type = 'email'
  input.value = text
  return text !== '' && input.checkValidity()
}
