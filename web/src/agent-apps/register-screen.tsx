import type { AgentApp } from '@baton/protocol'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { refreshApps } from '../data/agent-apps.ts'
import { api } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { isolated } from '../ui/isolated.ts'
import { Page } from '../ui/layout.tsx'
import { RegisterFromCard } from './a2a-register.tsx'
import { blankManifest, exampleManifest, manifestText } from './manifest.ts'
import { ManifestEditor } from './manifest-editor.tsx'
import { type EnvFile, NewSecrets } from './new-secrets.tsx'

interface Registered {
  app: AgentApp
  settings: EnvFile
}

export function RegisterScreen() {
  const { user, isManager } = useMe()
  const [way, setWay] = useState<Way>('manifest')
  const [text, setText] = useState(() => manifestText(blankManifest(user.display_name)))
  const [registered, setRegistered] = useState<Registered | null>(null)
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
          {registered ? registered.app.name : 'Register app'}
        </Crumbs>
      }
    >
      <div className="mx-auto max-w-5xl space-y-6 px-4 py-6 sm:px-6">
        {registered ? (
          <Done registered={registered} onLeave={() => flushSync(() => setRegistered(null))} />
        ) : way === 'card' ? (
          <>
            <WaySwitch way={way} onChange={setWay} />
            <p className="max-w-2xl text-ink-2">
              An agent that speaks A2A needs no program of yours: Baton sends it messages and shows its answers.
            </p>
            <RegisterFromCard />
          </>
        ) : (
          <>
            {isManager && <WaySwitch way={way} onChange={setWay} />}
            <p className="max-w-2xl text-ink-2">
              An agent app is your own program that works here as a teammate. Describe it in the form or as JSON; both
              edit the same manifest. After registration, an owner or admin installs it for the teams they select.
            </p>
            <ManifestEditor
              text={text}
              onChange={setText}
              action="Register app"
              onSubmit={async (manifest) => {
                // The server validates it and reports errors per field.
                const created = await api.createAgentApp(manifest as Parameters<typeof api.createAgentApp>[0])
                const { app, client_id, client_secret, webhook_secret } = created
                const ids = { APP_ID: app.id, CLIENT_ID: client_id }
                setRegistered({
                  app,
                  settings: { ...ids, CLIENT_SECRET: client_secret, WEBHOOK_SECRET: webhook_secret },
                })
                void refreshApps()
              }}
            >
              <Button onClick={() => setText(manifestText(exampleManifest(user.display_name)))}>Fill in example</Button>
            </ManifestEditor>
          </>
        )}
      </div>
    </Page>
  )
}

type Way = 'manifest' | 'card'

const WaySwitch = ({ way, onChange }: { way: Way; onChange: (way: Way) => void }) => (
  <fieldset className="inline-flex gap-px rounded border bg-sunken p-0.5">
    <legend className="sr-only">Register</legend>
    {(['manifest', 'card'] as const).map((one) => (
      <button
        key={one}
        type="button"
        aria-pressed={way === one}
        onClick={() => onChange(one)}
        className="rounded-sm px-3 py-1 text-ink-2 aria-pressed:bg-surface aria-pressed:font-medium aria-pressed:text-ink aria-pressed:shadow-card"
      >
        {one === 'manifest' ? 'From a manifest' : 'From an A2A card'}
      </button>
    ))}
  </fieldset>
)

function Done({ registered: { app, settings }, onLeave }: { registered: Registered; onLeave: () => void }) {
  const navigate = useNavigate()
  return (
    <NewSecrets title={`${isolated(app.name)} registered`} settings={settings}>
      <Button
        look="primary"
        autoFocus
        onClick={() => {
          // Removes the leave guard, because the user confirmed.
          onLeave()
          void navigate({ to: '/settings/agent-apps/$appId', params: { appId: app.id }, hash: 'install' })
        }}
      >
        I've saved them, continue
      </Button>
    </NewSecrets>
  )
}
