import type { Export } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../data/api.ts'
import { exportsQuery, isRunning, rereadExports } from '../../data/exports.ts'
import { useMe } from '../../data/me.ts'
import { useAction } from '../../ui/action.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Page, Rows, Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { Pill, type Tone } from '../../ui/pill.tsx'
import { Notice } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { DeleteWorkspace } from '../deletion/delete-workspace.tsx'

/** Settings → Export and delete. */
export function ExportScreen() {
  const { role } = useMe()
  return (
    <Page title="Export and delete" width="reading">
      {role === 'owner' ? (
        <>
          <ExportSection />
          <DeleteWorkspace />
        </>
      ) : (
        <Notice tone="info">Only owners can export or delete the workspace.</Notice>
      )}
    </Page>
  )
}

function ExportSection() {
  const exports = useQuery(exportsQuery)
  const create = useAction(async () => {
    await api.createExport()
    await rereadExports()
  })
  const [deleting, setDeleting] = useState<Export | null>(null)
  const running = exports.data?.some(isRunning) ?? false
  return (
    <Section
      title="Export"
      hint="An archive with all shared issues, projects, comments, history and files. Private items, tokens and secrets are left out. It is kept for 7 days and can be restored as a new workspace."
      actions={
        <Button size="sm" look="primary" busy={create.busy || running} onClick={create.run}>
          {running ? 'Exporting…' : 'Export workspace'}
        </Button>
      }
    >
      {create.problem && <Notice tone="bad">{create.problem}</Notice>}
      <Loaded query={exports} rows={2}>
        {(exports) =>
          exports.length === 0 ? (
            <p className="text-ink-3">No exports.</p>
          ) : (
            <Rows label="Exports">
              {exports.map((one) => (
                <ExportRow key={one.id} one={one} onDelete={() => setDeleting(one)} />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <Confirm
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title="Delete this export?"
        action="Delete"
        onConfirm={async () => {
          if (deleting) await api.deleteExport({ export_id: deleting.id })
          await rereadExports()
        }}
      >
        <p>Its archive can no longer be downloaded. The workspace stays as it is.</p>
      </Confirm>
    </Section>
  )
}

const tones: Record<Export['state'], Tone> = { running: 'info', ready: 'ok', failed: 'bad' }
const words: Record<Export['state'], string> = { running: 'Running', ready: 'Ready', failed: 'Failed' }

function ExportRow({ one, onDelete }: { one: Export; onDelete: () => void }) {
  const download = useAction(async () => {
    const { url } = await api.createExportLink({ export_id: one.id })
    // The answer is an attachment, so that the page stays.
    location.assign(new URL(url).pathname)
  })
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="flex items-center gap-2">
          <Time at={one.created_at} />
          <Pill tone={tones[one.state]}>{words[one.state]}</Pill>
        </p>
        <p className="text-xs text-ink-2">
          {one.state === 'ready' && one.bytes !== null && sizeOf(one.bytes)}
          {one.state === 'running' && 'You can leave this page.'}
          {one.state === 'failed' && 'The archive could not be written. Try again, or ask the operator.'}
        </p>
        {download.problem && <p className="text-xs text-bad-ink">{download.problem}</p>}
      </div>
      {one.state === 'ready' && (
        <Button size="sm" busy={download.busy} onClick={download.run}>
          Download
        </Button>
      )}
      <Button size="sm" onClick={onDelete}>
        Delete
      </Button>
    </li>
  )
}

const units = ['bytes', 'KB', 'MB', 'GB']

/** Like 4.2 MB. */
function sizeOf(bytes: number) {
  const power = Math.min(units.length - 1, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)))
  const value = bytes / 1024 ** power
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 10 && power > 0 ? 1 : 0 })} ${units[power]}`
}
