import { Page } from '../ui/layout.tsx'

export const WebhookScreen = () => <Page title="Webhook">{null}</Page>
