import type { IssueStatus, IssueType, NewIssue, Priority } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { parseCsv } from '../../ui/csv.ts'
import { priorities, statuses, types } from '../fields/values.tsx'

type Pasted = Pick<NewIssue, 'title' | 'description' | 'status' | 'priority' | 'type'>

/** The issues in pasted text: the rows of a CSV with a column `title`, otherwise one for each line of a list. */
export function pastedIssues(text: string): Pasted[] {
  const found = issuesOfCsv(text) ?? issuesOfLines(text)
  return found.flatMap(({ title, description, ...others }) => {
    const short = title.replace(/\s+/g, ' ').trim().slice(0, limits.title)
    if (!short) return []
    return [{ title: short, ...(description && { description: description.slice(0, limits.description) }), ...others }]
  })
}

/** A single line is a title, which the input takes as it is. */
export const isPastedList = (text: string) => text.trim().includes('\n') && pastedIssues(text).length > 0

const marker = /^\s*(?:[-*+•]|\d+[.)])\s+(?:\[([ xX])\]\s+)?/

function issuesOfLines(text: string): Pasted[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim())
  const items = lines.filter((line) => marker.test(line))
  // Between list items, other lines are headings and notes.
  return (items.length > 0 ? items : lines).map((line) => {
    const isDone = marker.exec(line)?.[1]?.toLowerCase() === 'x'
    return { title: line.replace(marker, ''), ...(isDone && { status: 'done' as const }) }
  })
}

function issuesOfCsv(text: string): Pasted[] | null {
  const [head = [], ...rows] = parseCsv(text)
  const columns = head.map((name) => name.trim().toLowerCase())
  if (!columns.includes('title') || rows.length === 0) return null
  return rows.map((row) => {
    const cell = (name: string) => row[columns.indexOf(name)]?.trim() ?? ''
    const status = namedValue<IssueStatus>(statuses, cell('status'))
    const priority = namedValue<Priority>(priorities, cell('priority'))
    const type = namedValue<IssueType>(types, cell('type'))
    return {
      title: cell('title'),
      ...(cell('description') && { description: cell('description') }),
      ...(status && { status }),
      ...(priority && { priority }),
      ...(type && { type }),
    }
  })
}

/** The value with this name, as the API or the screen writes it. */
const namedValue = <Value extends string>(options: { value: Value; label: string }[], text: string) =>
  options.find(({ value, label }) => [value, label.toLowerCase()].includes(text.toLowerCase()))?.value
