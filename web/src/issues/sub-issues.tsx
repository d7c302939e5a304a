import type { Issue } from '@baton/protocol'
import { Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import { all, api, messageOf } from '../api.ts'
import { useCommands } from '../shortcuts.ts'
import { IconButton } from '../ui/button.tsx'
import { say } from '../ui/toast.tsx'
import { Group, IssueLine } from './issue-line.tsx'
import { putIssue, useIssuesWhere } from './store.ts'

/** The parts of an issue, and how many are done. */
export function SubIssues({ issue }: { issue: Issue }) {
  const { issues } = useIssuesWhere(({ parent_id }) => parent_id === issue.id, [issue.id])
  const [adding, setAdding] = useState(false)
  useEffect(() => {
    // The store may not hold all of a large workspace.
    all((cursor) => api.listIssues({ parent_id: issue.id, limit: 100, ...(cursor && { cursor }) })).then(
      (found) => found.forEach(putIssue),
      () => {},
    )
  }, [issue.id])
  useCommands([
    { id: 'issue.sub-issue', title: 'Add sub-issue', section: 'Issue', keys: 'shift+n', run: () => setAdding(true) },
  ])
  const done = issues.filter(({ status }) => status === 'done').length
  const create = async (title: string) => {
    const { id, team_id, project_id, personal } = issue
    try {
      const made = await api.createIssue({
        title,
        parent_id: id,
        ...(team_id && { team_id }),
        ...(project_id && { project_id }),
        ...(personal && { personal }),
      })
      putIssue(made)
      return true
    } catch (error) {
      say(messageOf(error), { tone: 'bad' })
      return false
    }
  }
  return (
    <Group
      title="Sub-issues"
      count={
        issues.length > 0 && (
          <span className="flex items-center gap-2">
            {`${done} of ${issues.length} done`}
            <progress
              aria-label="Sub-issues done"
              value={done}
              max={issues.length}
              className="h-1 w-16 appearance-none overflow-hidden rounded-full bg-hover [&::-moz-progress-bar]:bg-ok [&::-webkit-progress-bar]:bg-hover [&::-webkit-progress-value]:bg-ok"
            />
          </span>
        )
      }
      action={
        <IconButton label="Add sub-issue" icon={Plus} command="issue.sub-issue" onClick={() => setAdding(true)} />
      }
    >
      {issues.length > 0 && (
        <ul>
          {[...issues].reverse().map(({ id }) => (
            <IssueLine key={id} id={id} />
          ))}
        </ul>
      )}
      {adding && <NewSubIssue onCreate={create} onClose={() => setAdding(false)} />}
    </Group>
  )
}

/** Enter creates it and waits for the next. */
function NewSubIssue({ onCreate, onClose }: { onCreate: (title: string) => Promise<boolean>; onClose: () => void }) {
  const [title, setTitle] = useState('')
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: it was just asked for
      autoFocus
      aria-label="Title of the sub-issue"
      placeholder="Title, then Enter"
      value={title}
      maxLength={255}
      onChange={(event) => setTitle(event.target.value)}
      onBlur={() => !title.trim() && onClose()}
      onKeyDown={async (event) => {
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
