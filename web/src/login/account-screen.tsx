import { Page } from '../ui/layout.tsx'

export const AccountScreen = () => <Page title="Your account">{null}</Page>
