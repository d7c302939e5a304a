import { Page } from '../ui/layout.tsx'

export const NewWorkspaceScreen = () => <Page title="New workspace">{null}</Page>
