import type { Project } from '@baton/protocol'
import { Lock, Users } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { loadIssues } from '../data/issues.ts'
import { useMe } from '../data/me.ts'
import { putProject } from '../data/projects.ts'
import { Confirm } from '../ui/dialog.tsx'
import { usePicker } from '../ui/picker.tsx'
import { say } from '../ui/toast.tsx'

/** Who sees it. Changing that parts it from people and agents, so it is asked once more and done only when it is. */
export function useVisibility({ id, title, personal, owner_id }: Project) {
  const { user } = useMe()
  const pick = usePicker()
  const [wanted, setWanted] = useState<boolean | null>(null)
  const ask = (anchor: Element | null) =>
    pick(anchor, {
      title: 'Seen by',
      selected: [personal ? 'personal' : 'shared'],
      options: [
        { value: 'shared', label: 'Everybody', icon: <Users size={14} aria-hidden className="text-ink-3" /> },
        {
          value: 'personal',
          label: 'Only you',
          icon: <Lock size={14} aria-hidden className="text-ink-3" />,
          ...(owner_id !== user.id && { unavailable: 'Only its owner can make a project personal.' }),
        },
      ],
      onPick: (value) => {
        const next = value === 'personal'
        if (next !== personal) setWanted(next)
      },
    })
  const dialog = (
    <Confirm
      open={wanted !== null}
      onClose={() => setWanted(null)}
      title={wanted ? `Make “${title}” personal?` : `Show “${title}” to everybody?`}
      action={wanted ? 'Make it personal' : 'Show it to everybody'}
      danger={wanted === true}
      onConfirm={async () => {
        if (wanted === null) return
        putProject(await api.updateProject({ project_id: id, personal: wanted }))
        if (wanted) void loadIssues()
        say(wanted ? 'Only you see this project now.' : 'Everybody sees this project now.')
      }}
    >
      <p>
        {wanted
          ? 'Nobody else will see it. It leaves its teams and members, issues of others leave it, and agents that work on it stop.'
          : 'Everybody in the workspace will see it, with its comments. Agents can then be mentioned in it.'}
      </p>
    </Confirm>
  )
  return { ask, dialog }
}
