import type { Member } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { api, queries, readAll } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { membersQuery } from '../data/workspaces.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { dayOf } from '../ui/day.ts'
import { Confirm } from '../ui/dialog.tsx'
import { Select } from '../ui/field.tsx'
import { Page, Rows, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill } from '../ui/pill.tsx'
import { Time } from '../ui/time.tsx'
import { say, showError } from '../ui/toast.tsx'
import { Invite } from './invite.tsx'

const roles = { owner: 'Owner', admin: 'Admin', member: 'Member' } as const
type Role = keyof typeof roles

export function MembersScreen() {
  const { isManager } = useMe()
  const members = useQuery(membersQuery)
  const [inviting, setInviting] = useState(false)
  return (
    <Page
      title="Members"
      width="reading"
      actions={
        isManager && (
          <Button look="primary" icon={UserPlus} onClick={() => setInviting(true)}>
            Invite
          </Button>
        )
      }
    >
      <Loaded query={members}>{(members) => <Members members={members} />}</Loaded>
      {isManager && <Invitations />}
      <Invite open={inviting} onClose={() => setInviting(false)} />
    </Page>
  )
}

function Members({ members }: { members: Member[] }) {
  const { user, role, isManager } = useMe()
  const [leaving, setLeaving] = useState<Member | null>(null)
  const change = async (member: Member, next: Role) => {
    try {
      await api.updateMember({ user_id: member.id, role: next })
      say(`${member.display_name} is now ${roles[next].toLowerCase()}.`)
    } catch (error) {
      showError(error)
    }
    await queries.invalidateQueries({ queryKey: ['workspace'] })
    if (member.id === user.id) await queries.invalidateQueries({ queryKey: ['me'] })
  }
  // Only an owner makes or unmakes owners.
  const mayChange = (member: Member) => isManager && (role === 'owner' || member.role !== 'owner')
  return (
    <>
      <Rows label="Members">
        {members.map((member) => (
          <li key={member.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
            <Avatar name={member.display_name} size={24} />
            <div className="min-w-0 flex-1 basis-48">
              <p className="truncate font-medium">
                {member.display_name}
                {member.id === user.id && <span className="font-normal text-ink-3"> (you)</span>}
              </p>
              <p className="truncate text-xs text-ink-2">
                {member.email} · joined {dayOf(member.joined_at)}
              </p>
            </div>
            {mayChange(member) ? (
              <Select
                aria-label={`Role of ${member.display_name}`}
                className="w-28"
                value={member.role}
                onChange={(event) => void change(member, event.target.value as Role)}
              >
                {(Object.keys(roles) as Role[])
                  .filter((one) => role === 'owner' || one !== 'owner')
                  .map((one) => (
                    <option key={one} value={one}>
                      {roles[one]}
                    </option>
                  ))}
              </Select>
            ) : (
              <Pill>{roles[member.role]}</Pill>
            )}
            {(mayChange(member) || member.id === user.id) && (
              <Button size="sm" look="quiet" onClick={() => setLeaving(member)}>
                {member.id === user.id ? 'Leave' : 'Remove'}
              </Button>
            )}
          </li>
        ))}
      </Rows>
      <Confirm
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        title={leaving?.id === user.id ? 'Leave this workspace?' : `Remove ${leaving?.display_name}?`}
        action={leaving?.id === user.id ? 'Leave' : 'Remove'}
        onConfirm={async () => {
          if (!leaving) return
          await api.removeMember({ user_id: leaving.id })
          if (leaving.id === user.id) location.assign('/')
          await queries.invalidateQueries({ queryKey: ['workspace'] })
        }}
      >
        <p>What was written stays. Coming back needs a new invitation.</p>
      </Confirm>
    </>
  )
}

/** Those that can still be accepted. */
function Invitations() {
  const { data } = useQuery({
    queryKey: ['workspace', 'invitations'],
    queryFn: () => readAll('listInvitations'),
  })
  if (!data || data.length === 0) return null
  const withdraw = async (id: string) => {
    try {
      await api.deleteInvitation({ invitation_id: id })
    } catch (error) {
      showError(error)
    }
    await queries.invalidateQueries({ queryKey: ['workspace', 'invitations'] })
  }
  return (
    <Section title="Invited" hint="Each link works once, for 7 days.">
      <Rows label="Invitations">
        {data.map(({ id, email, role, expires_at }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
            <span className="min-w-40 flex-1 truncate">{email}</span>
            <span className="text-xs text-ink-2">
              {roles[role]} · ends <Time at={expires_at} />
            </span>
            <Button
              size="sm"
              look="quiet"
              onClick={() => void withdraw(id)}
              aria-label={`Withdraw the invitation of ${email}`}
            >
              Withdraw
            </Button>
          </li>
        ))}
      </Rows>
    </Section>
  )
}
