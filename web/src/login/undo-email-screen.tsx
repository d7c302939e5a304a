import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, isBatonError } from '../data/api.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'
import { CenteredPage } from './centered-page.tsx'
import { invalidLink, linkToken } from './link-token.ts'

/** A click is needed: programs that scan mails open links, too. */
export function UndoEmailScreen() {
  const [token] = useState(linkToken)
  const [state, setState] = useState<'open' | 'done' | 'invalid'>(token ? 'open' : 'invalid')
  const form = useForm(async () => {
    try {
      await api.undoEmailChange({ token })
      setState('done')
    } catch (error) {
      if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
      setState('invalid')
    }
  })
  const signIn = (
    <Link to="/sign-in" search={{ next: undefined }} className={buttonClass('primary')}>
      Sign in
    </Link>
  )
  if (state === 'invalid') return <CenteredPage {...invalidLink('7 days')}>{signIn}</CenteredPage>
  if (state === 'done') {
    return (
      <CenteredPage
        title="E-mail address restored"
        hint="All logins have ended. Sign in and change your password. For 24 hours it cannot be reset by mail."
      >
        {signIn}
      </CenteredPage>
    )
  }
  return (
    <CenteredPage
      title="Undo the change of e-mail address?"
      hint="Your earlier address is restored, and all logins, connected programs and personal tokens end."
    >
      <form onSubmit={form.submit} className="space-y-4">
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look="primary" className="w-full" busy={form.busy} autoFocus>
          Undo the change
        </Button>
      </form>
    </CenteredPage>
  )
}
