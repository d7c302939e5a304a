import type { Webhook } from '@baton/protocol'
import { Check, Eye, EyeOff, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { OverlapField, rotationOf, usualOverlapHours } from '../deliveries/overlap-field.tsx'
import { SecretForms } from '../deliveries/secret-forms.tsx'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Card, Section } from '../ui/layout.tsx'
import { Time } from '../ui/time.tsx'
import { showError, showToast } from '../ui/toast.tsx'

interface Shown {
  secret: string
  next?: { secret: string; takes_over_at: string }
}

/** Loads the secret only on request, because each read is recorded in the audit log. */
export function WebhookSecret({ webhook }: { webhook: Webhook }) {
  const [shown, setShown] = useState<Shown | null>(null)
  const [rotating, setRotating] = useState(false)
  const [hours, setHours] = useState(usualOverlapHours)
  const webhook_id = webhook.id
  const read = async () => setShown(await api.getWebhookSecret({ webhook_id }))
  const { run: show, busy } = useAction(read, showError)
  const { run: finish, busy: finishing } = useAction(async () => {
    setShown(await api.finishWebhookRotation({ webhook_id }))
    showToast('Only the new secret signs now')
  }, showError)
  return (
    <Section title="Secret" hint="Signs deliveries. The audit log records who views or rotates it.">
      <Card className="space-y-3 p-4">
        {shown && <SecretForms secret={shown.secret} />}
        {shown?.next && (
          <div className="space-y-2 border-t pt-3">
            <p>
              <span className="font-medium">Next secret</span>{' '}
              <span className="text-ink-2">
                becomes the only one <Time at={shown.next.takes_over_at} />. Until then webhook-signature is made with
                both.
              </span>
            </p>
            <SecretForms secret={shown.next.secret} />
            <Button icon={Check} busy={finishing} onClick={() => void finish()}>
              End overlap
            </Button>
          </div>
        )}
        <div className="flex flex-wrap gap-2">
          {shown ? (
            <Button icon={EyeOff} onClick={() => setShown(null)}>
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
        onConfirm={async () => {
          const { secret } = await api.rotateWebhookSecret({ webhook_id, ...rotationOf(hours) })
          if (hours === 0) setShown({ secret })
          else await read()
        }}
      >
        <OverlapField hours={hours} onChange={setHours} />
        <p>You can redeliver deliveries that the receiver rejected.</p>
      </Confirm>
    </Section>
  )
}
