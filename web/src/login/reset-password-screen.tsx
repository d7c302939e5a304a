import { limits } from '@baton/protocol/limits'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, isBatonError } from '../data/api.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import { CenteredPage } from './centered-page.tsx'
import { invalidLink, linkToken } from './link-token.ts'

export function ResetPasswordScreen() {
  const [token] = useState(linkToken)
  const [password, setPassword] = useState('')
  const [state, setState] = useState<'open' | 'done' | 'invalid'>(token ? 'open' : 'invalid')
  const form = useForm(async () => {
    try {
      await api.confirmPasswordReset({ token, new_password: password })
      setState('done')
    } catch (error) {
      if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
      setState('invalid')
    }
  }, ['new_password'])
  if (state === 'invalid') {
    return (
      <CenteredPage {...invalidLink('one hour')}>
        <Link to="/forgot-password" className={buttonClass()}>
          Request a new link
        </Link>
      </CenteredPage>
    )
  }
  if (state === 'done') {
    return (
      <CenteredPage
        title="Password changed"
        hint="You are signed out everywhere. Connected programs and personal tokens have ended."
      >
        <Link to="/sign-in" search={{ next: undefined }} className={buttonClass('primary')}>
          Sign in
        </Link>
      </CenteredPage>
    )
  }
  return (
    <CenteredPage
      title="Set a new password"
      hint="It signs you out everywhere, and ends your connected programs and personal tokens."
    >
      <form onSubmit={form.submit} className="space-y-4">
        <Field
          label="New password"
          hint={`At least ${limits.passwordMin} characters.`}
          error={sentence(form.errors.new_password)}
        >
          <Input
            type="password"
            autoComplete="new-password"
            required
            autoFocus
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </Field>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look="primary" className="w-full" busy={form.busy}>
          Set password
        </Button>
      </form>
    </CenteredPage>
  )
}
