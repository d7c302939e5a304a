import { Page } from '../ui/layout.tsx'

export const RegisterScreen = () => <Page title="Register">{null}</Page>
