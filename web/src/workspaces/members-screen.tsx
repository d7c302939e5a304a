import type { Invitation, Member } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { instanceQuery } from '../data/instance.ts'
import { useMe } from '../data/me.ts'
import { invitationsQuery, membersQuery, useTeams } from '../data/workspaces.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { dayOf } from '../ui/day.ts'
import { Confirm } from '../ui/dialog.tsx'
import { Select } from '../ui/field.tsx'
import { isolated } from '../ui/isolated.ts'
import { Page, Rows, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill, type Tone } from '../ui/pill.tsx'
import { exactTime } from '../ui/time.tsx'
import { showError, showToast } from '../ui/toast.tsx'
import { Invite } from './invite.tsx'

const roles = { owner: 'Owner', admin: 'Admin', member: 'Member' } as const
type Role = keyof typeof roles

/** "in 7 days", "within a day". */
function inDays(at: string): string {
  const days = Math.ceil((Date.parse(at) - Date.now()) / 86_400_000)
  return days > 1 ? `in ${days} days` : 'within a day'
}

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
      {isManager && <Invite open={inviting} onClose={() => setInviting(false)} />}
    </Page>
  )
}

function Members({ members }: { members: Member[] }) {
  const { user, role, isManager } = useMe()
  const [removing, setRemoving] = useState<Member | null>(null)
  const change = async (member: Member, next: Role) => {
    try {
      await api.updateMember({ user_id: member.id, role: next })
      showToast(`${isolated(member.display_name)} is now ${next === 'member' ? 'a' : 'an'} ${next}.`)
    } catch (error) {
      showError(error)
    }
    await queries.invalidateQueries({ queryKey: ['workspace'] })
    if (member.id === user.id) await queries.invalidateQueries({ queryKey: ['me'] })
  }
  // Only owners can promote or demote owners.
  const canChange = (member: Member) => isManager && (role === 'owner' || member.role !== 'owner')
  return (
    <>
      <Rows label="Members">
        {members.map((member) => (
          <li key={member.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
            <Avatar name={member.display_name} size={24} />
            <div className="min-w-0 flex-1 basis-48">
              <p className="truncate font-medium">
                <bdi>{member.display_name}</bdi>
                {member.id === user.id && <span className="font-normal text-ink-3"> (you)</span>}
              </p>
              <p className="truncate text-xs text-ink-2">
                {member.email} · joined {dayOf(member.joined_at)}
              </p>
            </div>
            {canChange(member) ? (
              <Select
                aria-label={`Role of ${isolated(member.display_name)}`}
                className="w-28"
                value={member.role}
                onChange={(event) => void change(member, event.target.value as Role)}
              >
                {(Object.keys(roles) as Role[])
                  .filter((option) => role === 'owner' || option !== 'owner')
                  .map((option) => (
                    <option key={option} value={option}>
                      {roles[option]}
                    </option>
                  ))}
              </Select>
            ) : (
              <Pill>{roles[member.role]}</Pill>
            )}
            {(canChange(member) || member.id === user.id) && (
              <Button size="sm" look="quiet" className="w-18" onClick={() => setRemoving(member)}>
                {member.id === user.id ? 'Leave' : 'Remove'}
              </Button>
            )}
          </li>
        ))}
      </Rows>
      <Confirm
        open={removing !== null}
        onClose={() => setRemoving(null)}
        title={removing?.id === user.id ? 'Leave this workspace?' : `Remove ${isolated(removing?.display_name)}?`}
        action={removing?.id === user.id ? 'Leave' : 'Remove'}
        onConfirm={async () => {
          if (!removing) return
          await api.removeMember({ user_id: removing.id })
          if (removing.id === user.id) location.assign('/')
          await queries.invalidateQueries({ queryKey: ['workspace'] })
        }}
      >
        <p>
          {removing?.id === user.id
            ? 'Your issues become unassigned; delegated ones are assigned to the owner who joined first.'
            : 'Their issues become unassigned; delegated ones are assigned to you.'}{' '}
          Comments stay. Rejoining needs a new invitation.
        </p>
      </Confirm>
    </>
  )
}

const mailStates: Record<Exclude<Invitation['mail'], 'none'>, { label: string; tone: Tone }> = {
  queued: { label: 'Mail queued', tone: 'neutral' },
  sent: { label: 'Mail sent', tone: 'ok' },
  failed: { label: 'Mail failed', tone: 'bad' },
}

/** Pending invitations. */
function Invitations() {
  const { data } = useQuery({
    ...invitationsQuery,
    // No live change tells what became of a mail.
    refetchInterval: ({ state }) => (state.data?.some(({ mail }) => mail === 'queued') ? 2000 : false),
  })
  const hasMail = useQuery(instanceQuery).data?.mail
  const teams = useTeams()
  if (!data || data.length === 0) return null
  const revoke = async (id: string) => {
    try {
      await api.deleteInvitation({ invitation_id: id })
    } catch (error) {
      showError(error)
    }
    await queries.invalidateQueries({ queryKey: ['workspace', 'invitations'] })
  }
  const resend = async (id: string, email: string) => {
    try {
      await api.sendInvitation({ invitation_id: id })
      showToast(`A new link is on its way to ${email}.`)
    } catch (error) {
      showError(error)
    }
    await queries.invalidateQueries({ queryKey: ['workspace', 'invitations'] })
  }
  return (
    <Section
      title="Invitations"
      hint={
        hasMail
          ? 'Each link works once and expires after 7 days. A resent mail has a new link, and the previous mail stops working.'
          : 'Each link works once and expires after 7 days.'
      }
    >
      <Rows label="Invitations">
        {data.map(({ id, email, role, team_ids, expires_at, mail }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
            <span className="min-w-40 flex-1 truncate">{email}</span>
            <span className="text-xs text-ink-2">
              {[
                roles[role],
                ...teams.filter((team) => team_ids.includes(team.id)).map(({ name }) => isolated(name)),
              ].join(' · ')}{' '}
              ·{' '}
              <time dateTime={expires_at} title={exactTime(expires_at)}>
                expires {inDays(expires_at)}
              </time>
            </span>
            {mail !== 'none' && <Pill tone={mailStates[mail].tone}>{mailStates[mail].label}</Pill>}
            {hasMail && (
              <Button
                size="sm"
                look="quiet"
                disabled={mail === 'queued'}
                onClick={() => void resend(id, email)}
                aria-label={`Resend invitation to ${email}`}
              >
                Resend
              </Button>
            )}
            <Button
              size="sm"
              look="quiet"
              onClick={() => void revoke(id)}
              aria-label={`Revoke invitation for ${email}`}
            >
              Revoke
            </Button>
          </li>
        ))}
      </Rows>
    </Section>
  )
}
