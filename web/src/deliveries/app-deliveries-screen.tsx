import { Page } from '../ui/layout.tsx'

export const AppDeliveriesScreen = () => <Page title="Deliveries">{null}</Page>
export const AppDeliveryScreen = () => <Page title="Delivery">{null}</Page>
