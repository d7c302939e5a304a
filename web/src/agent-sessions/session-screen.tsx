import { Page } from '../ui/layout.tsx'

export const SessionScreen = () => <Page title="Agent session">{null}</Page>
