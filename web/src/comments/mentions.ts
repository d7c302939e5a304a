import type { Choice } from '@baton/protocol'
import { mentionPattern } from '@baton/protocol/mentions'
import { fold } from '../ui/fold.ts'

/** A user and the name that mentions them in a draft. */
export interface NamedUser {
  id: string
  name: string
}

/** Converts a stored text for editing: `@Name` instead of `@[Name](usr_…)`, with the user of each name. */
export function toDraft(text: string, people: ReadonlyMap<string, Choice>): { text: string; named: NamedUser[] } {
  const named: NamedUser[] = []
  const shown = text.replace(mentionPattern, (whole, _, id: string) => {
    const name = people.get(id)?.display_name
    // A second user with the same name keeps the stored form, which has the id.
    if (!name || named.some((one) => one.name === name && one.id !== id)) return whole
    named.push({ id, name })
    return `@${name}`
  })
  return { text: shown, named }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Converts a draft to its stored form: each `@Name` of a named user becomes `@[Name](usr_…)`. */
export function toStored(text: string, named: NamedUser[]): string {
  if (named.length === 0) return text
  const ids = new Map(named.map(({ id, name }) => [name, id]))
  const names = [...ids.keys()].sort((a, b) => b.length - a.length).map(escaped)
  return text.replace(new RegExp(`@(${names.join('|')})(?![\\p{L}\\p{N}])`, 'gu'), (whole, name: string) => {
    const id = ids.get(name)
    return id ? `@[${name}](${id})` : whole
  })
}

/** The users whose name is still in the text. */
export const namedIn = (text: string, named: NamedUser[]) => named.filter(({ name }) => text.includes(`@${name}`))

/**
 * The mention being typed at the caret, and the position of its @. A complete name ends the mention, unless the text
 * continues with a longer name of another user.
 */
export function mentionAt(text: string, caret: number, named: readonly NamedUser[], people: readonly NamedUser[]) {
  const match = /(?:^|[\s(])@([^@\n]{0,40})$/.exec(text.slice(0, caret))
  const query = match?.[1] ?? ''
  if (!match || query.startsWith(' ')) return null
  const isComplete = named.some(
    ({ name }) => query.startsWith(name) && !/^[\p{L}\p{N}]/u.test(query.slice(name.length)),
  )
  const hasOther = people.some(
    ({ id, name }) => fold(name).startsWith(fold(query)) && !named.some((one) => one.id === id),
  )
  if (isComplete && (query.endsWith(' ') || !hasOther)) return null
  return { at: caret - query.length - 1, query }
}
