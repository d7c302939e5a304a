import type { Issue } from '@baton/protocol'
import { Plus } from 'lucide-react'
import { type MouseEvent, useState } from 'react'
import { api } from '../../data/api.ts'
import { knownIssue, putIssue } from '../../data/issues.ts'
import { type Option, usePicker } from '../../ui/picker.tsx'
import { useCommands } from '../../ui/shortcuts.ts'
import { Tip } from '../../ui/tip.tsx'
import { editIssues } from '../edit/edit.ts'
import { StatusIcon } from '../fields/values.tsx'
import { Duplicates, markDuplicate } from './duplicates.tsx'
import { Group, IssueLine } from './issue-line.tsx'
import { SubIssues } from './sub-issues.tsx'

/** Searches other issues by the typed text. */
const findIssues = (except: string[]) => async (query: string) => {
  const { data } = await api.listIssues({ limit: 20, ...(query.trim() && { query: query.trim() }) })
  return data
    .filter(({ id }) => !except.includes(id))
    .map((issue): Option => {
      putIssue(issue)
      return {
        value: issue.id,
        label: `${issue.code}  ${issue.title}`,
        icon: <StatusIcon status={issue.status} />,
      }
    })
}

/** Sub-issues, parent, blocking and blocked issues, duplicates. */
export function Relations({ issue }: { issue: Issue }) {
  const ask = usePicker()
  const change = (field: 'blocks_ids' | 'blocked_by_ids', ids: string[], done: string) =>
    void editIssues([issue.id], { [field]: ids }, done)
  const add = (field: 'blocks_ids' | 'blocked_by_ids', title: string, anchor: Element | null) =>
    ask(anchor, {
      title,
      options: findIssues([issue.id, ...issue.blocks_ids, ...issue.blocked_by_ids]),
      onPick: (id) => change(field, [...issue[field], id], `${title} ${knownIssue(id)?.code ?? 'another issue'}`),
    })
  const setParent = (anchor: Element | null) =>
    ask(anchor, {
      title: 'Parent issue',
      options: findIssues([issue.id]),
      onPick: (parent_id) => void editIssues([issue.id], { parent_id }, 'Parent changed'),
    })
  const askOriginal = (anchor: Element | null) =>
    ask(anchor, {
      title: 'Duplicate of',
      options: findIssues([issue.id]),
      onPick: (id) => void markDuplicate(issue, id),
    })
  const anchorOf = (id: string) => document.querySelector(`[data-relation="${id}"]`)
  useCommands([
    { id: 'issue.parent', title: 'Set parent…', section: 'Issue', run: () => setParent(anchorOf('parent')) },
    {
      id: 'issue.blocked-by',
      title: 'Mark as blocked by…',
      section: 'Issue',
      keys: 'b',
      run: () => add('blocked_by_ids', 'Blocked by', anchorOf('blocked_by_ids')),
    },
    {
      id: 'issue.blocks',
      title: 'Mark as blocking…',
      section: 'Issue',
      keys: 'shift+k',
      run: () => add('blocks_ids', 'Blocks', anchorOf('blocks_ids')),
    },
    {
      id: 'issue.duplicate',
      title: 'Mark as duplicate of…',
      section: 'Issue',
      run: () => askOriginal(anchorOf('duplicate')),
    },
  ])
  const blocking = [
    { field: 'blocked_by_ids', title: 'Blocked by', command: 'issue.blocked-by' },
    { field: 'blocks_ids', title: 'Blocks', command: 'issue.blocks' },
  ] as const
  const [adding, setAdding] = useState(false)
  useCommands([
    { id: 'issue.sub-issue', title: 'Add sub-issue', section: 'Issue', keys: 'shift+n', run: () => setAdding(true) },
  ])
  return (
    <div className="space-y-1">
      <SubIssues issue={issue} adding={adding} onAdded={() => setAdding(false)} />
      {issue.parent_id && (
        <Group title="Parent">
          <IssueLine
            id={issue.parent_id}
            removeLabel="Remove parent"
            onRemove={() => void editIssues([issue.id], { parent_id: null }, 'Parent removed')}
          />
        </Group>
      )}
      {blocking
        .filter(({ field }) => issue[field].length > 0)
        .map(({ field, title }) => (
          <Group key={field} title={title}>
            {issue[field].map((id) => (
              <IssueLine
                key={id}
                id={id}
                removeLabel="Remove"
                onRemove={() =>
                  change(
                    field,
                    issue[field].filter((one) => one !== id),
                    'Relation removed',
                  )
                }
              />
            ))}
          </Group>
        ))}
      <Duplicates issue={issue} />
      <div className="-ml-2 flex flex-wrap gap-x-1">
        <Add command="issue.sub-issue" onClick={() => setAdding(true)}>
          Add sub-issue
        </Add>
        {blocking.map(({ field, title, command }) => (
          <Add
            key={field}
            command={command}
            relation={field}
            onClick={(event) => add(field, title, event.currentTarget)}
          >
            {title}
          </Add>
        ))}
        <Add command="issue.parent" relation="parent" onClick={(event) => setParent(event.currentTarget)}>
          {issue.parent_id ? 'Change parent' : 'Set parent'}
        </Add>
        <Add command="issue.duplicate" relation="duplicate" onClick={(event) => askOriginal(event.currentTarget)}>
          Duplicate of
        </Add>
      </div>
    </div>
  )
}

interface AddProps {
  children: string
  command: string
  relation?: string
  onClick: (event: MouseEvent<HTMLButtonElement>) => void
}

const Add = ({ children, command, relation, onClick }: AddProps) => (
  <Tip label={children} command={command}>
    <button
      type="button"
      data-relation={relation}
      onClick={onClick}
      className="flex h-7 items-center gap-1 rounded px-2 text-xs text-ink-3 hover:bg-hover hover:text-ink"
    >
      <Plus size={13} aria-hidden />
      {children}
    </button>
  </Tip>
)
