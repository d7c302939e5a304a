import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, enterWorkspace, isBatonError } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Front, frontLink } from '../login/front.tsx'
import { signOut } from '../login/sign-out.ts'
import { Button } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'

export function AcceptInvitationScreen() {
  const { token, email } = useSearch({ from: '/person/invitations/accept' })
  const { user } = useMe()
  const [over, setOver] = useState(!token)
  const form = useForm(async () => {
    try {
      const { workspace } = await api.acceptInvitation({ token: token ?? '' })
      enterWorkspace(workspace.id)
      location.assign('/')
    } catch (error) {
      if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
      setOver(true)
    }
  })
  const forAnother = email !== undefined && email.toLowerCase() !== user.email.toLowerCase()
  const leave = () => void signOut(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`)
  return (
    <Front
      title={over ? 'This invitation no longer works' : 'You are invited'}
      footer={
        <>
          You are signed in as {user.email}.{' '}
          <button type="button" className={frontLink} onClick={leave}>
            Use another account
          </button>
        </>
      }
    >
      {over ? (
        <div className="space-y-4">
          <p className="text-base text-ink-2">
            It was used, withdrawn, or is older than 7 days. Ask whoever invited you for a new one.
          </p>
          <Link to="/" className={frontLink}>
            Go to your workspaces
          </Link>
        </div>
      ) : (
        <div className="space-y-4">
          <p className="text-base text-ink-2">
            Join the workspace, see its issues and work on them with people and agents.
          </p>
          {forAnother && (
            <Notice tone="warn">
              The invitation was made for {email}, and you are signed in as {user.email}.
            </Notice>
          )}
          {form.problem && <Notice tone="bad">{form.problem}</Notice>}
          <Button look="primary" className="w-full" busy={form.busy} onClick={() => void form.submit()} autoFocus>
            Join the workspace
          </Button>
        </div>
      )}
    </Front>
  )
}
