import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Notice } from '../ui/states.tsx'
import { CenteredPage } from './centered-page.tsx'

/** Where `baton login --browser` sends the user. */
export function CliLoginScreen() {
  const { challenge = '', port, name = 'A program' } = useSearch({ from: '/person/cli-login' })
  const { user } = useMe()
  const [outcome, setOutcome] = useState<{ code: string; sent: boolean } | null>(null)
  const form = useForm(async () => {
    const { code, redirect_to } = await api.createCliLogin({ challenge, name, ...(port !== undefined && { port }) })
    setOutcome({ code, sent: redirect_to !== null })
    // The service allows no other host than 127.0.0.1.
    if (redirect_to) location.assign(redirect_to)
  })
  if (!/^[\w-]{43}$/.test(challenge)) {
    return (
      <CenteredPage
        title="This address is not complete"
        hint="Run the command again, and open the address that it prints."
      >
        <Link to="/" className={buttonClass()}>
          Open Baton
        </Link>
      </CenteredPage>
    )
  }
  if (outcome?.sent) {
    return (
      <CenteredPage title="Allowed" hint="Return to your terminal. You can close this page.">
        <p className="text-base text-ink-2">If nothing happens there, run the command again with --paste.</p>
      </CenteredPage>
    )
  }
  if (outcome) {
    return (
      <CenteredPage
        title="Paste this code in your terminal"
        hint="It works once, within one minute. Give it to no other person: it gives full access to your account."
      >
        <Copyable text={outcome.code} label="code" autoFocus />
      </CenteredPage>
    )
  }
  return (
    <CenteredPage
      title={`Allow ${isolated(name)} to act as you?`}
      hint={`You are ${isolated(user.display_name)}, ${user.email}.`}
    >
      <form onSubmit={form.submit} className="space-y-4">
        <Notice tone="warn" title="It gets full access to your account">
          It can do everything that you can do. The program chose its own name, which is not verified: continue only if
          you ran the command yourself, just now.
        </Notice>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex flex-wrap justify-end gap-2">
          <Link to="/" className={buttonClass()}>
            Cancel
          </Link>
          <Button type="submit" look="primary" busy={form.busy}>
            Allow
          </Button>
        </div>
      </form>
    </CenteredPage>
  )
}
