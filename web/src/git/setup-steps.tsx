import type { GitConnection, GitKind } from '@baton/protocol'
import type { ReactNode } from 'react'
import { Copyable } from '../ui/copy.tsx'
import { hookUrl } from './labels.ts'

interface Guide {
  open: ReactNode
  url: string
  secret: string
  format: ReactNode
  events: string
}

const menu = (text: string) => <span className="font-medium">{text}</span>

const gitea: Guide = {
  open: <>In the repository, open {menu('Settings → Webhooks → Add webhook')} and choose Gitea or Forgejo.</>,
  url: 'Target URL',
  secret: 'Secret',
  format: (
    <>
      Method {menu('POST')}, content type {menu('application/json')}.
    </>
  ),
  events:
    'Custom events: Push, Delete, Pull request, Pull request reviewed, Review requested, Synchronized, Commit status',
}

const guides: Record<GitKind, Guide> = {
  github: {
    open: <>In the repository or organization, open {menu('Settings → Webhooks → Add webhook')}.</>,
    url: 'Payload URL',
    secret: 'Secret',
    format: <>Content type {menu('application/json')}.</>,
    events: 'Individual events: Pull requests, Pull request reviews, Pushes, Check runs, Statuses',
  },
  gitlab: {
    open: <>In the project or group, open {menu('Settings → Webhooks → Add new webhook')}.</>,
    url: 'URL',
    secret: 'Signing token (in older versions: Secret token)',
    format: <>Leave SSL verification enabled.</>,
    events: 'Triggers: Push events, Merge request events, Pipeline events',
  },
  gitea,
  forgejo: gitea,
}

/** How to add the webhook at the git host. `secret` is known only right after it was created. */
export function SetupSteps({ connection, secret }: { connection: GitConnection; secret?: string | undefined }) {
  const guide = guides[connection.kind]
  return (
    <ol className="list-decimal space-y-2.5 pl-5 marker:text-ink-3">
      <li>{guide.open}</li>
      <li>
        <p className="mb-1">{guide.url}</p>
        <Copyable text={hookUrl(connection)} label="webhook URL" />
      </li>
      <li>{guide.format}</li>
      <li>
        <p className="mb-1">{guide.secret}</p>
        {secret ? (
          <Copyable text={secret} label="secret" />
        ) : (
          <p className="text-ink-2">The secret was shown once. Lost it? Rotate it below.</p>
        )}
      </li>
      <li>{guide.events}</li>
    </ol>
  )
}
