import { Page } from '../ui/layout.tsx'

export const ProjectsScreen = () => <Page title="Projects">{null}</Page>
