import { Page } from '../ui/layout.tsx'

export const WebhookDeliveriesScreen = () => <Page title="Deliveries">{null}</Page>
export const WebhookDeliveryScreen = () => <Page title="Delivery">{null}</Page>
