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
import { EndpointPill } from '../deliveries/labels.tsx'
import { ReplaySection } from '../deliveries/replay-section.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { Block } from '../ui/copy.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { isolated } from '../ui/isolated.ts'
import { Page, Section } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill } from '../ui/pill.tsx'
import { messageOf } from '../ui/problem.ts'
import { Notice } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { showToast } from '../ui/toast.tsx'
import { A2aSection } from './a2a-section.tsx'
import { AccessHint } from './access-hint.tsx'
import { AppUsageSection } from './app-usage.tsx'
import { InstallDialog } from './install-dialog.tsx'
import { Installed, NotInstalled, UninstallEffects } from './installation.tsx'
import { listenUrl, manifestOf, manifestText } from './manifest.ts'
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
          <bdi>{app.data?.name ?? 'App'}</bdi>
        </Crumbs>
      }
    >
      <Loaded query={app}>{(data) => <AppPage key={data.id} app={data} />}</Loaded>
    </Page>
  )
}

function AppPage({ app }: { app: AgentApp }) {
  const { isManager } = useMe()
  const canManage = useCanManageApp(app)
  const installation = useInstallation(app.id)
  useInstalledElsewhere(app.id, installation === null)
  const install = useRef<HTMLDivElement>(null)
  const [installing, setInstalling] = useState(false)
  const { hash } = useLocation()
  const budget = useRef<HTMLDivElement>(null)
  const isLoaded = installation !== undefined
  // Installing is the next step after registering; a session at its limit links to the budget.
  useEffect(() => {
    const target = hash === 'install' ? install : hash === 'budget' ? budget : null
    if (isLoaded) target?.current?.scrollIntoView({ block: 'start' })
  }, [hash, isLoaded])
  return (
    <div className="mx-auto max-w-5xl space-y-8 px-4 py-6 sm:px-6">
      <Overview app={app} />
      <SetupChecklist app={app} />
      {app.a2a && <A2aSection app={app} a2a={app.a2a} />}
      <div ref={install} className="scroll-mt-4">
        {installation === null &&
          (app.a2a ? <UninstalledA2a /> : <NotInstalled app={app} onInstall={() => setInstalling(true)} />)}
        {installation && <Installed app={app} installation={installation} />}
      </div>
      <div ref={budget} className="scroll-mt-4">
        {/* An A2A agent has no token to report usage with. */}
        {!app.a2a && <AppUsageSection app={app} />}
      </div>
      {canManage ? (
        <>
          {/* Its banner says that deliveries failed, and here they did not. */}
          {!app.a2a?.new_origin && <AppWebhook app={app} />}
          {!app.a2a && <Secrets app={app} />}
        </>
      ) : (
        <Notice tone="info" title={app.a2a ? 'Deliveries' : 'Secrets, webhook and deliveries'}>
          <AccessHint app={app} />
        </Notice>
      )}
      {!app.a2a && <ManifestSection app={app} />}
      {isManager && <Danger app={app} />}
      {/* Not inside NotInstalled: it shows the tokens after the app is installed. */}
      {installing && <InstallDialog app={app} onClose={() => setInstalling(false)} />}
    </div>
  )
}

const UninstalledA2a = () => (
  <Section
    title="Installation"
    hint="Uninstalled: it cannot accept work. To use the agent again, register its card again."
  >
    {null}
  </Section>
)

