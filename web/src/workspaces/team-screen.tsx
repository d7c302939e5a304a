import { Page } from '../ui/layout.tsx'

export const TeamScreen = () => <Page title="Team">{null}</Page>
