import { limits } from '@baton/protocol'
import type { SourceUser } from '../record.ts'

/** A cell with a name or an e-mail address. */
export function person(text: string | null, id: string | null = null): SourceUser | null {
  if (text === null) return null
  // The time of the expression grows with the square of the length.
  const email = text.length <= limits.email && /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+$/.test(text) ? text : null
  return { kind: 'user', id: id ?? (email ? email.toLowerCase() : text), name: text, email }
}
