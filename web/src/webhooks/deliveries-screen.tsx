import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { webhookEndpoint } from '../data/endpoints.ts'
import { useMe } from '../data/me.ts'
import { webhookQuery, whyManagers } from '../data/webhooks.ts'
import { DeliveryDetail } from '../deliveries/delivery-detail.tsx'
import { DeliveryFilters, DeliveryList } from '../deliveries/delivery-list.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'

const above = (webhookId: string, label = 'Webhook') => [
  <Link key="webhooks" to="/settings/webhooks">
    Webhooks
  </Link>,
  <Link key="webhook" to="/settings/webhooks/$webhookId" params={{ webhookId }}>
    {label}
  </Link>,
]

export function WebhookDeliveriesScreen() {
  const { webhookId } = useParams({ from: '/person/inside/settings/webhooks/$webhookId/deliveries' })
  const search = useSearch({ from: '/person/inside/settings/webhooks/$webhookId/deliveries' })
  const { isManager } = useMe()
  const webhook = useQuery({ ...webhookQuery(webhookId), enabled: isManager })
  if (!isManager) return <ManagersOnly title="Deliveries" reason={whyManagers} />
  const endpoint = webhookEndpoint(webhookId)
  return (
    <Page
      title={<Crumbs above={above(webhookId, webhook.data?.label)}>Deliveries</Crumbs>}
      below={<DeliveryFilters endpoint={endpoint} search={search} />}
    >
      <DeliveryList endpoint={endpoint} search={search} />
    </Page>
  )
}

export function WebhookDeliveryScreen() {
  const { webhookId, deliveryId } = useParams({
    from: '/person/inside/settings/webhooks/$webhookId/deliveries/$deliveryId',
  })
  const { isManager } = useMe()
  const webhook = useQuery({ ...webhookQuery(webhookId), enabled: isManager })
  if (!isManager) return <ManagersOnly title="Delivery" reason={whyManagers} />
  const places = [
    ...above(webhookId, webhook.data?.label),
    <Link key="deliveries" to="/settings/webhooks/$webhookId/deliveries" params={{ webhookId }}>
      Deliveries
    </Link>,
  ]
  return (
    <Page title={<Crumbs above={places}>Delivery</Crumbs>} width="reading">
      <Loaded query={webhook}>
        {({ url }) => <DeliveryDetail endpoint={webhookEndpoint(webhookId)} url={url} deliveryId={deliveryId} />}
      </Loaded>
    </Page>
  )
}
