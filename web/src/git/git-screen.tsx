import type { GitConnection } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { GitBranch, Plus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { connectionsQuery, refreshConnections, whyManagers } from '../data/git.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { DocsLink } from '../ui/docs-link.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Pill } from '../ui/pill.tsx'
import { rowItem, useRows } from '../ui/rows.ts'
import { useCommands } from '../ui/shortcuts.ts'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { Automation } from './automation.tsx'
import { ConnectionForm, emptyConnection } from './connection-form.tsx'
import { kindOf } from './labels.ts'
import { SetupSteps } from './setup-steps.tsx'

export function GitScreen() {
  const { isManager } = useMe()
  return isManager ? <Git /> : <ManagersOnly title="Git" reason={whyManagers} />
}

function Git() {
  const connections = useQuery({ ...connectionsQuery, refetchInterval: 15_000 })
  const [creating, setCreating] = useState(false)
  const create = () => setCreating(true)
  useCommands([{ id: 'git.create', title: 'Create git connection', section: 'Create', keys: 'n g', run: create }])
  const button = (
    <Button look="primary" icon={Plus} command="git.create" onClick={create}>
      Connect repositories
    </Button>
  )
  return (
    <Page title="Git" actions={button}>
      <Loaded query={connections}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={GitBranch} title="No repositories connected" action={button}>
              Connect GitHub, GitLab, Gitea or Forgejo. Branches and pull requests that name an issue are shown on it,
              and can move it to another status. <DocsLink page="git">How to connect them</DocsLink>
            </Empty>
          ) : (
            <>
              <List connections={list} />
              <div className="mx-auto max-w-3xl px-4 py-6 sm:px-6">
                <Automation />
              </div>
            </>
          )
        }
      </Loaded>
      {creating && <CreateConnection onClose={() => setCreating(false)} />}
    </Page>
  )
}

function List({ connections }: { connections: GitConnection[] }) {
  const { list } = useRows('git-connection')
  return (
    <ul {...list} aria-label="Git connections" className="divide-y border-b">
      {connections.map((connection) => (
        <li key={connection.id} className={rowItem}>
          <Link
            data-row={connection.id}
            to="/settings/git/$connectionId"
            params={{ connectionId: connection.id }}
            className="flex h-9 items-center gap-3 px-4 outline-hidden"
          >
            <span className="min-w-0 flex-1 truncate">
              <span className="font-medium">
                <bdi>{connection.name}</bdi>
              </span>{' '}
              <span className="text-ink-3 max-sm:hidden">
                {kindOf(connection.kind).label} · {connection.repositories.join(', ')}
              </span>
            </span>
            <span className="shrink-0 text-ink-2">
              <Received connection={connection} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

export const Received = ({ connection: { received_at } }: { connection: GitConnection }) =>
  received_at ? (
    <span className="text-xs">
      Received <Time at={received_at} />
    </span>
  ) : (
    <Pill tone="warn">Not set up</Pill>
  )

function CreateConnection({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [created, setCreated] = useState<(GitConnection & { secret: string }) | null>(null)
  if (created) {
    const open = () => void navigate({ to: '/settings/git/$connectionId', params: { connectionId: created.id } })
    return (
      <Dialog
        open
        onClose={open}
        title={`${created.name} created`}
        description="Add a webhook at the git host with these values. The secret is shown only now; you can rotate it later."
        footer={
          <Button look="primary" onClick={open} autoFocus>
            Open connection
          </Button>
        }
      >
        <SetupSteps connection={created} secret={created.secret} />
      </Dialog>
    )
  }
  return (
    <Dialog open onClose={onClose} title="Connect repositories">
      <ConnectionForm
        initial={emptyConnection}
        action="Create connection"
        onSubmit={async ({ token, host, ...fields }) => {
          setCreated(await api.createGitConnection({ ...fields, ...(host && { host }), ...(token && { token }) }))
          void refreshConnections()
        }}
      >
        <Button onClick={onClose}>Cancel</Button>
      </ConnectionForm>
    </Dialog>
  )
}
