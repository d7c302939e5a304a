import type { Instance } from '@baton/protocol'
import { Fingerprint, LogIn } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { useForm } from '../ui/form.ts'
import { isolated } from '../ui/isolated.ts'
import { Notice } from '../ui/states.tsx'
import { signInWithPasskey } from './passkey.ts'
import { openProvider } from './sso.ts'

type Providers = Instance['sso']['providers']

/** Sign-in with a provider or a passkey: above the form with the password. */
export const OtherWays = ({
  providers,
  passkeys,
  next,
}: {
  providers: Providers
  passkeys: boolean
  next: () => string
}) => (
  <div className="space-y-2">
    {providers.map(({ id, name }) => (
      <ProviderButton key={id} id={id} name={name} next={next} />
    ))}
    {passkeys && <PasskeyButton next={next} />}
  </div>
)

export function ProviderButton({
  id,
  name,
  next,
  purpose = 'sign_in',
}: {
  id: string
  name: string
  next: () => string
  purpose?: 'sign_in' | 'reauth'
}) {
  const form = useForm(() => openProvider(id, { purpose, next: next() }))
  return (
    <>
      <Button icon={LogIn} className="w-full" busy={form.busy} onClick={() => void form.submit()}>
        <span className="truncate">Continue with {isolated(name)}</span>
      </Button>
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
    </>
  )
}

function PasskeyButton({ next }: { next: () => string }) {
  const form = useForm(async () => {
    await signInWithPasskey()
    location.assign(next())
  })
  return (
    <>
      <Button icon={Fingerprint} className="w-full" busy={form.busy} onClick={() => void form.submit()}>
        Sign in with a passkey
      </Button>
      {form.problem && <Notice tone="bad">{form.problem}</Notice>}
    </>
  )
}

export const Or = () => (
  <div className="my-5 flex items-center gap-3 text-xs text-ink-3">
    <span aria-hidden className="h-px flex-1 bg-line" />
    or
    <span aria-hidden className="h-px flex-1 bg-line" />
  </div>
)
