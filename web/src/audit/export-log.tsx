import { limits } from '@baton/protocol/limits'
import { refusalOf } from '@baton/sdk/errors'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { api, currentWorkspaceId } from '../data/api.ts'
import { Button } from '../ui/button.tsx'
import { DateButton } from '../ui/date-button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { download } from '../ui/download.ts'
import { Field, Select } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'

const formats = { csv: 'CSV, for spreadsheets', ndjson: 'NDJSON, for programs' }
type Format = keyof typeof formats

/** Not through the API client, which limits the size of a response and how long it takes. */
async function readExport(query: Record<string, string>): Promise<Blob> {
  const headers = { 'x-workspace-id': currentWorkspaceId() ?? '' }
  const response = await fetch(`${api.baseUrl}/audit-log/export?${new URLSearchParams(query)}`, { headers })
  if (!response.ok) throw refusalOf(response.status, response.headers, await response.text(), new Date())
  return response.blob()
}

/** Saves the entries of a period, whatever the filters of the screen show. */
export function ExportLog() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button icon={Download} onClick={() => setOpen(true)}>
        Export
      </Button>
      {isOpen && <ExportDialog onClose={() => setOpen(false)} />}
    </>
  )
}

function ExportDialog({ onClose }: { onClose: () => void }) {
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [format, setFormat] = useState<Format>('csv')
  const form = useForm(async () => {
    // Whole days in the time zone of the browser, as the list shows them.
    const entries = await readExport({
      format,
      ...(from && { from: new Date(`${from}T00:00:00`).toISOString() }),
      ...(to && { to: new Date(`${to}T23:59:59.999`).toISOString() }),
    })
    download(`audit-log-${to || new Date().toISOString().slice(0, 10)}.${format}`, entries)
    onClose()
  }, ['from', 'to'])
  return (
    <Dialog
      open
      onClose={onClose}
      title="Export audit log"
      description={`All events of up to ${limits.auditExportDays} days. The filters do not apply.`}
      size="sm"
    >
      <form onSubmit={form.submit} className="space-y-4 pb-3">
        <div className="grid grid-cols-2 gap-3">
          <Field label="From" optional error={form.errors.from}>
            <DateButton label="From" day={from} onChange={setFrom} />
          </Field>
          <Field label="To" optional error={form.errors.to}>
            <DateButton label="To" day={to} onChange={setTo} />
          </Field>
        </div>
        <Field label="Format">
          <Select value={format} onChange={(event) => setFormat(event.target.value as Format)}>
            {Object.entries(formats).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={form.busy}>
            Export
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
