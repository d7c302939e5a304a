import type { Placeholder } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { UserRound } from 'lucide-react'
import { useState } from 'react'
import { api, rereadKey } from '../data/api.ts'
import { placeholdersQuery } from '../data/imports.ts'
import { useMe } from '../data/me.ts'
import { membersQuery } from '../data/workspaces.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Select } from '../ui/field.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'

export function PlaceholdersScreen() {
  const { isManager } = useMe()
  return isManager ? <Placeholders /> : <ManagersOnly title="Placeholders" />
}

function Placeholders() {
  const placeholders = useQuery(placeholdersQuery)
  return (
    <Page title="Placeholders">
      <Loaded query={placeholders}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={UserRound} title="No placeholders">
              People of imported issues who are not members are listed here.
            </Empty>
          ) : (
            <ul aria-label="Placeholders" className="divide-y border-b">
              {list.map((placeholder) => (
                <Row key={placeholder.id} placeholder={placeholder} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  )
}

function Row({ placeholder }: { placeholder: Placeholder }) {
  const { id, display_name, sources, created_at } = placeholder
  const members = useQuery(membersQuery).data ?? []
  const [member, setMember] = useState('')
  const [confirming, setConfirming] = useState(false)
  const name = members.find((one) => one.id === member)?.display_name ?? ''
  const assign = async () => {
    await api.assignPlaceholder({ placeholder_id: id, user_id: member })
    await rereadKey('workspace', 'placeholders')
  }
  return (
    <li className="flex min-h-11 flex-wrap items-center gap-3 px-4 py-1.5">
      <span className="min-w-0 flex-1 truncate">
        <bdi className="font-medium">{display_name}</bdi>{' '}
        <span className="text-ink-3">
          {sources.join(', ')} · <Time at={created_at} />
        </span>
      </span>
      <Select
        aria-label={`Member for ${display_name}`}
        value={member}
        onChange={({ target }) => setMember(target.value)}
        className="w-48"
      >
        <option value="">Choose a member</option>
        {members.map((one) => (
          <option key={one.id} value={one.id}>
            {one.display_name}
          </option>
        ))}
      </Select>
      <Button disabled={member === ''} onClick={() => setConfirming(true)}>
        Assign
      </Button>
      <Confirm
        open={confirming}
        onClose={() => setConfirming(false)}
        title={`Assign ${display_name} to ${name}?`}
        action="Assign placeholder"
        danger={false}
        onConfirm={assign}
      >
        <p>
          Everything that <bdi>{display_name}</bdi> wrote, reported or was assigned becomes that of <bdi>{name}</bdi>.
          This cannot be undone.
        </p>
      </Confirm>
    </li>
  )
}
