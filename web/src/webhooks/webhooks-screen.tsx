import { Page } from '../ui/layout.tsx'

export const WebhooksScreen = () => <Page title="Webhooks">{null}</Page>
