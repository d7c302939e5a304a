import { Page } from '../ui/layout.tsx'

export const AgentAppsScreen = () => <Page title="Agent apps">{null}</Page>
