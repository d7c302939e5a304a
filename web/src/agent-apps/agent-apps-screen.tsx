import type { AgentApp, Installation } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Bot, Plus } from 'lucide-react'
import { appsQuery, installationsQuery } from '../data/agent-apps.ts'
import { EndpointPill } from '../deliveries/labels.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { useCoverageText } from '../workspaces/team-coverage.tsx'

export function AgentAppsScreen() {
  const apps = useQuery({ ...appsQuery, refetchInterval: 15_000 })
  const navigate = useNavigate()
  const register = () => void navigate({ to: '/settings/agent-apps/new' })
  useCommands([{ id: 'app.register', title: 'Register app', section: 'Create', keys: 'n r', run: register }])
  const button = (
    <Button look="primary" icon={Plus} command="app.register" onClick={register}>
      Register app
    </Button>
  )
  return (
    <Page title="Agent apps" actions={button}>
      <Loaded query={apps}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={Bot} title="No agent apps yet" action={button}>
              An agent app is your own program that works here as a teammate: it accepts delegated issues and answers
              mentions. Any member can register one; an owner or admin installs it.
            </Empty>
          ) : (
            <List apps={list} />
          )
        }
      </Loaded>
    </Page>
  )
}

function List({ apps }: { apps: AgentApp[] }) {
  const { data: installations } = useQuery(installationsQuery)
  const { list } = useRows('app')
  return (
    <ul {...list} aria-label="Agent apps" className="divide-y border-b">
      {apps.map((app) => (
        <li key={app.id} className={rowItem}>
          <Row app={app} installation={installations?.find(({ app_id }) => app_id === app.id)} />
        </li>
      ))}
    </ul>
  )
}

function Row({ app, installation }: { app: AgentApp; installation: Installation | undefined }) {
  const coverageText = useCoverageText()
  return (
    <Link
      data-row={app.id}
      to="/settings/agent-apps/$appId"
      params={{ appId: app.id }}
      className="flex h-9 items-center gap-3 px-4 outline-hidden"
    >
      <Avatar name={app.name} agent size={20} src={`/api/v1/agent-apps/${app.id}/icon`} />
      <span className="min-w-0 flex-1 truncate">
        <span className="font-medium">
          <bdi>{app.name}</bdi>
        </span>{' '}
        <span className="text-ink-3 max-sm:hidden">
          <bdi>{app.developer.name}</bdi>
        </span>
      </span>
      {app.listener && (
        <span className="truncate text-xs text-agent-ink max-md:hidden">
          <bdi>{app.listener.user.name}</bdi> is listening, started <Time at={app.listener.since} />
        </span>
      )}
      <span className="w-44 shrink-0 truncate text-ink-2 max-md:hidden">
        {installation ? coverageText(installation) : <span className="text-ink-3">Not installed</span>}
      </span>
      <span className="flex w-24 shrink-0 justify-end">
        <EndpointPill state={app.webhook.state} />
      </span>
    </Link>
  )
}
