import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Copyable } from '../ui/copy.tsx'
import { Notice } from '../ui/states.tsx'
import { LeaveGuard } from './leave-guard.tsx'

/** Variable names as used by the CLI, the SDK examples and `baton init`. */
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
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser must have started reading before the URL is revoked.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

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
  settings: EnvFile
  /** Button that continues, next to the download. */
  children: ReactNode
}

/** Shows secrets that the server returns only once. Leaving needs a confirmation. */
export function NewSecrets({ title, settings, children }: Props) {
  return (
    <section aria-label={title} className="space-y-4">
      <LeaveGuard />
      <Notice tone="warn" title={title}>
        Save the secrets now: they are shown only once.
      </Notice>
      <dl className="space-y-2">
        <Value label="Client ID" text={settings.CLIENT_ID} />
        {settings.CLIENT_SECRET && <Value label="Client secret" text={settings.CLIENT_SECRET} />}
        {settings.WEBHOOK_SECRET && <Value label="Webhook secret" text={settings.WEBHOOK_SECRET} />}
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
