import { limits } from '@baton/protocol/limits'
import { refusalOf } from '@baton/sdk/errors'
import { Download } from 'lucide-react'
import { api, currentWorkspaceId } from '../data/api.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { download } from '../ui/download.ts'
import { showError } from '../ui/toast.tsx'

/** Not through the API client, which limits the size of a response and how long it takes. */
async function readExport(): Promise<Blob> {
  const headers = { 'x-workspace-id': currentWorkspaceId() ?? '' }
  const response = await fetch(`${api.baseUrl}/audit-log/export?format=csv`, { headers })
  if (!response.ok) throw refusalOf(response.status, response.headers, await response.text(), new Date())
  return response.blob()
}

/** Saves the entries of the longest period that one export may have. */
export function ExportLog() {
  const { run, busy } = useAction(async () => {
    const today = new Date().toISOString().slice(0, 10)
    download(`audit-log-${today}.csv`, await readExport())
  }, showError)
  return (
    <Button
      icon={Download}
      busy={busy}
      onClick={() => void run()}
      title={`All events of the last ${limits.auditExportDays} days, whatever the filters show`}
    >
      Export all as CSV
    </Button>
  )
}
