import { Page } from '../ui/layout.tsx'

export const WorkspaceScreen = () => <Page title="Workspace">{null}</Page>
