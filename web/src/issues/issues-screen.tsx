import { Page } from '../ui/layout.tsx'

export const IssuesScreen = () => <Page title="Issues">{null}</Page>
