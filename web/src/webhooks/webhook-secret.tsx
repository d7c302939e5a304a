import type { Webhook } from '@baton/protocol'
import { Eye, EyeOff, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Card, Section } from '../ui/layout.tsx'
import { showError } from '../ui/toast.tsx'

/** Loads the secret only on request, because each read is recorded in the audit log. */
export function WebhookSecret({ webhook }: { webhook: Webhook }) {
  const [secret, setSecret] = useState<string | null>(null)
  const [rotating, setRotating] = useState(false)
  const { run: show, busy } = useAction(
    async () => setSecret((await api.getWebhookSecret({ webhook_id: webhook.id })).secret),
    showError,
  )
  return (
    <Section title="Secret" hint="Signs deliveries. The audit log records who views or rotates it.">
      <Card className="space-y-3 p-4">
        {secret && <Copyable text={secret} label="webhook secret" />}
        <div className="flex flex-wrap gap-2">
          {secret ? (
            <Button icon={EyeOff} onClick={() => setSecret(null)}>
              Hide secret
            </Button>
          ) : (
            <Button icon={Eye} busy={busy} onClick={() => void show()}>
              Show secret (recorded)
            </Button>
          )}
          <Button icon={KeyRound} onClick={() => setRotating(true)}>
            Rotate secret
          </Button>
        </div>
      </Card>
      <Confirm
        open={rotating}
        onClose={() => setRotating(false)}
        title={`Rotate the secret of ${webhook.label}?`}
        action="Rotate secret"
        typed={webhook.label}
        onConfirm={async () => setSecret((await api.rotateWebhookSecret({ webhook_id: webhook.id })).secret)}
      >
        <p>
          The old secret stops working at once, also for retries: the receiver will reject deliveries until it has the
          new one. You can redeliver rejected deliveries.
        </p>
      </Confirm>
    </Section>
  )
}
