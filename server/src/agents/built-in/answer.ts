import type { Match } from './look.ts'
import { linked, statusWords } from './relations.ts'

/** What a look at an issue brought to light. */
export interface Findings {
  duplicates: Match[]
  related: Match[]
  missing: string[]
  notes: string[]
}

const section = (title: string, lines: string[]) =>
  lines.length === 0 ? [] : [`**${title}**`, ...lines.map((line) => `- ${line}`), '']

const matched = (match: Match) =>
  `${linked(match)} · ${statusWords(match.status)}${match.assignee ? ` · ${match.assignee}` : ''}`

const inCommon = ({ shared }: Match) => ` · both say: ${shared.slice(0, 4).join(', ')}`

/** While it may be a duplicate nobody needs to be asked for more. */
const inOneLine = (missing: string[]) => {
  const names = missing.flatMap((fact) => /^\*\*(.+?)\*\*/.exec(fact)?.[1] ?? [])
  return names.length === 0 ? [] : [`If it is not the same, it lacks: ${names.join(' · ').toLowerCase()}.`, '']
}

/** What a triager reads: what to do first comes first, and what there is nothing about is not mentioned. */
export function answerOf({ duplicates, related, missing, notes }: Findings): string {
  const lines = [
    ...section(
      duplicates.length === 1 ? 'Likely duplicate' : 'Likely duplicates',
      duplicates.map((match) => matched(match) + inCommon(match)),
    ),
    ...section('How it stands', notes),
    ...(duplicates.length > 0 ? inOneLine(missing) : section('Missing', missing)),
    ...section('Related', related.map(matched)),
  ]
  const [first] = duplicates
  if (first) lines.push(`Write \`link ${first.code}\` and I note it on both. Closing one is up to you.`)
  else if (lines.length === 0) lines.push('Ready to be worked on: no duplicate, nothing missing, nothing in the way.')
  else if (missing.length === 0) lines.push('No duplicate found, and nothing is missing to begin.')
  else lines.push('No duplicate found.')
  return lines.join('\n').trim()
}

export const questionOf = ([first, ...rest]: Match[]) =>
  rest.length === 0 && first
    ? `Is this the same as ${linked(first)}?`
    : `Is this the same as one of these?\n${[first as Match, ...rest].map((match) => `- ${linked(match)}`).join('\n')}`

export const notDuplicate = 'not_a_duplicate'

export const choicesOf = (duplicates: Match[]) => [
  ...duplicates.map(({ id, code, title }) => ({
    value: id,
    label: `Link as duplicate of ${code}`,
    description: title,
  })),
  { value: notDuplicate, label: 'Not a duplicate' },
]
