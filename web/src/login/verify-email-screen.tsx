import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { accountQuery, rereadAccount } from '../data/account.ts'
import { api, isBatonError, queries } from '../data/api.ts'
import { meQuery, useMe } from '../data/me.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'
import { CenteredPage } from './centered-page.tsx'
import { invalidLink, linkToken } from './link-token.ts'

/** A click is needed: programs that scan mails open links, too. */
export function VerifyEmailScreen() {
  const { user } = useMe()
  const { data: account } = useQuery(accountQuery)
  const pending = account?.pending_email
  const isOther = pending && pending !== user.email
  const [token] = useState(linkToken)
  const [state, setState] = useState<'open' | 'done' | 'invalid'>(token ? 'open' : 'invalid')
  const form = useForm(async () => {
    try {
      await api.confirmEmail({ token })
      await Promise.all([rereadAccount(), queries.invalidateQueries({ queryKey: meQuery.queryKey })])
      setState('done')
    } catch (error) {
      if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
      setState('invalid')
    }
  })
  const toAccount = (
    <Link to="/settings/account" className={buttonClass('primary')}>
      Open your account
    </Link>
  )
  if (state === 'invalid') {
    const { title, hint } = invalidLink('24 hours')
    return (
      <CenteredPage title={title} hint={hint}>
        <p className="mb-4 text-base text-ink-2">
          Or it belongs to another account: you are signed in as <bdi>{user.email}</bdi>.
        </p>
        {toAccount}
      </CenteredPage>
    )
  }
  if (state === 'done') {
    return (
      <CenteredPage title="E-mail address confirmed" hint={user.email}>
        {toAccount}
      </CenteredPage>
    )
  }
  return (
    <CenteredPage
      title="Confirm this e-mail address?"
      hint={`You are signed in as ${user.display_name}, ${user.email}.${isOther ? ` Your address becomes ${pending}.` : ''}`}
    >
      <form onSubmit={form.submit} className="space-y-4">
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look="primary" className="w-full" busy={form.busy} autoFocus>
          Confirm
        </Button>
      </form>
    </CenteredPage>
  )
}
