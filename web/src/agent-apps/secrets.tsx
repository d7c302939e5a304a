import type { AgentApp } from '@baton/protocol'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Rows, Section } from '../ui/layout.tsx'
import { type EnvFile, SecretsOnce } from './secrets-once.tsx'

type Which = 'client' | 'webhook'

const words: Record<Which, { title: string; about: string; warning: string }> = {
  client: {
    title: 'Client secret',
    about: 'The app proves with it who it is when it fetches tokens.',
    warning:
      'The old secret stops at once: the app can neither finish an installation nor refresh its tokens until it has the new one. Tokens that it holds live on for an hour at most.',
  },
  webhook: {
    title: 'Webhook secret',
    about: 'Deliveries are signed with it, so that the app knows that they come from here.',
    warning:
      'The old secret stops at once, also for retries: the app will refuse deliveries until it has the new one. What it refused can be delivered again.',
  },
}

export function Secrets({ app }: { app: AgentApp }) {
  const [asked, setAsked] = useState<Which | null>(null)
  const [fresh, setFresh] = useState<EnvFile | null>(null)
  const ids = { APP_ID: app.id, CLIENT_ID: app.client_id }
  const rotate = async () => {
    if (asked === 'client') {
      setFresh({ ...ids, CLIENT_SECRET: (await api.rotateClientSecret({ app_id: app.id })).client_secret })
    } else {
      setFresh({ ...ids, WEBHOOK_SECRET: (await api.rotateAppWebhookSecret({ app_id: app.id })).webhook_secret })
    }
  }
  if (fresh) {
    return (
      <SecretsOnce title="The new secret" settings={fresh}>
        <Button look="primary" autoFocus onClick={() => setFresh(null)}>
          I have saved it
        </Button>
      </SecretsOnce>
    )
  }
  return (
    <Section title="Secrets" hint="They are never shown again; whoever lost one makes a new one.">
      <Rows label="Secrets">
        {(['client', 'webhook'] as const).map((which) => (
          <li key={which} className="flex items-center gap-3 px-4 py-2.5 max-sm:flex-wrap">
            <div className="min-w-0 flex-1">
              <p className="font-medium">{words[which].title}</p>
              <p className="text-xs text-ink-2">{words[which].about}</p>
            </div>
            <Button size="sm" icon={KeyRound} onClick={() => setAsked(which)}>
              Rotate<span className="sr-only"> the {which} secret</span>
            </Button>
          </li>
        ))}
      </Rows>
      {asked && (
        <Confirm
          open
          onClose={() => setAsked(null)}
          title={`Rotate the ${asked} secret of ${app.name}?`}
          action={`Rotate the ${asked} secret`}
          typed={app.name}
          onConfirm={rotate}
        >
          <p>{words[asked].warning}</p>
        </Confirm>
      )}
    </Section>
  )
}
