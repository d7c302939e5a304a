import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, isBatonError } from '../data/api.ts'
import { instanceQuery } from '../data/instance.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Notice } from '../ui/states.tsx'
import { CenteredPage, inlineLink } from './centered-page.tsx'
import { afterSignIn, invalidInvitation, invitationIn, useInvitation } from './invitation.ts'
import { Or, OtherWays } from './other-ways.tsx'
import { localZone } from './time-zones.ts'

/** Explains why an invited user cannot sign up as `email`. */
const invitationMismatch = (invited: string, email: string) =>
  invited === ''
    ? 'The invitation has expired or is for another e-mail address.'
    : invited.toLowerCase() === email.toLowerCase()
      ? 'The invitation no longer works. Ask for a new one.'
      : `The invitation is for another e-mail address: ${invited}. Use that one, or ask for a new invitation.`

export function SignUpScreen() {
  const { next } = useSearch({ from: '/sign-up' })
  const invitation = invitationIn(next)
  const { data: invited, error: previewError, isLoading } = useInvitation(invitation?.token)
  const { sign_up: isOpen = true, needs_first_account: isFirst = false, sso } = useQuery(instanceQuery).data ?? {}
  const [name, setName] = useState('')
  const [typed, setEmail] = useState<string | null>(null)
  const email = typed ?? (invitation?.email || invited?.email || '')
  const [password, setPassword] = useState('')
  const form = useForm(async () => {
    try {
      await api.signUp({ name, email, password, ...(invitation?.token && { invitation_token: invitation.token }) })
    } catch (error) {
      if (invitation && isBatonError(error, 'FORBIDDEN')) throw new Error(invitationMismatch(invitation.email, email))
      throw error
    }
    // Summaries by mail come at an hour of this zone. It can be changed under Account.
    await api.updateAccount({ time_zone: localZone() }).catch(() => {})
    location.assign(afterSignIn(next))
  }, ['name', 'email', 'password'])
  if (isLoading) return null
  if (invitation && (!invitation.token || isBatonError(previewError, 'RESOURCE_NOT_FOUND'))) {
    return <InvalidInvitation canSignUp={isOpen} />
  }
  if (sso?.only) return <Navigate to="/sign-in" search={{ next }} hash replace />
  return (
    <CenteredPage
      title={
        invited
          ? `You have been invited to ${isolated(invited.workspace.name)}`
          : invitation
            ? 'You have been invited to a workspace'
            : isFirst
              ? 'Create the first account'
              : 'Create an account'
      }
      hint={
        invitation
          ? `${invited?.inviter ? `${isolated(invited.inviter.name)} invited you. ` : ''}Create an account to join.`
          : isFirst && 'This instance has no accounts yet. Next, you create a workspace and become its owner.'
      }
      footer={
        !isFirst && (
          <>
            Already have an account?{' '}
            <Link to="/sign-in" search={{ next }} hash className={inlineLink}>
              Sign in
            </Link>
          </>
        )
      }
    >
      {sso && sso.providers.length > 0 && (
        <>
          <OtherWays providers={sso.providers} passkeys={false} next={() => afterSignIn(next)} />
          <Or />
        </>
      )}
      <form onSubmit={form.submit} className="space-y-4">
        {!isOpen && !invitation && !isFirst && (
          <Notice>Sign-up is by invitation only. Use the e-mail address that was invited.</Notice>
        )}
        <Field label="Your name" error={form.errors.name}>
          <Input autoComplete="name" required value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="E-mail" error={form.errors.email}>
          <Input
            type="email"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </Field>
        <Field label="Password" hint={`At least ${limits.passwordMin} characters.`} error={form.errors.password}>
          <Input
            type="password"
            autoComplete="new-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </Field>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look="primary" className="w-full" busy={form.busy}>
          Create account
        </Button>
      </form>
    </CenteredPage>
  )
}

const InvalidInvitation = ({ canSignUp }: { canSignUp: boolean }) => (
  <CenteredPage {...invalidInvitation}>
    <div className="space-y-2 text-base">
      <p>
        Already have an account?{' '}
        <Link to="/sign-in" search={{ next: undefined }} className={inlineLink}>
          Sign in
        </Link>
      </p>
      {canSignUp && (
        <p>
          <Link to="/sign-up" search={{ next: undefined }} className={inlineLink}>
            Create an account without an invitation
          </Link>
        </p>
      )}
    </div>
  </CenteredPage>
)
