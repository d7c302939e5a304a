import type { InvitationPreview } from '@baton/protocol'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, enterWorkspace, isBatonError } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { CenteredPage, inlineLink } from '../login/centered-page.tsx'
import { invalidInvitation, invitationHere, useInvitation } from '../login/invitation.ts'
import { signOut } from '../login/sign-out.ts'
import { Button } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { messageOf } from '../ui/problem.ts'
import { Notice, Skeletons } from '../ui/states.tsx'

const isGone = (error: unknown) => isBatonError(error, 'RESOURCE_NOT_FOUND')

export function AcceptInvitationScreen() {
  const { token, email } = invitationHere()
  const { user } = useMe()
  const { data: invitation, error } = useInvitation(token)
  const [isUsed, setUsed] = useState(false)
  const isInvalid = !token || isUsed || isGone(error)
  const switchAccount = () =>
    void signOut(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}${location.hash}`)
  return (
    <CenteredPage
      title={
        isInvalid
          ? invalidInvitation.title
          : invitation
            ? `Join ${isolated(invitation.workspace.name)}`
            : 'You are invited'
      }
      footer={
        <>
          You are signed in as {user.email}.{' '}
          <button type="button" className={inlineLink} onClick={switchAccount}>
            Use another account
          </button>
        </>
      }
    >
      {isInvalid ? (
        <div className="space-y-4">
          <p className="text-base text-ink-2">{invalidInvitation.hint}</p>
          <Link to="/" className={inlineLink}>
            Go to your workspaces
          </Link>
        </div>
      ) : invitation ? (
        <Join token={token} invitation={invitation} sentTo={email || invitation.email} onUsed={() => setUsed(true)} />
      ) : error ? (
        <Notice tone="bad">{messageOf(error)}</Notice>
      ) : (
        <Skeletons rows={3} className="px-0" />
      )}
    </CenteredPage>
  )
}

interface JoinProps {
  token: string
  invitation: InvitationPreview
  sentTo: string
  onUsed: () => void
}

function Join({ token, invitation: { inviter, role, teams }, sentTo, onUsed }: JoinProps) {
  const { user } = useMe()
  const form = useForm(async () => {
    try {
      const { workspace } = await api.acceptInvitation({ token })
      enterWorkspace(workspace.id)
      location.assign('/')
    } catch (error) {
      if (!isGone(error)) throw error
      onUsed()
    }
  })
  return (
    <div className="space-y-4">
      <p className="text-base text-ink-2">
        {inviter ? (
          <>
            <bdi className="font-medium text-ink">{inviter.name}</bdi> invited you
          </>
        ) : (
          'You are invited'
        )}{' '}
        as {role === 'member' ? 'a' : 'an'} {role}.
        {teams.length > 0 && (
          <>
            {' '}
            You will join {teams.length === 1 ? 'the team' : 'the teams'}{' '}
            <bdi className="text-ink">{teams.map(({ name }) => isolated(name)).join(', ')}</bdi>.
          </>
        )}
      </p>
      {sentTo.toLowerCase() !== user.email.toLowerCase() && (
        <Notice tone="warn">
          This invitation is for {sentTo}, but you are signed in as {user.email}.
        </Notice>
      )}
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <Button look="primary" className="w-full" busy={form.busy} onClick={() => void form.submit()} autoFocus>
        Join the workspace
      </Button>
    </div>
  )
}