function Overview({ app }: { app: AgentApp }) {
  const { developer, description } = app
  return (
    <div className="flex items-start gap-4">
      <Avatar name={app.name} agent size={48} src={`/api/v1/agent-apps/${app.id}/icon`} />
      <div className="min-w-0 flex-1 space-y-1">
        <div className="flex flex-wrap items-center gap-2">
          <h2 className="text-xl font-semibold">
            <bdi>{app.name}</bdi>
          </h2>
          <EndpointPill state={app.webhook.state} />
          {app.listener && <ListenerPill listener={app.listener} />}
        </div>
        <p className="text-ink-2">
          by{' '}
          {developer.url ? (
            <a href={developer.url} target="_blank" rel="noreferrer noopener" className="underline hover:text-ink">
              <bdi>{developer.name}</bdi>
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
    <bdi>{listener.user.name}</bdi> is listening, started <Time at={listener.since} />
  </Pill>
)

function AppWebhook({ app }: { app: AgentApp }) {
  const { url, state } = app.webhook
  return (
    <Section
      title={app.a2a ? 'Deliveries' : 'Webhook'}
      hint={
        app.a2a ? (
          'Messages to the agent. A test reads its card and sends no message.'
        ) : url === '' ? (
          'None: the app cannot be delegated to or mentioned.'
        ) : url === listenUrl ? (
          <>
            Delivered to the machine that runs <code className="font-mono text-xs">baton listen</code>, not to a URL.
          </>
        ) : (
          <span className="font-mono text-xs wrap-anywhere">{url}</span>
        )
      }
    >
      {app.listener && url !== listenUrl && (
        <Notice tone="warn" title={`${isolated(app.listener.user.name)} receives the deliveries instead of the URL`}>
          The URL receives nothing until they stop listening. A listener's responses do not count as successes or
          failures.
        </Notice>
      )}
      {url !== '' && (
        <>
          <EndpointPanel
            endpoint={appEndpoint(app.id, url === listenUrl)}
            state={state}
            url={url}
            types={
              app.a2a
                ? []
                : ['AgentSessionEvent', 'PermissionChange', 'OAuthApp', ...app.webhook.resource_types, 'Ping']
            }
          />
          <ReplaySection endpoint={appEndpoint(app.id, url === listenUrl)} state={state} />
        </>
      )}
    </Section>
  )
}

function ManifestSection({ app }: { app: AgentApp }) {
  const { isManager } = useMe()
  const [text, setText] = useState<string | null>(null)
  const current = manifestText(manifestOf(app))
  if (text === null) {
    return (
      <Section
        title="Manifest"
        hint={isManager ? undefined : 'Only owners and admins can edit it.'}
        actions={isManager && <Button onClick={() => setText(current)}>Edit manifest</Button>}
      >
        <Block label="manifest" text={current} />
      </Section>
    )
  }
  return (
    <Section
      title="Manifest"
      hint={`Saving replaces the whole manifest. A removed scope is revoked at once; an added scope needs new consent.${
        app.webhook.state === 'failing' ? ' "enabled": true also enables the failing webhook again.' : ''
      }`}
    >
      <ManifestEditor
        text={text}
        onChange={setText}
        action="Save manifest"
        onSubmit={async (manifest) => {
          // The server validates it and reports errors per field.
          await api.replaceAgentApp({ app_id: app.id, ...(manifest as Parameters<typeof api.createAgentApp>[0]) })
          await refreshApps()
          setText(null)
          showToast('Manifest saved')
        }}
      >
        <Button onClick={() => setText(null)}>Cancel</Button>
      </ManifestEditor>
    </Section>
  )
}

function Danger({ app }: { app: AgentApp }) {
  const [confirming, setConfirming] = useState(false)
  const navigate = useNavigate()
  return (
    <Section title="Delete" hint="Uninstalls the app and permanently deletes its registration, secrets and deliveries.">
      <Button look="danger" onClick={() => setConfirming(true)}>
        Delete <bdi>{app.name}</bdi>
      </Button>
      <Confirm
        open={confirming}
        onClose={() => setConfirming(false)}
        title={`Delete ${isolated(app.name)}?`}
        action="Delete permanently"
        typed={app.name}
        onConfirm={async () => {
          // Leave first: this page polls the app and would show an error after the deletion.
          await navigate({ to: '/settings/agent-apps' })
          try {
            await api.deleteAgentApp({ app_id: app.id })
            await refreshApps()
            queries.removeQueries({ queryKey: ['agent-apps', app.id] })
            showToast(`${isolated(app.name)} deleted`)
          } catch (error) {
            showToast(`${isolated(app.name)} was not deleted. ${messageOf(error)}`, { tone: 'bad' })
          }
        }}
      >
        <UninstallEffects app={app} />
        <p>{!app.a2a && 'Its client ID and secrets stop working. '}Its comments and issues stay.</p>
      </Confirm>
    </Section>
  )
}
