import type { GitConnection, GitConnectionChange, GitDelivery } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api, queries } from '../data/api.ts'
import { connectionQuery, gitDeliveriesQuery, refreshConnections, whyManagers } from '../data/git.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Card, Page, Rows, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill } from '../ui/pill.tsx'
import { messageOf } from '../ui/problem.ts'
import { Notice } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { useCoverageText } from '../workspaces/team-coverage.tsx'
import { ConnectionForm } from './connection-form.tsx'
import { Received } from './git-screen.tsx'
import { comments, kindOf, outcomes } from './labels.ts'
import { SetupSteps } from './setup-steps.tsx'

export function ConnectionScreen() {
  const { connectionId } = useParams({ from: '/person/inside/settings/git/$connectionId' })
  const { isManager } = useMe()
  const connection = useQuery({ ...connectionQuery(connectionId), enabled: isManager })
  const [secret, setSecret] = useState<string>()
  if (!isManager) return <ManagersOnly title="Git" reason={whyManagers} />
  return (
    <Page
      width="reading"
      title={
        <Crumbs
          above={[
            <Link key="git" to="/settings/git">
              Git
            </Link>,
          ]}
        >
          <bdi>{connection.data?.name ?? 'Connection'}</bdi>
        </Crumbs>
      }
      actions={connection.data && <Received connection={connection.data} />}
    >
      <Loaded query={connection}>
        {(data) => (
          <>
            {data.refused > 0 && <Refused connection={data} />}
            <Section
              title="Setup"
              hint={data.received_at ? 'The git host is connected.' : 'Add a webhook at the git host.'}
            >
              <Card className="p-4">
                <SetupSteps connection={data} secret={secret} />
              </Card>
            </Section>
            <Details connection={data} />
            <Secret connection={data} secret={secret} onRotated={setSecret} />
            <Deliveries connection={data} />
            <Danger connection={data} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** A webhook with another secret, or one of a stranger. */
const Refused = ({ connection: { refused, received_at } }: { connection: GitConnection }) => (
  <Notice
    tone={received_at ? 'info' : 'warn'}
    title={`${refused.toLocaleString('en')} ${refused === 1 ? 'request' : 'requests'} refused`}
  >
    The signature was invalid. Check that the secret at the git host is the current one.
  </Notice>
)

function Details({ connection }: { connection: GitConnection }) {
  const [editing, setEditing] = useState(false)
  const coverageText = useCoverageText()
  const { id, kind, host, name, repositories, team_ids, has_token } = connection
  if (editing) {
    return (
      <Section title="Edit">
        <Card className="p-4">
          <ConnectionForm
            initial={{ kind, name, host, repositories, team_ids, token: '' }}
            hasToken={has_token}
            action="Save connection"
            onSubmit={async ({ kind: _, token, host: wanted, ...fields }) => {
              const change: GitConnectionChange = {
                ...fields,
                ...((wanted || kindOf(kind).host) !== host && { host: wanted || kindOf(kind).host }),
                ...(token && { token }),
              }
              await api.updateGitConnection({ connection_id: id, ...change })
              await refreshConnections()
              setEditing(false)
              showToast('Connection saved')
            }}
          >
            <Button onClick={() => setEditing(false)}>Cancel</Button>
          </ConnectionForm>
        </Card>
      </Section>
    )
  }
  const removeToken = async () => {
    await api.updateGitConnection({ connection_id: id, token: null })
    await refreshConnections()
    showToast('Token removed')
  }
  return (
    <Section title="Details" actions={<Button onClick={() => setEditing(true)}>Edit</Button>}>
      <Card className="p-4">
        <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1.5 [&_dt]:text-ink-3">
          <dt>Git host</dt>
          <dd>
            {kindOf(kind).label}, {host}
          </dd>
          <dt>Repositories</dt>
          <dd className="wrap-anywhere">{repositories.join(', ')}</dd>
          <dt>Teams</dt>
          <dd>{coverageText({ all_teams: team_ids === null, team_ids: team_ids ?? [] })}</dd>
          <dt>Comments</dt>
          <dd>
            {has_token ? (
              <>
                Posted with the access token.{' '}
                <Button look="quiet" size="sm" onClick={() => void removeToken()}>
                  Remove token
                </Button>
              </>
            ) : (
              'None, because there is no access token.'
            )}
          </dd>
        </dl>
      </Card>
    </Section>
  )
}

interface SecretProps {
  connection: GitConnection
  secret: string | undefined
  onRotated: (secret: string) => void
}

function Secret({ connection, secret, onRotated }: SecretProps) {
  const [rotating, setRotating] = useState(false)
  return (
    <Section title="Secret" hint="The git host signs its requests with it. Shown once.">
      {secret && <Copyable text={secret} label="new secret" />}
      <Button icon={KeyRound} onClick={() => setRotating(true)}>
        Rotate secret
      </Button>
      <Confirm
        open={rotating}
        onClose={() => setRotating(false)}
        title="Rotate the secret?"
        action="Rotate secret"
        onConfirm={async () => onRotated((await api.rotateGitSecret({ connection_id: connection.id })).secret)}
      >
        <p>The old secret stops working at once. Requests are refused until the git host has the new one.</p>
      </Confirm>
    </Section>
  )
}

function Deliveries({ connection }: { connection: GitConnection }) {
  const deliveries = useQuery(gitDeliveriesQuery(connection.id))
  return (
    <Section title="Recent deliveries" hint="The last 200 requests with a valid signature.">
      <Loaded query={deliveries} rows={3}>
        {(list) =>
          list.length === 0 ? (
            <p className="text-ink-2">None yet. Most git hosts send one when the webhook is saved.</p>
          ) : (
            <Rows label="Recent deliveries">
              {list.map((delivery) => (
                <Delivery key={delivery.id} delivery={delivery} />
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Section>
  )
}

const Delivery = ({
  delivery: { event, outcome, repository, number, comment, received_at },
}: {
  delivery: GitDelivery
}) => (
  <li className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
    <Pill tone={outcomes[outcome].tone} className="min-w-20 justify-center">
      {outcomes[outcome].label}
    </Pill>
    <span className="min-w-0 flex-1 truncate">
      <bdi>{event || 'No event'}</bdi>{' '}
      {repository && (
        <span className="text-ink-3">
          <bdi>{number === null ? repository : `${repository}#${number}`}</bdi>
        </span>
      )}
    </span>
    {comment && (
      <span className={comment === 'failed' ? 'text-xs text-bad-ink' : 'text-xs text-ink-3'}>{comments[comment]}</span>
    )}
    <span className="shrink-0 text-xs text-ink-3">
      <Time at={received_at} />
    </span>
  </li>
)

function Danger({ connection }: { connection: GitConnection }) {
  const [confirming, setConfirming] = useState(false)
  const navigate = useNavigate()
  const { id, name } = connection
  return (
    <Section title="Delete" hint="Removes its pull requests and branches from all issues.">
      <Button look="danger" onClick={() => setConfirming(true)}>
        Delete connection
      </Button>
      <Confirm
        open={confirming}
        onClose={() => setConfirming(false)}
        title={`Delete ${name}?`}
        action="Delete permanently"
        typed={name}
        onConfirm={async () => {
          // Leave first: this page polls the connection and would show an error after the deletion.
          await navigate({ to: '/settings/git' })
          try {
            await api.deleteGitConnection({ connection_id: id })
            queries.removeQueries({ queryKey: ['git-connections', id] })
            await refreshConnections()
            showToast(`${name} deleted`)
          } catch (error) {
            showToast(`${name} was not deleted. ${messageOf(error)}`, { tone: 'bad' })
          }
        }}
      >
        <p>Statuses of issues stay as they are. Delete the webhook at the git host too.</p>
      </Confirm>
    </Section>
  )
}
