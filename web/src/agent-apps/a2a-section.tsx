import type { AgentApp } from '@baton/protocol'
import { KeyRound, RefreshCw } from 'lucide-react'
import { useId, useState } from 'react'
import { refreshApps } from '../data/agent-apps.ts'
import { api } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useForm } from '../ui/form.ts'
import { Card, Section } from '../ui/layout.tsx'
import { Missing } from '../ui/missing.tsx'
import { Notice } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'
import { CardDetails } from './a2a-card.tsx'
import { CredentialFields, credentialOf, missingCredential, noCredential } from './a2a-credential.tsx'
import { cardProblem } from './a2a-register.tsx'

const credentialNames = { bearer: 'Bearer token', api_key: 'API key' }

/** Card, interface and credential of an A2A agent. */
export function A2aSection({ app, a2a }: { app: AgentApp; a2a: NonNullable<AgentApp['a2a']> }) {
  const { isManager } = useMe()
  const [editing, setEditing] = useState(false)
  const { run, busy, error, problem } = useAction(async (accept: boolean) => {
    await api.refreshA2aCard({ app_id: app.id, accept })
    await refreshApps()
    showToast(accept ? 'New address accepted' : 'Card read again')
  })
  const { card, interface: used, credential_type, new_origin } = a2a
  return (
    <Section title="A2A agent" hint={<span className="font-mono text-xs wrap-anywhere">{a2a.card_url}</span>}>
      {new_origin && (
        <Notice
          tone="bad"
          title="The card names another address"
          actions={
            isManager && (
              <Button look="primary" busy={busy} onClick={() => void run(true)}>
                Accept new address
              </Button>
            )
          }
        >
          <p>
            The agent was approved at {new URL(used.url).origin}. Its card now names {new_origin}. Nothing is sent until
            an owner or admin accepts it; then the credential is sent there too.
          </p>
        </Notice>
      )}
      <Card className="space-y-4 p-4">
        <CardDetails card={card} used={used}>
          <dt>Credential</dt>
          <dd>{credential_type ? credentialNames[credential_type] : 'None'}</dd>
          <dt>Card read</dt>
          <dd>
            <Time at={a2a.fetched_at} />
          </dd>
        </CardDetails>
        {isManager && (
          <div className="flex flex-wrap gap-2">
            <Button icon={RefreshCw} busy={busy} onClick={() => void run(false)}>
              Read card again
            </Button>
            <Button icon={KeyRound} onClick={() => setEditing(true)}>
              Change credential
            </Button>
          </div>
        )}
        {problem && <Notice tone="bad">{cardProblem(error) ?? problem}</Notice>}
      </Card>
      {editing && <CredentialDialog app={app} onClose={() => setEditing(false)} />}
    </Section>
  )
}

function CredentialDialog({ app, onClose }: { app: AgentApp; onClose: () => void }) {
  const id = useId()
  const [draft, setDraft] = useState({ ...noCredential, type: app.a2a?.credential_type ?? noCredential.type })
  const credential = credentialOf(draft)
  const form = useForm(async () => {
    if (credential === undefined) return
    await api.setA2aCredential({ app_id: app.id, credential })
    await refreshApps()
    showToast('Credential changed')
    onClose()
  }, ['credential', 'credential.header', 'credential.token', 'credential.value'])
  return (
    <Dialog
      open
      onClose={onClose}
      title="Change credential"
      size="sm"
      footer={
        <>
          <Missing>{missingCredential(draft)}</Missing>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} look="primary" busy={form.busy} disabled={credential === undefined}>
            Save credential
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={form.submit} className="space-y-3 pb-3">
        <CredentialFields value={draft} onChange={setDraft} errors={form.errors} />
        {form.problem && <Notice tone="bad">{form.problem}</Notice>}
      </form>
    </Dialog>
  )
}
