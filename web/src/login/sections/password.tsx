import type { Account } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery, rereadAccount } from '../../data/account.ts'
import { api } from '../../data/api.ts'
import { instanceQuery } from '../../data/instance.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { sentence } from '../../ui/sentence.ts'
import { Notice } from '../../ui/states.tsx'
import { showToast } from '../../ui/toast.tsx'

export function PasswordSection() {
  const account = useQuery(accountQuery)
  const { data: instance } = useQuery(instanceQuery)
  // Only the break-glass account keeps a password there; it is changed with a link of the operator.
  if (!instance || instance.sso.only) return null
  return (
    <Section
      title="Password"
      hint="A new one signs you out everywhere else, and ends your connected programs and personal tokens."
    >
      <Loaded query={account} rows={2}>
        {(account) => (account.has_password ? <ChangePassword account={account} /> : <SetPassword />)}
      </Loaded>
    </Section>
  )
}

function ChangePassword({ account: { identities, passkeys } }: { account: Account }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [removing, setRemoving] = useState(false)
  const form = useForm(async () => {
    await api.changePassword({ current_password: current, new_password: next })
    setCurrent('')
    setNext('')
    showToast('Password changed. You are signed out everywhere else.')
  }, ['current_password', 'new_password'])
  return (
    <>
      <form onSubmit={form.submit} className="max-w-sm space-y-3">
        <Field label="Current password" error={sentence(form.errors.current_password)}>
          <Input
            type="password"
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.target.value)}
          />
        </Field>
        <NewPassword value={next} onChange={setNext} error={form.errors.new_password} />
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" busy={form.busy}>
            Change password
          </Button>
          {identities.length + passkeys > 0 && (
            <Button look="quiet" onClick={() => setRemoving(true)}>
              Remove password
            </Button>
          )}
        </div>
      </form>
      <Confirm
        open={removing}
        onClose={() => setRemoving(false)}
        title="Remove your password?"
        action="Remove"
        onConfirm={async () => {
          await api.removePassword()
          await rereadAccount()
        }}
      >
        <p>You sign in with your other methods. You can set a new password later.</p>
      </Confirm>
    </>
  )
}

function SetPassword() {
  const [password, setPassword] = useState('')
  const form = useForm(async () => {
    await api.setPassword({ new_password: password })
    await rereadAccount()
    showToast('Password set')
  }, ['new_password'])
  return (
    <form onSubmit={form.submit} className="max-w-sm space-y-3">
      <p className="text-ink-2">Your account has no password.</p>
      <NewPassword value={password} onChange={setPassword} error={form.errors.new_password} />
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <Button type="submit" busy={form.busy}>
        Set password
      </Button>
    </form>
  )
}

const NewPassword = ({
  value,
  onChange,
  error,
}: {
  value: string
  onChange: (value: string) => void
  error: string | undefined
}) => (
  <Field label="New password" hint={`At least ${limits.passwordMin} characters.`} error={sentence(error)}>
    <Input
      type="password"
      autoComplete="new-password"
      required
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  </Field>
)
