import type { ResourceType, Webhook, WebhookFilters } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { refreshEndpoint, webhookEndpoint } from '../data/endpoints.ts'
import { useMe } from '../data/me.ts'
import { webhookQuery, whyManagers } from '../data/webhooks.ts'
import { usePeople } from '../data/workspaces.ts'
import { EndpointPanel } from '../deliveries/endpoint-panel.tsx'
import { EndpointPill } from '../deliveries/labels.tsx'
import { ReplaySection } from '../deliveries/replay-section.tsx'
import { Button } from '../ui/button.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Card, Page, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { messageOf } from '../ui/problem.ts'
import { Time } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { useCoverageText } from '../workspaces/team-coverage.tsx'
import { useFilterText } from './filter-text.ts'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookSecret } from './webhook-secret.tsx'

export function WebhookScreen() {
  const { webhookId } = useParams({ from: '/person/inside/settings/webhooks/$webhookId' })
  const { isManager } = useMe()
  const webhook = useQuery({ ...webhookQuery(webhookId), enabled: isManager })
  if (!isManager) return <ManagersOnly title="Webhook" reason={whyManagers} />
  return (
    <Page
      width="reading"
      title={
        <Crumbs
          above={[
            <Link key="webhooks" to="/settings/webhooks">
              Webhooks
            </Link>,
          ]}
        >
          {webhook.data?.label ?? 'Webhook'}
        </Crumbs>
      }
      actions={webhook.data && <EndpointPill state={webhook.data.state} />}
    >
      <Loaded query={webhook}>
        {(data) => (
          <>
            <EndpointPanel
              endpoint={webhookEndpoint(data.id)}
              state={data.state}
              url={data.url}
              types={[...data.resource_types, 'Ping']}
            />
            <Details webhook={data} />
            <WebhookSecret webhook={data} />
            <ReplaySection endpoint={webhookEndpoint(data.id)} state={data.state} />
            <Danger webhook={data} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Details({ webhook }: { webhook: Webhook }) {
  const [editing, setEditing] = useState(false)
  const people = usePeople()
  const coverageText = useCoverageText()
  const by = webhook.created_by ? people.get(webhook.created_by)?.display_name : undefined
  if (editing) {
    return (
      <Section title="Edit" hint="Pending deliveries go to the new URL.">
        <Card className="p-4">
          <WebhookForm
            initial={webhook}
            action="Save webhook"
            onSubmit={async ({ label, url, all_teams, team_ids, resource_types, filters }) => {
              const fields = { label, url, all_teams, team_ids, resource_types, filters }
              await api.updateWebhook({ webhook_id: webhook.id, ...fields })
              await refreshEndpoint(webhookEndpoint(webhook.id))
              setEditing(false)
              showToast('Webhook saved')
            }}
          >
            <Button onClick={() => setEditing(false)}>Cancel</Button>
          </WebhookForm>
        </Card>
      </Section>
    )
  }
  return (
    <Section title="Details" actions={<Button onClick={() => setEditing(true)}>Edit</Button>}>
      <Card className="p-4">
        <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1.5 [&_dt]:text-ink-3">
          <dt>URL</dt>
          <dd className="font-mono text-xs leading-5 wrap-anywhere">{webhook.url}</dd>
          <dt>Events</dt>
          <dd>{webhook.resource_types.map((type) => `${type}s`).join(', ')}</dd>
          {webhook.filters && (
            <>
              <dt>Filters</dt>
              <dd>
                <Filters filters={webhook.filters} />
              </dd>
            </>
          )}
          <dt>Teams</dt>
          <dd>{coverageText(webhook)}</dd>
          <dt>Created</dt>
          <dd>
            {by && `by ${by}, `}
            <Time at={webhook.created_at} />
          </dd>
        </dl>
      </Card>
    </Section>
  )
}

/** One line for each condition. */
function Filters({ filters }: { filters: WebhookFilters }) {
  const textOf = useFilterText()
  return (
    <ul>
      {Object.entries(filters).flatMap(([type, conditions]) =>
        Object.entries(conditions).map(([key, values]) => {
          const { subject, values: text } = textOf(type as ResourceType, key, values)
          return (
            <li key={`${type} ${key}`} className="wrap-anywhere">
              {subject}: <bdi>{text}</bdi>
            </li>
          )
        }),
      )}
    </ul>
  )
}

function Danger({ webhook }: { webhook: Webhook }) {
  const [confirming, setConfirming] = useState(false)
  const navigate = useNavigate()
  return (
    <Section title="Delete" hint="Cancels pending deliveries and deletes the secret.">
      <Button look="danger" onClick={() => setConfirming(true)}>
        Delete webhook
      </Button>
      <Confirm
        open={confirming}
        onClose={() => setConfirming(false)}
        title={`Delete ${webhook.label}?`}
        action="Delete permanently"
        typed={webhook.label}
        onConfirm={async () => {
          // Leave first: this page polls the webhook and would show an error after the deletion.
          await navigate({ to: '/settings/webhooks' })
          try {
            await api.deleteWebhook({ webhook_id: webhook.id })
            await queries.invalidateQueries({ queryKey: ['webhooks'], exact: true })
            queries.removeQueries({ queryKey: ['webhooks', webhook.id] })
            showToast(`${webhook.label} deleted`)
          } catch (error) {
            showToast(`${webhook.label} was not deleted. ${messageOf(error)}`, { tone: 'bad' })
          }
        }}
      >
        <p>All pending and held deliveries are canceled.</p>
        <p>To pause it, disable it instead.</p>
      </Confirm>
    </Section>
  )
}
