import type { AgentApp, AppSetup } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleDashed } from 'lucide-react'
import type { ReactNode } from 'react'
import { setupQuery } from '../data/agent-apps.ts'
import { cliCommand } from '../data/cli.ts'
import { Time } from '../ui/time.tsx'
import { listenUrl } from './manifest.ts'

interface Step {
  title: string
  /** The title for A2A agents, if it differs. */
  a2aTitle?: string
  done: keyof AppSetup
  todo: (app: AgentApp) => ReactNode
  /** A2A agents get no tokens. */
  webhookOnly?: boolean
}

const steps: Step[] = [
  { title: 'Registered', done: 'registered_at', todo: () => null },
  {
    title: 'Installed',
    done: 'installed_at',
    todo: () => 'An owner or admin approves it and selects its teams. See “Install” below.',
  },
  {
    title: 'Fetched tokens',
    done: 'tokens_fetched_at',
    webhookOnly: true,
    todo: () =>
      'The app exchanges the code of its installation, or you copy them after installing it here. Without tokens it cannot answer.',
  },
  {
    title: 'First delivery answered with 2xx',
    done: 'first_delivered_at',
    todo: ({ webhook }) =>
      webhook.url === listenUrl ? (
        <>
          Run <code className="font-mono text-xs wrap-anywhere">{cliCommand('listen --forward-to URL')}</code> next to
          your program, then delegate an issue to the app.
        </>
      ) : webhook.url === '' ? (
        'The app has no webhook. Add a URL to the manifest.'
      ) : (
        'Delegate an issue to the app, or mention it in a comment. Test pings do not count.'
      ),
  },
  {
    title: 'First thought posted',
    a2aTitle: 'First activity posted',
    done: 'first_thought_at',
    todo: ({ a2a }) =>
      a2a
        ? 'Baton posts it when the agent accepts its first message.'
        : 'Within 10 seconds of the delivery, so people see it has started. The SDK does this automatically.',
  },
]

/** Setup steps of the app; updates while it is open. */
export function SetupChecklist({ app }: { app: AgentApp }) {
  const { data: setup } = useQuery(setupQuery(app.id))
  if (!setup) return null
  const shown = steps.filter(({ webhookOnly }) => !(webhookOnly && app.a2a))
  const count = shown.filter(({ done }) => setup[done] !== null).length
  return (
    <section aria-labelledby="setup" className="rounded-lg border bg-surface shadow-card">
      <h2 id="setup" className="flex items-baseline gap-2 border-b px-4 py-2 font-semibold">
        Setup
        <span className="tabular text-xs font-normal text-ink-3">
          {count} of {shown.length}
        </span>
      </h2>
      <ol aria-live="polite" className="grid grid-cols-1 gap-px sm:grid-cols-2">
        {shown.map(({ title, a2aTitle = title, done, todo }) => {
          const at = setup[done]
          return (
            <li key={done} className="flex gap-2.5 px-4 py-2.5">
              {at ? (
                <CircleCheck size={16} className="mt-0.5 shrink-0 text-ok" aria-label="Done:" />
              ) : (
                <CircleDashed size={16} className="mt-0.5 shrink-0 text-ink-3" aria-label="To do:" />
              )}
              <div className="min-w-0">
                <p className="font-medium">{app.a2a ? a2aTitle : title}</p>
                <p className="text-xs text-ink-2">{at ? <Time at={at} /> : todo(app)}</p>
              </div>
            </li>
          )
        })}
      </ol>
    </section>
  )
}
