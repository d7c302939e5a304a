import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Endpoint } from '../data/endpoints.ts'

type Of = Pick<Endpoint, 'kind' | 'id'>

/** The way to one delivery of an app or a webhook. */
export const DeliveryLink = ({
  of,
  deliveryId,
  children,
  ...rest
}: {
  of: Of
  deliveryId: string
  children: ReactNode
  className?: string
  'data-row'?: string
}) =>
  of.kind === 'agent-apps' ? (
    <Link {...rest} to="/settings/agent-apps/$appId/deliveries/$deliveryId" params={{ appId: of.id, deliveryId }}>
      {children}
    </Link>
  ) : (
    <Link {...rest} to="/settings/webhooks/$webhookId/deliveries/$deliveryId" params={{ webhookId: of.id, deliveryId }}>
      {children}
    </Link>
  )
