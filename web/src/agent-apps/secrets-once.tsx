import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Notice } from '../ui/states.tsx'
import { LeaveGuard } from './leave-guard.tsx'

/** The names that the command line, the SDK's examples and `baton init` use. */
export interface EnvFile {
  APP_ID: string
  CLIENT_ID: string
  CLIENT_SECRET?: string
  WEBHOOK_SECRET?: string
}

const envText = (settings: EnvFile) =>
  Object.entries({ BATON_URL: location.origin, ...settings })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

function download(name: string, text: string) {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // Not before the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

const Shown = ({ label, text }: { label: string; text: string }) => (
  <div className="grid grid-cols-1 items-center gap-x-4 gap-y-1 sm:grid-cols-[8rem_minmax(0,1fr)]">
    <dt className="font-medium">{label}</dt>
    <dd>
      <Copyable text={text} label={label.toLowerCase()} />
    </dd>
  </div>
)

interface Props {
  title: string
  settings: EnvFile
  /** Beside the download: the way on. */
  children: ReactNode
}

/** Secrets that the server tells this once. Leaving asks first. */
export function SecretsOnce({ title, settings, children }: Props) {
  return (
    <section aria-label={title} className="space-y-4">
      <LeaveGuard />
      <Notice tone="warn" title={title}>
        Save this now: secrets are shown this once, and nobody can look them up later. A lost one is replaced by a new
        one.
      </Notice>
      <dl className="space-y-2">
        <Shown label="Client id" text={settings.CLIENT_ID} />
        {settings.CLIENT_SECRET && <Shown label="Client secret" text={settings.CLIENT_SECRET} />}
        {settings.WEBHOOK_SECRET && <Shown label="Webhook secret" text={settings.WEBHOOK_SECRET} />}
      </dl>
      <div className="flex flex-wrap gap-2">
        <Button icon={Download} onClick={() => download('.env', envText(settings))}>
          Download .env
        </Button>
        {children}
      </div>
    </section>
  )
}
