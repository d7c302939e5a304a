import type { AgentApp } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { Radio } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { appQuery, refreshApps, useCanManageApp, useInstallation, useInstalledElsewhere } from '../data/agent-apps.ts'
import { api, queries } from '../data/api.ts'
import { appEndpoint } from '../data/endpoints.ts'
import { useMe } from '../data/me.ts'
import { EndpointPanel } from '../deliveries/endpoint-panel.tsx'
import { EndpointPill } from '../deliveries/words.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { Block } from '../ui/copy.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Page, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill } from '../ui/pill.tsx'
import { messageOf } from '../ui/problem.ts'
import { Notice } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { say } from '../ui/toast.tsx'
import { ForCaretakers } from './caretakers.tsx'
import { Installed, NotInstalled, WhatEnds } from './installation.tsx'
import { listenUrl, manifestOf, written } from './manifest.ts'
import { ManifestEditor } from './manifest-editor.tsx'
import { Secrets } from './secrets.tsx'
import { SetupChecklist } from './setup-checklist.tsx'

export function AgentAppScreen() {
  const { appId } = useParams({ from: '/person/inside/settings/agent-apps/$appId' })
  const app = useQuery(appQuery(appId))
  return (
    <Page
      title={
        <Crumbs
          above={[
            <Link key="apps" to="/settings/agent-apps">
              Agent apps
            </Link>,
          ]}
        >
          {app.data?.name ?? 'App'}
        </Crumbs>
      }
    >
      <Loaded query={app}>{(data) => <AppPage key={data.id} app={data} />}</Loaded>
    </Page>
  )
}

function AppPage({ app }: { app: AgentApp }) {
  const { isManager } = useMe()
  const mine = useCanManageApp(app)
  const installation = useInstallation(app.id)
  useInstalledElsewhere(app.id, installation === null)
  const install = useRef<HTMLDivElement>(null)
  const { hash } = useLocation()
  const known = installation !== undefined
  // After registering, the next thing to do.
  useEffect(() => {
    if (hash === 'install' && known) install.current?.scrollIntoView({ block: 'start' })
  }, [hash, known])
  return (
    <div className="mx-auto max-w-5xl space-y-8 px-4 py-6 sm:px-6">
      <Overview app={app} />
      <SetupChecklist app={app} />
      <div ref={install} className="scroll-mt-4">
        {installation === null && <NotInstalled app={app} />}
        {installation && <Installed app={app} installation={installation} />}
      </div>
      {mine ? (
        <>
          <AppWebhook app={app} />
          <Secrets app={app} />
        </>
      ) : (
        <Notice tone="info" title="Secrets, webhook and deliveries">
          <ForCaretakers app={app} />
        </Notice>
      )}
      <ManifestSection app={app} />
      {isManager && <Danger app={app} />}
    </div>
  )
}

function Overview({ app }: { app: AgentApp }) {
  const { developer, description } = app
  return (
    <div className="flex items-start gap-4">
      <Avatar name={app.name} agent size={48} src={`/api/v1/agent-apps/${app.id}/icon`} />
      <div className="min-w-0 flex-1 space-y-1">
        <div className="flex flex-wrap items-center gap-2">
          <h2 className="text-xl font-semibold">{app.name}</h2>
          <EndpointPill state={app.webhook.state} />
          {app.listener && <ListenerPill listener={app.listener} />}
        </div>
        <p className="text-ink-2">
          by{' '}
          {developer.url ? (
            <a href={developer.url} target="_blank" rel="noreferrer noopener" className="underline hover:text-ink">
              {developer.name}
            </a>
          ) : (
            developer.name
          )}
          {developer.url && <span className="text-ink-3"> ({new URL(developer.url).host})</span>}
        </p>
        {description && <p className="max-w-2xl">{description}</p>}
      </div>
    </div>
  )
}

const ListenerPill = ({ listener }: { listener: NonNullable<AgentApp['listener']> }) => (
  <Pill tone="agent">
    <Radio size={12} aria-hidden />
    {listener.user.name} listens since <Time at={listener.since} />
  </Pill>
)

function AppWebhook({ app }: { app: AgentApp }) {
  const { url, state } = app.webhook
  return (
    <Section
      title="Webhook"
      hint={
        url === '' ? (
          'It has none: nobody can hand it work or mention it.'
        ) : url === listenUrl ? (
          <>
            Goes to whoever runs <code className="font-mono text-xs">npx baton listen</code>, not to an address.
          </>
        ) : (
          <span className="font-mono text-xs wrap-anywhere">{url}</span>
        )
      }
    >
      {app.listener && url !== listenUrl && (
        <Notice tone="warn" title={`${app.listener.user.name} listens in place of the URL`}>
          Its receiver gets nothing until they stop. What a listener answers does not count as success or failure.
        </Notice>
      )}
      {url !== '' && <EndpointPanel endpoint={appEndpoint(app.id)} state={state} url={url} />}
    </Section>
  )
}

function ManifestSection({ app }: { app: AgentApp }) {
  const { isManager } = useMe()
  const [text, setText] = useState<string | null>(null)
  const now = written(manifestOf(app))
  if (text === null) {
    return (
      <Section
        title="Manifest"
        hint={isManager ? undefined : 'Owners and admins change it.'}
        actions={isManager && <Button onClick={() => setText(now)}>Edit manifest</Button>}
      >
        <Block label="manifest" text={now} />
      </Section>
    )
  }
  return (
    <Section
      title="Manifest"
      hint={`Saving replaces the whole of it. A scope that is taken out is gone at once; one that is added needs a new consent.${
        app.webhook.state === 'failing' ? ' With "enabled": true it also starts the failing webhook again.' : ''
      }`}
    >
      <ManifestEditor
        text={text}
        onChange={setText}
        action="Save manifest"
        onSubmit={async (manifest) => {
          // The server judges it, field by field.
          await api.replaceAgentApp({ app_id: app.id, ...(manifest as Parameters<typeof api.createAgentApp>[0]) })
          await refreshApps()
          setText(null)
          say('The manifest is saved.')
        }}
      >
        <Button onClick={() => setText(null)}>Cancel</Button>
      </ManifestEditor>
    </Section>
  )
}

function Danger({ app }: { app: AgentApp }) {
  const [asked, setAsked] = useState(false)
  const navigate = useNavigate()
  return (
    <Section title="Delete" hint="Uninstalls it, then removes its registration, secrets and deliveries for good.">
      <Button look="danger" onClick={() => setAsked(true)}>
        Delete {app.name}
      </Button>
      <Confirm
        open={asked}
        onClose={() => setAsked(false)}
        title={`Delete ${app.name}?`}
        action="Delete for good"
        typed={app.name}
        onConfirm={async () => {
          // This page asks for the app again and again, and would be told that there is none.
          await navigate({ to: '/settings/agent-apps' })
          try {
            await api.deleteAgentApp({ app_id: app.id })
            await refreshApps()
            queries.removeQueries({ queryKey: ['agent-apps', app.id] })
            say(`${app.name} is deleted.`)
          } catch (error) {
            say(`${app.name} was not deleted. ${messageOf(error)}`, { tone: 'bad' })
          }
        }}
      >
        <WhatEnds />
        <p>Its client id and secrets never work again. What it wrote stays.</p>
      </Confirm>
    </Section>
  )
}
