import type { AgentApp } from '@baton/protocol'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Rows, Section } from '../ui/layout.tsx'
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
    warning:
      'The old secret stops working at once, also for retries: the app will reject deliveries until it has the new one. You can redeliver rejected deliveries.',
  },
}

export function Secrets({ app }: { app: AgentApp }) {
  const [rotating, setRotating] = useState<SecretKind | null>(null)
  const [created, setCreated] = useState<EnvFile | null>(null)
  const ids = { APP_ID: app.id, CLIENT_ID: app.client_id }
  const rotate = async () => {
    if (rotating === 'client') {
      setCreated({ ...ids, CLIENT_SECRET: (await api.rotateClientSecret({ app_id: app.id })).client_secret })
    } else {
      setCreated({ ...ids, WEBHOOK_SECRET: (await api.rotateAppWebhookSecret({ app_id: app.id })).webhook_secret })
    }
  }
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
          <p>{texts[rotating].warning}</p>
        </Confirm>
      )}
    </Section>
  )
}
