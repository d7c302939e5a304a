import { Page } from '../ui/layout.tsx'

export const ProjectScreen = () => <Page title="Project">{null}</Page>
