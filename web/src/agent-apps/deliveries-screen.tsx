import type { AgentApp } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { ShieldAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { appQuery, useCanManageApp } from '../data/agent-apps.ts'
import { appEndpoint } from '../data/endpoints.ts'
import { DeliveryDetail } from '../deliveries/delivery-detail.tsx'
import { DeliveryFilters, DeliveryList } from '../deliveries/delivery-list.tsx'
import { Crumbs } from '../ui/crumbs.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Empty } from '../ui/states.tsx'
import { AccessHint } from './access-hint.tsx'
import { listenUrl } from './manifest.ts'

const above = (appId: string, name = 'App') => [
  <Link key="apps" to="/settings/agent-apps">
    Agent apps
  </Link>,
  <Link key="app" to="/settings/agent-apps/$appId" params={{ appId }}>
    <bdi>{name}</bdi>
  </Link>,
]

export function AppDeliveriesScreen() {
  const { appId } = useParams({ from: '/person/inside/settings/agent-apps/$appId/deliveries' })
  const search = useSearch({ from: '/person/inside/settings/agent-apps/$appId/deliveries' })
  const app = useQuery(appQuery(appId))
  const endpoint = appEndpoint(appId, app.data?.webhook.url === listenUrl)
  return (
    <Page
      title={<Crumbs above={above(appId, app.data?.name)}>Deliveries</Crumbs>}
      below={<DeliveryFilters endpoint={endpoint} search={search} />}
    >
      <Loaded query={app}>
        {(data) => (
          <RestrictedToAppManagers app={data}>
            <DeliveryList endpoint={endpoint} search={search} />
          </RestrictedToAppManagers>
        )}
      </Loaded>
    </Page>
  )
}

/** For managers and the member who registered the app; others see who can open it. */
const RestrictedToAppManagers = ({ app, children }: { app: AgentApp; children: ReactNode }) =>
  useCanManageApp(app) ? (
    children
  ) : (
    <Empty icon={ShieldAlert} title="You cannot see these deliveries">
      <AccessHint app={app} />
    </Empty>
  )

export function AppDeliveryScreen() {
  const { appId, deliveryId } = useParams({
    from: '/person/inside/settings/agent-apps/$appId/deliveries/$deliveryId',
  })
  const app = useQuery(appQuery(appId))
  const places = [
    ...above(appId, app.data?.name),
    <Link key="deliveries" to="/settings/agent-apps/$appId/deliveries" params={{ appId }}>
      Deliveries
    </Link>,
  ]
  return (
    <Page title={<Crumbs above={places}>Delivery</Crumbs>} width="reading">
      <Loaded query={app}>
        {(data) => (
          <RestrictedToAppManagers app={data}>
            <DeliveryDetail
              endpoint={appEndpoint(appId, data.webhook.url === listenUrl)}
              url={data.webhook.url}
              deliveryId={deliveryId}
            />
          </RestrictedToAppManagers>
        )}
      </Loaded>
    </Page>
  )
}
