import type { Account } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery, rereadAccount } from '../../data/account.ts'
import { api, queries } from '../../data/api.ts'
import { instanceQuery } from '../../data/instance.ts'
import { meQuery } from '../../data/me.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { sentence } from '../../ui/sentence.ts'
import { Notice } from '../../ui/states.tsx'
import { showToast } from '../../ui/toast.tsx'

export function EmailSection() {
  const account = useQuery(accountQuery)
  const { data: instance } = useQuery(instanceQuery)
  return (
    <Section title="E-mail address" hint="For signing in, and for notifications.">
      <Loaded query={account} rows={2}>
        {(account) => (
          <>
            <Status account={account} hasMail={instance?.mail ?? true} />
            <ChangeEmail account={account} hasMail={instance?.mail ?? true} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

function Status({ account, hasMail }: { account: Account; hasMail: boolean }) {
  const { email, email_verified, pending_email, mail_problem } = account
  if (!hasMail) {
    return (
      <Notice>This instance sends no mail, so addresses are not verified and you get no notifications by mail.</Notice>
    )
  }
  return (
    <div className="space-y-3">
      {mail_problem ? (
        <Notice tone="warn" title={`Mail to ${email} is refused`} actions={<SendVerification />}>
          You get no notifications until you verify the address again. The mail server said: {mail_problem}
        </Notice>
      ) : (
        !email_verified && (
          <Notice tone="warn" title={`Verify ${email}`} actions={<SendVerification />}>
            You get no notifications until you have verified your address. Use the link that we mailed you.
          </Notice>
        )
      )}
      {pending_email && (
        <Notice title={`Confirm ${pending_email}`}>
          Use the link that we mailed there within 24 hours. Until then your address is {email}.
        </Notice>
      )}
      {email_verified && !mail_problem && (
        <p className="text-ink-2">
          <bdi>{email}</bdi> is verified.
        </p>
      )}
    </div>
  )
}

function SendVerification() {
  const form = useForm(async () => {
    await api.requestVerification()
    showToast('Verification mail sent')
  })
  return (
    <>
      <Button size="sm" busy={form.busy} onClick={() => void form.submit()}>
        Send link again
      </Button>
      {form.problem && (
        <p role="alert" className="text-bad-ink">
          {form.problem}
        </p>
      )}
    </>
  )
}

function ChangeEmail({ account, hasMail }: { account: Account; hasMail: boolean }) {
  const [email, setEmail] = useState('')
  const form = useForm(async () => {
    await api.changeEmail({ email })
    setEmail('')
    await Promise.all([rereadAccount(), queries.invalidateQueries({ queryKey: meQuery.queryKey })])
    showToast(hasMail ? `We mailed a link to ${email}` : 'E-mail address changed')
  }, ['email'])
  return (
    <form onSubmit={form.submit} className="max-w-sm space-y-3">
      <Field
        label="New e-mail address"
        hint={hasMail ? 'It changes when you use the link that we mail there.' : 'It changes at once.'}
        error={sentence(form.errors.email)}
      >
        <Input
          type="email"
          autoComplete="email"
          required
          placeholder={account.email}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <Button type="submit" busy={form.busy}>
        Change e-mail
      </Button>
    </form>
  )
}
