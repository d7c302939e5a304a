import type { ConsentRequest } from '@baton/protocol'
import { scopeWords } from '@baton/protocol/scope-words'
import { Check, Webhook, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Card } from '../ui/layout.tsx'
import { listenUrl } from './manifest.ts'
import { eventTexts, missingScopes, neverAllowed, scopeNames } from './scopes.ts'

export const ActsAs = ({ name }: { name: string }) => (
  <p className="rounded-lg bg-agent-wash px-4 py-2.5 text-base text-agent-ink">
    It acts as{' '}
    <strong className="font-semibold">
      <bdi>{name}</bdi>
    </strong>
    , not as you.
  </p>
)

/** Access on the left, choices on the right, so that the choices are in sight without scrolling; one column if narrow. */
export const AccessAndChoices = ({ children }: { children: ReactNode }) => (
  <div className="grid grid-cols-1 items-start gap-5 md:grid-cols-[minmax(0,1fr)_18rem]">{children}</div>
)

/** What an app with these scopes can and cannot do, and which events it receives. */
export const AppAccess = ({ scopes, webhook }: Pick<ConsentRequest, 'scopes' | 'webhook'>) => (
  <Card className="divide-y">
    <Part title="It can">
      {scopeNames
        .filter((scope) => scopes.includes(scope))
        .map((scope) => (
          <Line key={scope} can>
            {scopeWords[scope].can}
          </Line>
        ))}
    </Part>
    <Part title="It cannot">
      {[...missingScopes(scopes).map((scope) => scopeWords[scope].cannot), ...neverAllowed].map((text) => (
        <Line key={text}>{text}</Line>
      ))}
    </Part>
    <Part title="It will receive">
      {webhook ? (
        <li className="flex gap-2.5">
          <Webhook size={15} aria-hidden className="mt-0.5 shrink-0 text-ink-3" />
          <span>
            {webhook.host === new URL(listenUrl).host ? (
              <>
                On the machine that runs <code className="font-mono text-xs">baton listen</code>, not at a URL:
              </>
            ) : (
              <>
                At <strong className="font-semibold">{webhook.host}</strong>:
              </>
            )}{' '}
            {[...webhook.always, ...webhook.resource_types].map((type) => eventTexts[type] ?? type).join('; ')}. Only
            for the teams you select.
          </span>
        </li>
      ) : (
        <Line>No events: it has no webhook</Line>
      )}
    </Part>
  </Card>
)

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="px-4 py-3">
    <h2 className="mb-1.5 text-xs font-semibold text-ink-2">{title}</h2>
    <ul className="space-y-1.5">{children}</ul>
  </section>
)

const Line = ({ can, children }: { can?: boolean; children: ReactNode }) => (
  <li className="flex gap-2.5">
    {can ? (
      <Check size={15} aria-hidden className="mt-0.5 shrink-0 text-ok" />
    ) : (
      <X size={15} aria-hidden className="mt-0.5 shrink-0 text-ink-3" />
    )}
    <span>{children}</span>
  </li>
)
