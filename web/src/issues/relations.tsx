import type { Issue } from '@baton/protocol'
import { Plus } from 'lucide-react'
import { api } from '../api.ts'
import { useCommands } from '../shortcuts.ts'
import { IconButton } from '../ui/button.tsx'
import { type Option, usePicker } from '../ui/picker.tsx'
import { editIssues } from './edit.ts'
import { Group, IssueLine } from './issue-line.tsx'
import { knownIssue, putIssue } from './store.ts'
import { SubIssues } from './sub-issues.tsx'
import { StatusIcon } from './words.tsx'

/** Other issues, found by what is typed. */
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

/** What an issue is a part of, consists of, waits for and holds up. */
export function Relations({ issue }: { issue: Issue }) {
  const ask = usePicker()
  const change = (field: 'blocks_ids' | 'blocked_by_ids', ids: string[], done: string) =>
    void editIssues([issue.id], { [field]: ids }, done)
  const add = (field: 'blocks_ids' | 'blocked_by_ids', title: string, anchor: Element | null) =>
    ask(anchor, {
      title,
      options: findIssues([issue.id, ...issue.blocks_ids, ...issue.blocked_by_ids]),
      onPick: (id) => change(field, [...issue[field], id], `${title} ${knownIssue(id)?.code ?? 'it'}.`),
    })
  const setParent = (anchor: Element | null) =>
    ask(anchor, {
      title: 'Parent issue',
      options: findIssues([issue.id]),
      onPick: (parent_id) => void editIssues([issue.id], { parent_id }, 'Parent changed.'),
    })
  const anchor = (id: string) => document.querySelector(`[data-relation="${id}"]`)
  useCommands([
    { id: 'issue.parent', title: 'Set parent…', section: 'Issue', run: () => setParent(anchor('parent')) },
    {
      id: 'issue.blocked-by',
      title: 'Mark as blocked by…',
      section: 'Issue',
      keys: 'b',
      run: () => add('blocked_by_ids', 'Blocked by', anchor('blocked_by_ids')),
    },
    {
      id: 'issue.blocks',
      title: 'Mark as blocking…',
      section: 'Issue',
      keys: 'shift+b',
      run: () => add('blocks_ids', 'Blocks', anchor('blocks_ids')),
    },
  ])
  const blocking = [
    { field: 'blocked_by_ids', title: 'Blocked by' },
    { field: 'blocks_ids', title: 'Blocks' },
  ] as const
  return (
    <div className="divide-y border-y">
      <SubIssues issue={issue} />
      <Group
        title="Parent"
        action={
          <IconButton
            label={issue.parent_id ? 'Change parent' : 'Set parent'}
            icon={Plus}
            data-relation="parent"
            onClick={(event) => setParent(event.currentTarget)}
          />
        }
      >
        {issue.parent_id && (
          <ul>
            <IssueLine
              id={issue.parent_id}
              removeLabel="Leave"
              onRemove={() => void editIssues([issue.id], { parent_id: null }, 'Parent removed.')}
            />
          </ul>
        )}
      </Group>
      {blocking.map(({ field, title }) => (
        <Group
          key={field}
          title={title}
          action={
            <IconButton
              label={`Add: ${title.toLowerCase()}`}
              icon={Plus}
              data-relation={field}
              command={field === 'blocks_ids' ? 'issue.blocks' : 'issue.blocked-by'}
              onClick={(event) => add(field, title, event.currentTarget)}
            />
          }
        >
          {issue[field].length > 0 && (
            <ul>
              {issue[field].map((id) => (
                <IssueLine
                  key={id}
                  id={id}
                  removeLabel="Remove"
                  onRemove={() =>
                    change(
                      field,
                      issue[field].filter((one) => one !== id),
                      'Removed.',
                    )
                  }
                />
              ))}
            </ul>
          )}
        </Group>
      ))}
    </div>
  )
}
