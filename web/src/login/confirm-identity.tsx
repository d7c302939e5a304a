import { Fingerprint } from 'lucide-react'
import { type ComponentType, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { accountQuery } from '../data/account.ts'
import { api, queries } from '../data/api.ts'
import { instanceQuery } from '../data/instance.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Input } from '../ui/field.tsx'
import { useForm } from '../ui/form.ts'
import { sentence } from '../ui/sentence.ts'
import { Notice } from '../ui/states.tsx'
import { ProviderButton } from './other-ways.tsx'
import { confirmWithPasskey } from './passkey.ts'

interface WayProps {
  onConfirmed: () => void
}

/** How a user can confirm, by the names of the sign-in methods, in the order of the dialog. */
const ways: Record<string, ComponentType<WayProps>> = { password: PasswordWay, passkey: PasskeyWay, sso: SsoWay }

let asked: Promise<boolean> | null = null

/** Opens the dialog. Resolves to whether the user confirmed; requests at the same time share one dialog. */
export function confirmIdentity(methods: readonly string[]): Promise<boolean> {
  asked ??= show(methods).finally(() => {
    asked = null
  })
  return asked
}

/** In a React root apart: a request of any screen can need it, also one outside of React. */
function show(methods: readonly string[]): Promise<boolean> {
  const container = document.body.appendChild(document.createElement('div'))
  // Ids of labels must differ from those of the page.
  const root = createRoot(container, { identifierPrefix: 'confirm-' })
  return new Promise((resolve) => {
    const close = (confirmed: boolean) => {
      root.unmount()
      container.remove()
      resolve(confirmed)
    }
    root.render(<ConfirmIdentity methods={methods} onClose={close} />)
  })
}

function ConfirmIdentity({ methods, onClose }: { methods: readonly string[]; onClose: (confirmed: boolean) => void }) {
  const usable = Object.entries(ways).filter(([method]) => methods.includes(method))
  return (
    <Dialog
      open
      size="sm"
      onClose={() => onClose(false)}
      title="Confirm your identity"
      description="You signed in some time ago. Confirm that it is you, then this goes on."
    >
      <div className="space-y-4 pb-3">
        {usable.map(([method, Way]) => (
          <Way key={method} onConfirmed={() => onClose(true)} />
        ))}
        {usable.length === 0 && <Notice>Sign out, sign in again and repeat the change.</Notice>}
      </div>
    </Dialog>
  )
}

function PasswordWay({ onConfirmed }: WayProps) {
  const [password, setPassword] = useState('')
  const form = useForm(async () => {
    await api.reauthenticate({ password })
    onConfirmed()
  }, ['password'])
  return (
    <form onSubmit={form.submit} className="space-y-3">
      <Field label="Your password" error={sentence(form.errors.password)}>
        <Input
          type="password"
          autoComplete="current-password"
          required
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      <Button type="submit" look="primary" className="w-full" busy={form.busy}>
        Confirm
      </Button>
    </form>
  )
}

function PasskeyWay({ onConfirmed }: WayProps) {
  const form = useForm(async () => {
    await confirmWithPasskey()
    onConfirmed()
  })
  return (
    <div className="space-y-2">
      <Button icon={Fingerprint} className="w-full" busy={form.busy} onClick={() => void form.submit()}>
        Use a passkey
      </Button>
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
    </div>
  )
}

/** Leaves the page, so the user repeats the change afterwards. */
function SsoWay(_: WayProps) {
  const [providers, setProviders] = useState<{ id: string; name: string }[]>([])
  useEffect(() => {
    void Promise.all([queries.ensureQueryData(instanceQuery), queries.ensureQueryData(accountQuery)]).then(
      ([{ sso }, { identities }]) =>
        setProviders(sso.providers.filter(({ id }) => identities.some(({ provider_id }) => provider_id === id))),
    )
  }, [])
  if (providers.length === 0) return null
  return (
    <div className="space-y-2">
      {providers.map(({ id, name }) => (
        <ProviderButton
          key={id}
          id={id}
          name={name}
          purpose="reauth"
          next={() => location.pathname + location.search}
        />
      ))}
      <p className="text-xs text-ink-3">You return to this page. Then repeat the change.</p>
    </div>
  )
}
