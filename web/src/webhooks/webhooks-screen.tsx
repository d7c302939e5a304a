import type { Webhook } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { webhookEndpoint } from '../data/endpoints.ts'
import { useMe } from '../data/me.ts'
import { webhooksQuery, whyManagers } from '../data/webhooks.ts'
import { HealthInRow } from '../deliveries/health.tsx'
import { EndpointPill } from '../deliveries/labels.tsx'
import { SecretForms } from '../deliveries/secret-forms.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty } from '../ui/states.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { useCoverageText } from '../workspaces/team-coverage.tsx'
import { emptyWebhook, WebhookForm } from './webhook-form.tsx'

export function WebhooksScreen() {
  const { isManager } = useMe()
  return isManager ? <Webhooks /> : <ManagersOnly title="Webhooks" reason={whyManagers} />
}

function Webhooks() {
  const webhooks = useQuery({ ...webhooksQuery, refetchInterval: 15_000 })
  const [creating, setCreating] = useState(false)
  const create = () => setCreating(true)
  useCommands([{ id: 'webhook.create', title: 'Create webhook', section: 'Create', keys: 'n w', run: create }])
  const button = (
    <Button look="primary" icon={Plus} command="webhook.create" onClick={create}>
      Create webhook
    </Button>
  )
  return (
    <Page title="Webhooks" actions={button}>
      <Loaded query={webhooks}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={WebhookIcon} title="No webhooks yet" action={button}>
              A webhook sends changes of issues, comments and projects to your URL. Deliveries are signed and retried.
            </Empty>
          ) : (
            <List webhooks={list} />
          )
        }
      </Loaded>
      {creating && <CreateWebhook onClose={() => setCreating(false)} />}
    </Page>
  )
}

function List({ webhooks }: { webhooks: Webhook[] }) {
  const { list } = useRows('webhook')
  const coverageText = useCoverageText()
  return (
    <ul {...list} aria-label="Webhooks" className="divide-y border-b">
      {webhooks.map((webhook) => (
        <li key={webhook.id} className={rowItem}>
          <Link
            data-row={webhook.id}
            to="/settings/webhooks/$webhookId"
            params={{ webhookId: webhook.id }}
            className="flex h-9 items-center gap-3 px-4 outline-hidden"
          >
            <span className="w-24 shrink-0">
              <EndpointPill state={webhook.state} />
            </span>
            <span className="min-w-0 flex-1 truncate">
              <span className="font-medium">{webhook.label}</span>{' '}
              <span className="text-ink-3 max-sm:hidden">{new URL(webhook.url).host}</span>
            </span>
            <span className="w-36 shrink-0 truncate text-ink-2 max-lg:hidden">{coverageText(webhook)}</span>
            <span className="w-44 shrink-0 truncate text-ink-2 max-lg:hidden">
              {webhook.resource_types.map((type) => `${type}s`).join(', ')}
            </span>
            <span className="shrink-0">
              <HealthInRow endpoint={webhookEndpoint(webhook.id)} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function CreateWebhook({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [created, setCreated] = useState<{ id: string; label: string; secret: string } | null>(null)
  const open = () =>
    created && void navigate({ to: '/settings/webhooks/$webhookId', params: { webhookId: created.id } })
  if (created) {
    return (
      <Dialog
        open
        onClose={() => open()}
        title={`${created.label} created`}
        description="This secret signs the deliveries. Copy it to the receiver; owners and admins can view it again later."
        footer={
          <Button look="primary" onClick={() => open()} autoFocus>
            Open webhook
          </Button>
        }
      >
        <SecretForms secret={created.secret} />
      </Dialog>
    )
  }
  return (
    <Dialog open onClose={onClose} title="Create webhook">
      <WebhookForm
        initial={emptyWebhook}
        action="Create webhook"
        onSubmit={async ({ team_ids, ...fields }) => {
          setCreated(await api.createWebhook(fields.all_teams ? fields : { ...fields, team_ids }))
          void queries.invalidateQueries({ queryKey: ['webhooks'] })
        }}
      >
        <Button onClick={onClose}>Cancel</Button>
      </WebhookForm>
    </Dialog>
  )
}
