import { Page } from '../ui/layout.tsx'

export const ConsentScreen = () => <Page title="Consent">{null}</Page>
