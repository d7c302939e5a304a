import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, enterWorkspace, isBatonError } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { CenteredPage, inlineLink } from '../login/centered-page.tsx'
import { signOut } from '../login/sign-out.ts'
import { Button } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'

export function AcceptInvitationScreen() {
  const { token, email } = useSearch({ from: '/person/invitations/accept' })
  const { user } = useMe()
  const [isInvalid, setInvalid] = useState(!token)
  const form = useForm(async () => {
    try {
      const { workspace } = await api.acceptInvitation({ token: token ?? '' })
      enterWorkspace(workspace.id)
      location.assign('/')
    } catch (error) {
      if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
      setInvalid(true)
    }
  })
  const isForAnother = email !== undefined && email.toLowerCase() !== user.email.toLowerCase()
  const switchAccount = () =>
    void signOut(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`)
  return (
    <CenteredPage
      title={isInvalid ? 'This invitation no longer works' : 'You are invited'}
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
          <p className="text-base text-ink-2">It was used, revoked or is older than 7 days. Ask for a new one.</p>
          <Link to="/" className={inlineLink}>
            Go to your workspaces
          </Link>
        </div>
      ) : (
        <div className="space-y-4">
          <p className="text-base text-ink-2">
            Join the workspace to see its issues and work on them with people and agents.
          </p>
          {isForAnother && (
            <Notice tone="warn">
              This invitation is for {email}, but you are signed in as {user.email}.
            </Notice>
          )}
          {form.problem && <Notice tone="bad">{form.problem}</Notice>}
          <Button look="primary" className="w-full" busy={form.busy} onClick={() => void form.submit()} autoFocus>
            Join the workspace
          </Button>
        </div>
      )}
    </CenteredPage>
  )
}
