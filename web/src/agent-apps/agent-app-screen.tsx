import { Page } from '../ui/layout.tsx'

export const AgentAppScreen = () => <Page title="Agent app">{null}</Page>
