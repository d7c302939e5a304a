import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { instanceQuery } from '../data/instance.ts'
import { Button } from '../ui/button.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import { CenteredPage, inlineLink } from './centered-page.tsx'

const backToSignIn = (
  <Link to="/sign-in" search={{ next: undefined }} className={inlineLink}>
    Back to sign in
  </Link>
)

export function ForgotPasswordScreen() {
  const { data: instance } = useQuery(instanceQuery)
  const [email, setEmail] = useState('')
  const [sentTo, setSentTo] = useState<string | null>(null)
  const form = useForm(async () => {
    await api.requestPasswordReset({ email })
    setSentTo(email)
  }, ['email'])
  if (!instance) return null
  if (!instance.mail) {
    return (
      <CenteredPage title="Forgot password?" hint="This instance sends no mail." footer={backToSignIn}>
        <p className="text-base text-ink-2">
          Contact the operator of the instance, who can create a link for you with{' '}
          <code className="font-mono text-sm">npm run operate -- reset-link</code> and your e-mail address.
        </p>
      </CenteredPage>
    )
  }
  if (sentTo !== null) {
    return (
      <CenteredPage title="Check your mail" footer={backToSignIn}>
        <p role="status" className="text-base text-ink-2">
          If <bdi className="font-medium text-ink">{sentTo}</bdi> has an account, we sent a link there. It works for one
          hour. Nothing arrived? Look in the spam folder, or try again later.
        </p>
      </CenteredPage>
    )
  }
  return (
    <CenteredPage
      title="Forgot password?"
      hint="We mail you a link with which you set a new one."
      footer={backToSignIn}
    >
      <form onSubmit={form.submit} className="space-y-4">
        <Field label="E-mail" error={sentence(form.errors.email)}>
          <Input
            type="email"
            autoComplete="username"
            required
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </Field>
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <Button type="submit" look="primary" className="w-full" busy={form.busy}>
          Send link
        </Button>
      </form>
    </CenteredPage>
  )
}
