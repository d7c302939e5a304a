import type { Choice } from '@baton/protocol'
import { mentionPattern } from '@baton/protocol/mentions'

/** A name that stands in a text for somebody. */
export interface Named {
  id: string
  name: string
}

/** A stored text as it is edited: `@Name` instead of `@[Name](usr_…)`, and whom each name stands for. */
export function unfold(text: string, people: ReadonlyMap<string, Choice>): { text: string; named: Named[] } {
  const named: Named[] = []
  const shown = text.replace(mentionPattern, (whole, _, id: string) => {
    const name = people.get(id)?.display_name
    // Two of one name could not be told apart any more.
    if (!name || named.some((one) => one.name === name && one.id !== id)) return whole
    named.push({ id, name })
    return `@${name}`
  })
  return { text: shown, named }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** The text as it is stored: every `@Name` that stands for somebody says whom. */
export function fold(text: string, named: Named[]): string {
  if (named.length === 0) return text
  const ids = new Map(named.map(({ id, name }) => [name, id]))
  const names = [...ids.keys()].sort((a, b) => b.length - a.length).map(escaped)
  return text.replace(new RegExp(`@(${names.join('|')})(?![\\p{L}\\p{N}])`, 'gu'), (whole, name: string) => {
    const id = ids.get(name)
    return id ? `@[${name}](${id})` : whole
  })
}

/** Those whose name still stands in the text. */
export const stillNamed = (text: string, named: Named[]) => named.filter(({ name }) => text.includes(`@${name}`))

/**
 * The name that is being typed at the caret, and where its @ stands. After a name that stands for somebody the text goes
 * on, unless what follows is more of somebody else's name.
 */
export function beingNamed(text: string, caret: number, named: readonly Named[], people: readonly Named[]) {
  const match = /(?:^|[\s(])@([^@\n]{0,40})$/.exec(text.slice(0, caret))
  const query = match?.[1] ?? ''
  if (!match || query.startsWith(' ')) return null
  const isNamed = named.some(({ name }) => query.startsWith(name) && !/^[\p{L}\p{N}]/u.test(query.slice(name.length)))
  const isOthers = people.some(
    ({ id, name }) => name.toLowerCase().startsWith(query.toLowerCase()) && !named.some((one) => one.id === id),
  )
  if (isNamed && (query.endsWith(' ') || !isOthers)) return null
  return { at: caret - query.length - 1, query }
}
