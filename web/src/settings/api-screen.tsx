import { Page } from '../ui/layout.tsx'

export const ApiScreen = () => <Page title="API">{null}</Page>
