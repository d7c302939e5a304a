import type { Issue } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { lazy, Suspense, useEffect, useState } from 'react'
import { api, readAll } from '../../data/api.ts'
import { putIssue, useIssuesWhere } from '../../data/issues.ts'
import { showError } from '../../ui/toast.tsx'
import { Group, IssueLine } from './issue-line.tsx'
import { isPastedList } from './pasted-issues.ts'

const PastePreview = lazy(() => import('./paste-preview.tsx'))

/** Sub-issues and how many are done. */
export function SubIssues({ issue, adding, onAdded }: { issue: Issue; adding: boolean; onAdded: () => void }) {
  const { issues } = useIssuesWhere(({ parent_id }) => parent_id === issue.id, [issue.id])
  useEffect(() => {
    // The store may not have every issue of a large workspace.
    readAll('listIssues', { parent_id: issue.id }).then(
      (found) => found.forEach(putIssue),
      () => {},
    )
  }, [issue.id])
  const [pasted, setPasted] = useState<string | null>(null)
  const done = issues.filter(({ status }) => status === 'done').length
  const create = async (title: string) => {
    const { id, team_id, project_id, personal } = issue
    try {
      const created = await api.createIssue({
        title,
        parent_id: id,
        ...(team_id && { team_id }),
        ...(project_id && { project_id }),
        ...(personal && { personal }),
      })
      putIssue(created)
      return true
    } catch (error) {
      showError(error)
      return false
    }
  }
  return (
    <>
      {(issues.length > 0 || adding) && (
        <Group title="Sub-issues" count={issues.length > 0 && <Progress done={done} of={issues.length} />}>
          {[...issues].sort(byAge).map(({ id }) => (
            <IssueLine key={id} id={id} />
          ))}
          {adding && (
            <li className="px-2">
              <NewSubIssue onCreate={create} onPasteList={setPasted} onClose={onAdded} />
            </li>
          )}
        </Group>
      )}
      <Suspense>{pasted && <PastePreview parent={issue} text={pasted} onClose={() => setPasted(null)} />}</Suspense>
    </>
  )
}

const byAge = (a: Issue, b: Issue) => a.created_at.localeCompare(b.created_at)

const Progress = ({ done, of }: { done: number; of: number }) => (
  <span className="tabular flex items-center gap-2 text-xs text-ink-3">
    {`${done} of ${of} done`}
    <span aria-hidden className="h-1 w-16 overflow-hidden rounded-full bg-hover">
      <span className="block h-full rounded-full bg-ok" style={{ width: `${(done / of) * 100}%` }} />
    </span>
  </span>
)

interface NewProps {
  onCreate: (title: string) => Promise<boolean>
  /** Several lines were pasted. */
  onPasteList: (text: string) => void
  onClose: () => void
}

/** Enter creates a sub-issue and leaves the input open for the next. A pasted list is previewed. */
function NewSubIssue({ onCreate, onPasteList, onClose }: NewProps) {
  const [title, setTitle] = useState('')
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: it is shown by the Add sub-issue command
      autoFocus
      aria-label="Title of the sub-issue"
      placeholder="Title, then Enter. Or paste a list or CSV."
      value={title}
      maxLength={limits.title}
      onChange={(event) => setTitle(event.target.value)}
      onBlur={() => !title.trim() && onClose()}
      onPaste={(event) => {
        const text = event.clipboardData.getData('text/plain')
        if (!isPastedList(text)) return
        event.preventDefault()
        onPasteList(text)
      }}
      onKeyDown={async (event) => {
        if (event.nativeEvent.isComposing) return
        if (event.key === 'Escape') {
          event.preventDefault()
          onClose()
        } else if (event.key === 'Enter' && title.trim()) {
          event.preventDefault()
          const wanted = title.trim()
          setTitle('')
          if (!(await onCreate(wanted))) setTitle(wanted)
        }
      }}
      className="mb-1 h-8 w-full rounded border border-line-strong bg-surface px-2.5 focus:border-accent focus:outline-1 focus:outline-accent"
    />
  )
}
