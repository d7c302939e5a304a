export const linearHeader = [
  'ID',
  'Team',
  'Title',
  'Description',
  'Status',
  'Estimate',
  'Priority',
  'Project ID',
  'Project',
  'Creator',
  'Assignee',
  'Labels',
  'Cycle Number',
  'Cycle Name',
  'Cycle Start',
  'Cycle End',
  'Created',
  'Updated',
  'Started',
  'Triaged',
  'Completed',
  'Canceled',
  'Archived',
  'Due Date',
  'Parent issue',
  'Initiatives',
  'Project Milestone ID',
  'Project Milestone',
  'SLA Status',
  'UUID',
  'Blocked by',
  'Blocks',
  'Duplicate of',
  'Related to',
]

export type LinearRow = Record<string, string>

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`

/** A CSV as Linear exports it; columns that a row does not name are empty. */
export const linearCsv = (rows: readonly LinearRow[]) =>
  [linearHeader, ...rows.map((row) => linearHeader.map((name) => row[name] ?? ''))]
    .map((cells) => cells.map(cell).join(','))
    .join('\n')

export const csv = (...rows: string[][]) => rows.map((cells) => cells.map(cell).join(',')).join('\n')

let number = 0
/** An issue of Linear's team Web; each call a minute later. */
export function linearRow(fields: LinearRow = {}): LinearRow {
  number++
  const at = new Date(Date.UTC(2024, 0, 1) + number * 60_000).toISOString()
  return {
    ID: `WEB-${number}`,
    Team: 'Web',
    Title: `Issue ${number}`,
    Status: 'Todo',
    Priority: 'High',
    Creator: 'grace@elsewhere.example',
    Created: at,
    Updated: at,
    ...fields,
  }
}
