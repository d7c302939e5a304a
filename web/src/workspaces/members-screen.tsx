import { Page } from '../ui/layout.tsx'

export const MembersScreen = () => <Page title="Members">{null}</Page>
