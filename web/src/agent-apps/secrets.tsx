import type { AgentApp } from '@baton/protocol'
import { Check, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api, isBatonError } from '../data/api.ts'
import { OverlapField, rotationOf, usualOverlapHours } from '../deliveries/overlap-field.tsx'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Rows, Section } from '../ui/layout.tsx'
import { showError, showToast } from '../ui/toast.tsx'
import { type EnvFile, NewSecrets } from './new-secrets.tsx'

type SecretKind = 'client' | 'webhook'

const texts: Record<SecretKind, { title: string; about: string; warning: string }> = {
  client: {
    title: 'Client secret',
    about: 'Authenticates the app when it requests tokens.',
    warning:
      'The old secret stops working at once: the app cannot complete an installation or refresh its tokens until it has the new one. Its current access tokens expire within an hour.',
  },
  webhook: {
    title: 'Webhook secret',
    about: 'Signs deliveries, so the app can verify them.',
    warning: 'You can redeliver deliveries that the app rejected.',
  },
}

export function Secrets({ app }: { app: AgentApp }) {
  const [rotating, setRotating] = useState<SecretKind | null>(null)
  const [created, setCreated] = useState<EnvFile | null>(null)
  const [hours, setHours] = useState(usualOverlapHours)
  /** As far as this page knows: the app's record does not say. */
  const [hasOverlap, setHasOverlap] = useState(false)
  const ids = { APP_ID: app.id, CLIENT_ID: app.client_id }
  const rotate = async () => {
    if (rotating === 'client') {
      setCreated({ ...ids, CLIENT_SECRET: (await api.rotateClientSecret({ app_id: app.id })).client_secret })
    } else {
      const rotation = api.rotateAppWebhookSecret({ app_id: app.id, ...rotationOf(hours) })
      const { webhook_secret } = await rotation.catch((error) => {
        setHasOverlap(isBatonError(error) && error.code === 'ROTATION_UNDER_WAY')
        throw error
      })
      setHasOverlap(hours > 0)
      setCreated({ ...ids, WEBHOOK_SECRET: webhook_secret })
    }
  }
  const { run: finish, busy: finishing } = useAction(async () => {
    await api.finishAppRotation({ app_id: app.id })
    setHasOverlap(false)
    showToast('Only the new secret signs now')
  }, showError)
  if (created) {
    return (
      <NewSecrets title="New secret" settings={created}>
        <Button look="primary" autoFocus onClick={() => setCreated(null)}>
          I've saved it
        </Button>
      </NewSecrets>
    )
  }
  return (
    <Section title="Secrets" hint="Shown once. Lost it? Rotate it.">
      <Rows label="Secrets">
        {(['client', 'webhook'] as const).map((kind) => (
          <li key={kind} className="flex items-center gap-3 px-4 py-2.5 max-sm:flex-wrap">
            <div className="min-w-0 flex-1">
              <p className="font-medium">{texts[kind].title}</p>
              <p className="text-xs text-ink-2">{texts[kind].about}</p>
            </div>
            {kind === 'webhook' && hasOverlap && (
              <Button size="sm" icon={Check} busy={finishing} onClick={() => void finish()}>
                End overlap
              </Button>
            )}
            <Button size="sm" icon={KeyRound} onClick={() => setRotating(kind)}>
              Rotate<span className="sr-only"> the {kind} secret</span>
            </Button>
          </li>
        ))}
      </Rows>
      {rotating && (
        <Confirm
          open
          onClose={() => setRotating(null)}
          title={`Rotate the ${rotating} secret of ${isolated(app.name)}?`}
          action={`Rotate the ${rotating} secret`}
          typed={app.name}
          onConfirm={rotate}
        >
          {rotating === 'webhook' && <OverlapField hours={hours} onChange={setHours} />}
          <p>{texts[rotating].warning}</p>
        </Confirm>
      )}
    </Section>
  )
}
