import type { Webhook } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { refreshEndpoint, webhookEndpoint } from '../data/endpoints.ts'
import { useMe } from '../data/me.ts'
import { webhookQuery, whyManagers } from '../data/webhooks.ts'
import { usePeople } from '../data/workspaces.ts'
import { EndpointPanel } from '../deliveries/endpoint-panel.tsx'
import { EndpointPill } from '../deliveries/words.tsx'
import { Button } from '../ui/button.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Card, Page, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { messageOf } from '../ui/problem.ts'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { useCoverageInWords } from '../workspaces/team-coverage.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookSecret } from './webhook-secret.tsx'

export function WebhookScreen() {
  const { webhookId } = useParams({ from: '/person/inside/settings/webhooks/$webhookId' })
  const { isManager } = useMe()
  const webhook = useQuery({ ...webhookQuery(webhookId), enabled: isManager })
  if (!isManager) return <ManagersOnly title="Webhook" what={whyManagers} />
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
            <EndpointPanel endpoint={webhookEndpoint(data.id)} state={data.state} url={data.url} />
            <Details webhook={data} />
            <WebhookSecret webhook={data} />
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
  const inWords = useCoverageInWords()
  const by = webhook.created_by ? people.get(webhook.created_by)?.display_name : undefined
  if (editing) {
    return (
      <Section title="Edit" hint="What is still to be delivered goes to the new address.">
        <Card className="p-4">
          <WebhookForm
            initial={webhook}
            action="Save webhook"
            onSubmit={async ({ label, url, all_teams, team_ids, resource_types }) => {
              const fields = { label, url, all_teams, team_ids, resource_types }
              await api.updateWebhook({ webhook_id: webhook.id, ...fields })
              await refreshEndpoint(webhookEndpoint(webhook.id))
              setEditing(false)
              say('The webhook is saved.')
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
          <dt>Teams</dt>
          <dd>{inWords(webhook)}</dd>
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

function Danger({ webhook }: { webhook: Webhook }) {
  const [asked, setAsked] = useState(false)
  const navigate = useNavigate()
  return (
    <Section title="Delete" hint="Cancels what is still to be delivered and forgets the secret.">
      <Button look="danger" onClick={() => setAsked(true)}>
        Delete webhook
      </Button>
      <Confirm
        open={asked}
        onClose={() => setAsked(false)}
        title={`Delete ${webhook.label}?`}
        action="Delete for good"
        typed={webhook.label}
        onConfirm={async () => {
          // This page asks for the webhook again and again, and would be told that there is none.
          await navigate({ to: '/settings/webhooks' })
          try {
            await api.deleteWebhook({ webhook_id: webhook.id })
            await queries.invalidateQueries({ queryKey: ['webhooks'], exact: true })
            queries.removeQueries({ queryKey: ['webhooks', webhook.id] })
            say(`${webhook.label} is deleted.`)
          } catch (error) {
            say(`${webhook.label} was not deleted. ${messageOf(error)}`, { tone: 'bad' })
          }
        }}
      >
        <p>Nothing is sent to it from then on, and everything that was pending or held is canceled.</p>
        <p>If you only want a pause, disable it instead.</p>
      </Confirm>
    </Section>
  )
}
