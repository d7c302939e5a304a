/**
 * The fields of a form. RFC 6749 3.1: empty fields count as absent. A repeated field becomes a list, which validation
 * refuses because it is not a string.
 */
export function parseForm(body: Buffer): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>()
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    if (fields.has(name)) fields.set(name, [fields.get(name) ?? [], value].flat())
    else if (value !== '') fields.set(name, value)
  }
  return Object.fromEntries(fields)
}
