import type { A2aCard, A2aInterface } from '@baton/protocol'
import type { ReactNode } from 'react'

const securityNames: Record<A2aCard['security'][number]['type'], string> = {
  api_key: 'API key',
  http: 'HTTP authentication',
  oauth2: 'OAuth 2',
  open_id_connect: 'OpenID Connect',
  mtls: 'Client certificate',
  unknown: 'Unknown',
}

/** What the card of an A2A agent declares. `children` are further rows. */
export const CardDetails = ({ card, used, children }: { card: A2aCard; used: A2aInterface; children?: ReactNode }) => (
  <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1.5 [&_dt]:text-ink-3">
    <dt>Protocol</dt>
    <dd>
      A2A {used.protocol_version}, {used.binding}
      {card.streaming ? ', streaming' : ''}
    </dd>
    <dt>Interface</dt>
    <dd className="font-mono text-xs leading-5 wrap-anywhere">{used.url}</dd>
    {card.version !== '' && (
      <>
        <dt>Version</dt>
        <dd>
          <bdi>{card.version}</bdi>
        </dd>
      </>
    )}
    {card.provider && (
      <>
        <dt>Provider</dt>
        <dd>
          <bdi>{card.provider.name}</bdi>
        </dd>
      </>
    )}
    <dt>Accepts</dt>
    <dd>{card.security.map(({ type }) => securityNames[type]).join(', ') || 'Requests without a credential'}</dd>
    {card.skills.length > 0 && (
      <>
        <dt>Skills</dt>
        <dd>
          <ul>
            {card.skills.map(({ id, name, description }) => (
              <li key={id}>
                <bdi className="font-medium">{name}</bdi>
                {description && (
                  <>
                    {' '}
                    <bdi className="text-ink-2">{description}</bdi>
                  </>
                )}
              </li>
            ))}
          </ul>
        </dd>
      </>
    )}
    {children}
  </dl>
)
