import { limits } from '@baton/protocol/limits'
import { Download } from 'lucide-react'
import { readFile } from '../data/api.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { download } from '../ui/download.ts'
import { showError } from '../ui/toast.tsx'

/** Saves the entries of the longest period that one export may have. */
export function ExportLog() {
  const { run, busy } = useAction(async () => {
    const today = new Date().toISOString().slice(0, 10)
    download(`audit-log-${today}.csv`, await readFile('/audit-log/export?format=csv'))
  }, showError)
  return (
    <Button
      icon={Download}
      busy={busy}
      onClick={() => void run()}
      title={`All events of the last ${limits.auditExportDays} days`}
    >
      Export CSV
    </Button>
  )
}
