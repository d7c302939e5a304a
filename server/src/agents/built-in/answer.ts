import { issueLink, statusLabel } from './relations.ts'
import type { Match } from './similar-issues.ts'

export interface Findings {
  duplicates: Match[]
  related: Match[]
  missing: string[]
  notes: string[]
  suggested?: string[]
}

const section = (title: string, lines: string[]) =>
  lines.length === 0 ? [] : [`**${title}**`, ...lines.map((line) => `- ${line}`), '']

const matchLine = (match: Match) =>
  `${issueLink(match)} · ${statusLabel(match.status)}${match.assignee ? ` · ${match.assignee}` : ''}`

const sharedWords = ({ shared }: Match) => ` · shared words: ${shared.slice(0, 4).join(', ')}`

/** Only the names of missing facts: a likely duplicate may not need them. */
const missingInOneLine = (missing: string[]) => {
  const names = missing.flatMap((fact) => /^\*\*(.+?)\*\*/.exec(fact)?.[1] ?? [])
  return names.length === 0 ? [] : [`If it is not a duplicate, it lacks: ${names.join(', ').toLowerCase()}.`, '']
}

/** The answer in order of urgency. Sections without findings are left out. */
export function formatFindings({ duplicates, related, missing, notes, suggested = [] }: Findings): string {
  const lines = [
    ...section(
      duplicates.length === 1 ? 'Likely duplicate' : 'Likely duplicates',
      duplicates.map((match) => matchLine(match) + sharedWords(match)),
    ),
    ...section('Status', notes),
    ...(duplicates.length > 0 ? missingInOneLine(missing) : section('Missing', missing)),
    ...section('Suggested', suggested),
    ...section('Related', related.map(matchLine)),
  ]
  const [first] = duplicates
  if (first) lines.push(`Write \`link ${first.code}\` and I'll link both. Closing one is up to you.`)
  else if (lines.length === 0) lines.push('Ready to start: no duplicates, no missing facts, no blockers.')
  else if (missing.length === 0) lines.push('No duplicates found, and no facts are missing.')
  else lines.push('No duplicates found.')
  return lines.join('\n').trim()
}

export const duplicateQuestion = ([first, ...rest]: Match[]) =>
  rest.length === 0 && first
    ? `Is this a duplicate of ${issueLink(first)}?`
    : `Is this a duplicate of one of these?\n${[first as Match, ...rest].map((match) => `- ${issueLink(match)}`).join('\n')}`

export const notDuplicate = 'not_a_duplicate'

export const duplicateOptions = (duplicates: Match[]) => [
  ...duplicates.map(({ id, code, title }) => ({
    value: id,
    label: `Link as duplicate of ${code}`,
    description: title,
  })),
  { value: notDuplicate, label: 'Not a duplicate' },
]
