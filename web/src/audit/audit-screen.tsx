import { Page } from '../ui/layout.tsx'

export const AuditScreen = () => <Page title="Audit log">{null}</Page>
