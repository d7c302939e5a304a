import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, isBatonError } from '../data/api.ts'
import { CenteredPage, inlineLink } from '../login/centered-page.tsx'
import { Button } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { Notice } from '../ui/states.tsx'

const settings = (
  <a href="/settings/notifications" className={inlineLink}>
    Notification settings
  </a>
)

/** Opened from a mail, with or without a login. A click is needed: programs that scan mails open links, too. */
export function UnsubscribeScreen() {
  const { token } = useParams({ from: '/mail/unsubscribe/$token' })
  const [state, setState] = useState<'open' | 'done' | 'invalid'>('open')
  const form = useForm(async () => {
    try {
      await api.unsubscribe({ token })
      setState('done')
    } catch (error) {
      if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
      setState('invalid')
    }
  })
  if (state === 'invalid') {
    return (
      <CenteredPage
        title="This link is not valid"
        hint="Copy the whole link from the mail, or sign in to change your settings."
      >
        {settings}
      </CenteredPage>
    )
  }
  if (state === 'done') {
    return (
      <CenteredPage
        title="You are unsubscribed"
        hint="Notifications of this kind are no longer mailed to you. They still appear in your inbox."
      >
        {settings}
      </CenteredPage>
    )
  }
  return (
    <CenteredPage
      title="Stop mails like this one?"
      hint="Notifications of the kind in the mail will no longer be mailed to you. They still appear in your inbox."
      footer={settings}
    >
      <form onSubmit={form.submit} className="space-y-4">
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look="primary" className="w-full" busy={form.busy} autoFocus>
          Unsubscribe
        </Button>
      </form>
    </CenteredPage>
  )
}
