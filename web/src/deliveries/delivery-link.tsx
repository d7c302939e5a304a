import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Endpoint } from '../data/endpoints.ts'

/** Links to a delivery of an app or a webhook. */
export const DeliveryLink = ({
  endpoint,
  deliveryId,
  children,
  ...rest
}: {
  endpoint: Pick<Endpoint, 'kind' | 'id'>
  deliveryId: string
  children: ReactNode
  className?: string
  'data-row'?: string
}) =>
  endpoint.kind === 'agent-apps' ? (
    <Link {...rest} to="/settings/agent-apps/$appId/deliveries/$deliveryId" params={{ appId: endpoint.id, deliveryId }}>
      {children}
    </Link>
  ) : (
    <Link
      {...rest}
      to="/settings/webhooks/$webhookId/deliveries/$deliveryId"
      params={{ webhookId: endpoint.id, deliveryId }}
    >
      {children}
    </Link>
  )
