import { Page } from '../ui/layout.tsx'

export const TeamsScreen = () => <Page title="Teams">{null}</Page>
