import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import { standardSecret } from '../deliveries/standard-secret.ts'
import { Button } from '../ui/button.tsx'
import { Copyable, CopyTextButton } from '../ui/copy.tsx'
import { download } from '../ui/download.ts'
import { Notice } from '../ui/states.tsx'
import { LeaveGuard } from './leave-guard.tsx'

/** Variable names as used by the CLI, the SDK and `baton init`. */
export interface EnvFile {
  APP_ID: string
  CLIENT_ID: string
  CLIENT_SECRET?: string
  WEBHOOK_SECRET?: string
  INSTALLATION_ID?: string
  WORKSPACE_ID?: string
  APP_USER_ID?: string
  ACCESS_TOKEN?: string
  REFRESH_TOKEN?: string
}

/** Those that are shown; the rest is only in the file. */
const labels = {
  CLIENT_ID: 'Client ID',
  CLIENT_SECRET: 'Client secret',
  WEBHOOK_SECRET: 'Webhook secret',
  INSTALLATION_ID: 'Installation ID',
  ACCESS_TOKEN: 'Access token',
  REFRESH_TOKEN: 'Refresh token',
} satisfies Partial<Record<keyof EnvFile, string>>

const envText = (settings: EnvFile) =>
  Object.entries({ BATON_URL: location.origin, ...settings })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

const Value = ({ label, text }: { label: string; text: string }) => (
  <div className="grid grid-cols-1 items-center gap-x-4 gap-y-1 sm:grid-cols-[8rem_minmax(0,1fr)]">
    <dt className="font-medium">{label}</dt>
    <dd>
      <Copyable text={text} label={label.toLowerCase()} />
    </dd>
  </div>
)

interface Props {
  title: string
  /** What they are called, in lower case. */
  noun?: 'secrets' | 'tokens'
  settings: EnvFile
  /** Button that continues, next to the download. */
  children: ReactNode
}

/** Shows secrets that the server returns only once. Leaving needs a confirmation. */
export function NewSecrets({ title, noun = 'secrets', settings, children }: Props) {
  const text = envText(settings)
  return (
    <section aria-label={title} className="space-y-4">
      <LeaveGuard noun={noun} />
      <Notice tone="warn" title={title}>
        Save the {noun} now: they are shown only once.
      </Notice>
      <dl className="space-y-2">
        {(Object.keys(labels) as (keyof typeof labels)[]).map((name) => {
          const value = settings[name]
          return value && <Value key={name} label={labels[name]} text={value} />
        })}
        {settings.WEBHOOK_SECRET && <Value label="Standard form" text={standardSecret(settings.WEBHOOK_SECRET)} />}
      </dl>
      <div className="flex flex-wrap gap-2">
        <CopyTextButton text={text}>Copy as .env</CopyTextButton>
        <Button icon={Download} onClick={() => download('.env', new Blob([text], { type: 'text/plain' }))}>
          Download .env
        </Button>
        {children}
      </div>
    </section>
  )
}
