import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { enterWorkspace } from '../data/api.ts'
import { restoreQuery, sendArchive } from '../data/exports.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { FileInput } from '../ui/file-input.tsx'
import { Notice } from '../ui/states.tsx'

/** Creates a workspace from an archive, instead of an empty one. */
export function RestoreWorkspace() {
  const [archive, setArchive] = useState<File | null>(null)
  const [sent, setSent] = useState<number | null>(null)
  const [restoreId, setRestoreId] = useState<string | null>(null)
  const send = useAction(async () => {
    if (!archive) return
    setSent(0)
    try {
      setRestoreId((await sendArchive(archive, setSent)).id)
    } finally {
      setSent(null)
    }
  })
  if (restoreId) return <RestoreProgress id={restoreId} onAgain={() => setRestoreId(null)} />
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        send.run()
      }}
    >
      <Field
        label="Archive"
        hint="A .tar.gz file from Settings → Export and delete. You become the only member; the other people become placeholders."
      >
        <FileInput required accept=".gz,application/gzip" onChoose={([file]) => setArchive(file ?? null)} />
      </Field>
      {sent !== null && (
        <p role="status" className="text-ink-2">
          Uploading: {Math.floor(sent * 100)} %
          <progress className="mt-1 block h-1.5 w-full accent-(--accent)" value={sent} aria-label="Upload" />
        </p>
      )}
      {send.problem && <Notice tone="bad">{send.problem}</Notice>}
      <Button type="submit" look="primary" className="w-full" busy={send.busy} disabled={!archive}>
        Restore workspace
      </Button>
    </form>
  )
}

function RestoreProgress({ id, onAgain }: { id: string; onAgain: () => void }) {
  const { data: restore, error } = useQuery(restoreQuery(id))
  const workspaceId = restore?.state === 'done' ? restore.workspace_id : null
  useEffect(() => {
    if (!workspaceId) return
    enterWorkspace(workspaceId)
    location.assign('/')
  }, [workspaceId])
  if (error) return <Notice tone="bad">{error.message}</Notice>
  if (restore?.state === 'failed') {
    return (
      <div className="space-y-4">
        <Notice tone="bad">
          <p>This archive cannot be restored. Nothing was created.</p>
          <ul className="mt-1 text-xs">
            {restore.problems.map(({ path, line, message }) => (
              <li key={`${path} ${line} ${message}`} className="wrap-anywhere">
                {path && (
                  <code className="font-mono">
                    {path}
                    {line && `:${line}`}{' '}
                  </code>
                )}
                {message}
              </li>
            ))}
          </ul>
        </Notice>
        <Button className="w-full" onClick={onAgain}>
          Choose another archive
        </Button>
      </div>
    )
  }
  return (
    <p role="status" className="text-ink-2">
      {restore?.state === 'running' ? 'Creating the workspace…' : 'Checking the archive…'}
    </p>
  )
}
