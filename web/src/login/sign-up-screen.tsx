import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, isBatonError } from '../data/api.ts'
import { instanceQuery } from '../data/instance.ts'
import { safeNext } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'
import { CenteredPage, inlineLink } from './centered-page.tsx'
import { invitationIn } from './invitation.ts'

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
  const isOpen = useQuery(instanceQuery).data?.sign_up ?? true
  const [name, setName] = useState('')
  const [email, setEmail] = useState(invitation?.email ?? '')
  const [password, setPassword] = useState('')
  const form = useForm(async () => {
    try {
      await api.signUp({ name, email, password })
    } catch (error) {
      if (invitation && isBatonError(error, 'FORBIDDEN')) throw new Error(invitationMismatch(invitation.email, email))
      throw error
    }
    location.assign(safeNext(next))
  }, ['name', 'email', 'password'])
  return (
    <CenteredPage
      title={invitation ? 'You have been invited to a workspace' : 'Create an account'}
      hint={invitation && 'Create an account to join.'}
      footer={
        <>
          Already have an account?{' '}
          <Link to="/sign-in" search={{ next }} className={inlineLink}>
            Sign in
          </Link>
        </>
      }
    >
      <form onSubmit={form.submit} className="space-y-4">
        {!isOpen && !invitation && (
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
