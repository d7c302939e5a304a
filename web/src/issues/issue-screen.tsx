import { Page } from '../ui/layout.tsx'

export const IssueScreen = () => <Page title="Issue">{null}</Page>
