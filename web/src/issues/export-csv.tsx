import { refusalOf } from '@baton/sdk/errors'
import { Download } from 'lucide-react'
import { api, currentWorkspaceId } from '../data/api.ts'
import { useAction } from '../ui/action.ts'
import { IconButton } from '../ui/button.tsx'
import { csvRow, parseCsv } from '../ui/csv.ts'
import { download } from '../ui/download.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { showError } from '../ui/toast.tsx'
import { presetFor } from './create/create-preset.ts'
import type { Directory } from './fields/directory.ts'
import type { IssueSearch } from './fields/search.ts'

/** Not through the API client, which limits the size of a response and how long it takes. */
async function readCsv(filter: Record<string, string>): Promise<string> {
  const headers = { 'x-workspace-id': currentWorkspaceId() ?? '' }
  const response = await fetch(`${api.baseUrl}/issues.csv?${new URLSearchParams(filter)}`, { headers })
  if (!response.ok) throw refusalOf(response.status, response.headers, await response.text(), new Date())
  return response.text()
}

/** The rows of these issues. The filters of the screen can be combined in more ways than those of the API. */
function rowsOf(csv: string, ids: ReadonlySet<string>): string {
  const [head = [], ...rows] = parseCsv(csv)
  const id = head.indexOf('id')
  return [head, ...rows.filter((row) => ids.has(row[id] ?? ''))].map(csvRow).join('')
}

/** The filters that have exactly one value, as the API takes them. */
function filterOf(search: IssueSearch, directory: Directory): Record<string, string> {
  const { label_ids: [label_id] = [], ...preset } = presetFor(search, directory)
  const known = ['team_id', 'project_id', 'status', 'priority', 'type', 'assignee_id', 'delegate_id'] as const
  return Object.fromEntries(
    [...known.map((key) => [key, preset[key]] as const), ['label_id', label_id] as const].flatMap(([key, value]) =>
      value ? [[key, value]] : [],
    ),
  )
}

interface Props {
  search: IssueSearch
  directory: Directory
  /** Ids of the listed issues. */
  idsOf: () => string[]
}

/** Saves the issues of the list as CSV. */
export default function ExportCsv({ search, directory, idsOf }: Props) {
  const { run, busy } = useAction(async () => {
    const rows = rowsOf(await readCsv(filterOf(search, directory)), new Set(idsOf()))
    download(`issues-${new Date().toISOString().slice(0, 10)}.csv`, new Blob([rows], { type: 'text/csv' }))
  }, showError)
  useCommands([{ id: 'issues.csv', title: 'Download as CSV', section: 'View', run: () => void run() }])
  return <IconButton label="Download as CSV" icon={Download} disabled={busy} onClick={() => void run()} />
}
