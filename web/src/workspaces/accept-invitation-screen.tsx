import { Page } from '../ui/layout.tsx'

export const AcceptInvitationScreen = () => <Page title="Invitation">{null}</Page>
