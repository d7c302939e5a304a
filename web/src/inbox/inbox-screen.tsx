import { Page } from '../ui/layout.tsx'

export const InboxScreen = () => <Page title="Inbox">{null}</Page>
