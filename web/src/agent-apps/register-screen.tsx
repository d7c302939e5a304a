import type { AgentApp } from '@baton/protocol'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { refreshApps } from '../data/agent-apps.ts'
import { api } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { Button } from '../ui/button.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Page } from '../ui/layout.tsx'
import { blank, example, written } from './manifest.ts'
import { ManifestEditor } from './manifest-editor.tsx'
import { type EnvFile, SecretsOnce } from './secrets-once.tsx'

interface Registered {
  app: AgentApp
  settings: EnvFile
}

export function RegisterScreen() {
  const { user } = useMe()
  const [text, setText] = useState(() => written(blank(user.display_name)))
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
          {registered ? registered.app.name : 'Register an app'}
        </Crumbs>
      }
    >
      <div className="mx-auto max-w-5xl space-y-6 px-4 py-6 sm:px-6">
        {registered ? (
          <Done registered={registered} onLeave={() => flushSync(() => setRegistered(null))} />
        ) : (
          <>
            <p className="max-w-2xl text-ink-2">
              An agent app is a program of yours that works here as a teammate of its own. Describe it in the form or as
              JSON; both are the same manifest. After registering, an owner or admin installs it for the teams they
              choose.
            </p>
            <ManifestEditor
              text={text}
              onChange={setText}
              action="Register the app"
              onSubmit={async (manifest) => {
                // The server judges it, field by field.
                const made = await api.createAgentApp(manifest as Parameters<typeof api.createAgentApp>[0])
                const { app, client_id, client_secret, webhook_secret } = made
                const ids = { APP_ID: app.id, CLIENT_ID: client_id }
                setRegistered({
                  app,
                  settings: { ...ids, CLIENT_SECRET: client_secret, WEBHOOK_SECRET: webhook_secret },
                })
                void refreshApps()
              }}
            >
              <Button onClick={() => setText(written(example(user.display_name)))}>Fill in an example</Button>
            </ManifestEditor>
          </>
        )}
      </div>
    </Page>
  )
}

function Done({ registered: { app, settings }, onLeave }: { registered: Registered; onLeave: () => void }) {
  const navigate = useNavigate()
  return (
    <SecretsOnce title={`${app.name} is registered`} settings={settings}>
      <Button
        look="primary"
        autoFocus
        onClick={() => {
          // Whoever says so need not be asked again.
          onLeave()
          void navigate({ to: '/settings/agent-apps/$appId', params: { appId: app.id }, hash: 'install' })
        }}
      >
        I have saved them, go on to install it
      </Button>
    </SecretsOnce>
  )
}
