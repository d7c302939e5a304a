import { Page } from '../ui/layout.tsx'

export const AgentsScreen = () => <Page title="Agents">{null}</Page>
