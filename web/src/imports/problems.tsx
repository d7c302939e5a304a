import type { Import, ImportProblem } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { importProblemsQuery } from '../data/imports.ts'
import { Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { counted } from './labels.ts'

const shownRows = 5

export function Problems({ one }: { one: Import }) {
  const problems = useQuery(importProblemsQuery(one.id, `${one.state} ${one.problem_count}`))
  return (
    <Section title={counted(one.problem_count, 'problem')}>
      <Loaded query={problems}>
        {(list) => (
          <ul aria-label="Problems" className="divide-y border-y">
            {grouped(list).map(({ field, value, message, rows }) => (
              <li key={JSON.stringify([field, value, message])} className="py-1.5">
                {rows.length > 0 && <span className="text-ink-3">{rowsText(rows)} · </span>}
                {field && <span className="font-medium">{field} </span>}
                {value && <bdi className="break-all">{value} </bdi>}
                <span className="text-ink-2">{message}</span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  )
}

const rowsText = (rows: number[]) =>
  rows.length === 1
    ? `Row ${rows[0]}`
    : `${rows.length} rows: ${rows.slice(0, shownRows).join(', ')}${rows.length > shownRows ? ', …' : ''}`

/** The same problem of several rows once. */
function grouped(problems: readonly ImportProblem[]) {
  const groups = new Map<string, Omit<ImportProblem, 'row'> & { rows: number[] }>()
  for (const { row, field, value, message } of problems) {
    const key = JSON.stringify([field, value, message])
    const group = groups.get(key) ?? { field, value, message, rows: [] }
    if (row !== null) group.rows.push(row)
    groups.set(key, group)
  }
  return [...groups.values()]
}
